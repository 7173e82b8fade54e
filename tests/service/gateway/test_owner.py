"""The owner's page: a login, what was spent, by whom, and the audit log."""

import re

import pytest

from tests.service.gateway.conftest import PASSWORD


def log_in(gateway, password=PASSWORD, **headers):
    return gateway.client.post("/owner/login", data={"password": password}, headers=headers)


def test_nothing_is_told_without_a_login(gateway, ana):
    fit = ana.made()["fit"]
    page = gateway.client.get("/owner").text
    assert 'type="password"' in page
    assert fit[:8] not in page
    assert "patients" not in page


def test_the_page_shows_budgets_fits_and_the_audit_log(gateway, ana):
    fit = ana.made(epsilon=0.5, parameters={"n_trees": 7})["fit"]
    ana.ask(epsilon=1.75)
    assert log_in(gateway).status_code == 303
    page = gateway.client.get("/owner").text
    assert re.search(r"<b>2.5</b>\s*<span>epsilon left", page)
    assert fit[:8] in page
    assert "n_trees" in page
    assert "settled" in page
    assert "refused: own_budget" in page


def test_what_analysts_send_is_text_on_the_page(gateway):
    gateway.analyst().ask(key="<script>alert(1)</script>", method="<script>")
    log_in(gateway)
    assert "<script" not in gateway.client.get("/owner").text


def test_the_page_runs_no_script_and_goes_nowhere(gateway):
    answer = log_in(gateway)
    cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    policy = gateway.client.get("/owner").headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; style-src 'self';")
    assert "script-src" not in policy
    assert gateway.client.get("/owner/page.css").headers["Content-Type"].startswith("text/css")


def test_a_wrong_password_is_refused_and_trying_is_limited(gateway):
    assert [log_in(gateway, "x").status_code for _ in range(11)] == [403] * 10 + [429]


@pytest.mark.parametrize("form", [b"", b"x=1", b"password=a&password=b", b"password=%ff", b"\xff", b"&" * 60_000])
def test_a_form_without_the_password_is_a_wrong_one(gateway, form):
    told = {"Content-Type": "application/x-www-form-urlencoded"}
    assert gateway.client.post("/owner/login", content=form, headers=told).status_code == 403


def test_a_flood_of_logins_leaves_no_lines(gateway):
    for _ in range(15):
        log_in(gateway, "x")
    assert len(gateway.folder.audit_file.read_text().splitlines()) == 10


def test_a_logout_ends_the_session(gateway):
    log_in(gateway)
    assert "patients" in gateway.client.get("/owner").text
    gateway.client.post("/owner/logout")
    assert "patients" not in gateway.client.get("/owner").text


@pytest.mark.parametrize("path", ["/owner/login", "/owner/logout"])
def test_another_site_cannot_act_for_the_owner(gateway, path):
    answer = gateway.client.post(path, data={"password": PASSWORD}, headers={"Sec-Fetch-Site": "cross-site"})
    assert (answer.status_code, answer.json()["error"]) == (403, "origin")


def test_a_session_is_not_a_token_and_a_token_is_no_session(gateway, ana):
    log_in(gateway)
    assert gateway.client.get("/v1/budget").status_code == 401
    gateway.client.cookies.clear()
    assert "patients" not in ana.get("/owner").text
