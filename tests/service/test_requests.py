"""What every request meets, whatever the service: bounds, refusals, headers."""

import asyncio
import importlib
import pkgutil

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.testclient import TestClient

import privet.service
from privet.service.requests import Refusal, SecurityHeaders, address_of, error_answers, read_body, read_object


async def echo(request):
    return JSONResponse(await read_object(request, 100))


def fail(_):
    raise ValueError("age 44 of row 7")


def wait(_):
    raise Refusal(429, "rate_limited", "wait", 3)


@pytest.fixture
def client():
    routes = [Route("/echo", echo, methods=["POST"]), Route("/fail", fail), Route("/wait", wait)]
    app = Starlette(routes=routes, exception_handlers=error_answers())
    # Around the application: the answer to a fault is made outside of its middleware.
    headed = SecurityHeaders(app, policy="default-src 'self'")
    with TestClient(headed, raise_server_exceptions=False) as client:
        yield client


def test_an_object_comes_through(client):
    assert client.post("/echo", json={"a": 1}).json() == {"a": 1}


@pytest.mark.parametrize(
    ("body", "media_type", "status", "says"),
    [
        (b"{}", "text/plain", 415, "application/json"),
        (b"[1]", "application/json", 400, "no JSON object"),
        (b"{", "application/json", 400, "no JSON document"),
        (b"\xff", "application/json", 400, "no JSON document"),
        (b" " * 101, "application/json", 413, "at most 100 bytes"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_with_the_way_out(client, body, media_type, status, says):
    answer = client.post("/echo", content=body, headers={"Content-Type": media_type})
    assert answer.status_code == status
    assert says in answer.json()["message"]


def test_a_refusal_says_when_to_come_back(client):
    answer = client.get("/wait")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "3")
    assert answer.json() == {"error": "rate_limited", "message": "wait"}


def test_a_fault_tells_nothing_of_what_it_was(client):
    answer = client.get("/fail")
    assert (answer.status_code, answer.json()["error"]) == (500, "failed")
    assert "44" not in answer.text


def test_what_is_not_there_is_told_in_json(client):
    assert client.get("/nothing").json()["error"] == "not_found"
    assert client.get("/echo").status_code == 405


def test_headers_have_the_policy_of_the_service(client):
    for path in ("/nothing", "/wait", "/echo", "/fail"):
        headers = client.get(path).headers
        assert headers["Content-Security-Policy"] == "default-src 'self'"
        assert headers["Cache-Control"] == "no-store"


def test_a_body_that_never_ends_is_given_up():
    async def receive():
        await asyncio.sleep(0.01)
        return {"type": "http.request", "body": b"a", "more_body": True}

    request = Request({"type": "http", "method": "POST", "headers": []}, receive)
    with pytest.raises(Refusal, match="did not come in time") as refused:
        asyncio.run(read_body(request, most=10**6, seconds=0.1))
    assert refused.value.status == 408


@pytest.mark.parametrize(
    ("host", "counted"),
    [("192.0.2.7", "192.0.2.7"), ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"), ("testclient", "testclient")],
)
def test_limits_count_an_address_and_of_ipv6_its_network(host, counted):
    assert address_of(Request({"type": "http", "headers": [], "client": (host, 5)})) == counted


def test_no_refusal_is_raised_twice_and_so_holds_on_to_requests():
    names = [found.name for found in pkgutil.walk_packages(privet.service.__path__, "privet.service.")]
    assert "privet.service.gateway.app" in names
    values = [(name, value) for name in names for value in vars(importlib.import_module(name)).values()]
    assert [name for name, value in values if isinstance(value, Refusal)] == []
