"""A hostile analyst: each try gets what the list says, pays for what the list says, and learns nothing of a row."""

import pytest

from tests.service.gateway.hostile import NEEDLE, TRIES, Attack, run


@pytest.fixture(scope="module")
def attack(tmp_path_factory):
    with Attack(tmp_path_factory.mktemp("hostile")) as attack:
        yield attack


@pytest.mark.parametrize("one", TRIES, ids=lambda one: one.what)
def test_a_try_gets_what_the_list_says(attack, one):
    n_before = len(attack.answers)
    assert run(attack, one) == (one.status, one.code, one.paid)
    assert len(attack.answers) > n_before
    assert not any(NEEDLE.encode() in answer.content for answer in attack.answers[n_before:])


def test_another_analysts_fit_is_refused_as_one_that_is_not_there(attack):
    for path in ("", "/model", "/report"):
        others, none = (attack.get(f"/v1/fits/{fit}{path}") for fit in (attack.fit, "0" * 32))
        assert (others.content, sorted(others.headers)) == (none.content, sorted(none.headers))


def test_the_honest_analyst_is_answered_all_the_same(attack):
    assert attack.get("/v1/budget", token=attack.honest.token).status_code == 200
    assert attack.get("/v1/budget", token=attack.jwt()).json()["analyst"] == "federated"
