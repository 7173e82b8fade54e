"""What a quick test draws depends on its name alone; slow tests and other processes draw afresh."""

import os

import pytest

from privet.entropy import secure_bytes
from tests.draws import DRAWS, cached


@pytest.fixture(scope="module")
def of_the_module():
    return secure_bytes(16)


def test_a_name_has_draws_of_its_own():
    with DRAWS.of("one"):
        first, second = secure_bytes(8), secure_bytes(8)
    with DRAWS.of("one"):
        assert secure_bytes(16) == first + second
    with DRAWS.of("another"):
        assert secure_bytes(16) != first + second
    assert first != second


def test_a_quick_test_draws_by_its_name(request, of_the_module):
    drawn = secure_bytes(16)
    with DRAWS.of(request.node.nodeid):
        assert secure_bytes(16) == drawn
    with DRAWS.of("tests/test_draws.py::of_the_module[0]"):
        assert secure_bytes(16) == of_the_module


@pytest.mark.slow
def test_a_slow_test_draws_afresh(request):
    drawn = secure_bytes(16)
    with DRAWS.of(request.node.nodeid):
        assert secure_bytes(16) != drawn


def test_another_process_draws_afresh(monkeypatch):
    with DRAWS.of("one"):
        drawn = secure_bytes(16)
    with DRAWS.of("one"):
        monkeypatch.setattr(os, "getpid", lambda: -1)
        assert secure_bytes(16) != drawn


def test_a_test_may_put_a_source_in_the_systems_place(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda n: bytes(range(n)))
    assert secure_bytes(4) == b"\x00\x01\x02\x03"


@cached
def kept(number):
    return secure_bytes(16)


def test_what_is_kept_has_draws_of_its_own_whoever_asks_first():
    first = kept(1)
    kept.cache_clear()
    assert kept(2) != first
    assert kept(1) == first
