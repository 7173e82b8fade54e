"""Rate limits, with a clock that is set by hand."""

import pytest

from privet.service.requests import RateLimit, Refusal


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def taken(limit, key, n):
    """Return how many of ``n`` tries at once were let through."""
    through = 0
    for _ in range(n):
        try:
            limit.take(key)
        except Refusal:
            continue
        through += 1
    return through


def test_so_many_at_once_and_so_many_a_minute(clock):
    limit = RateLimit(6, 3, clock=clock)
    assert taken(limit, "a", 10) == 3
    clock.now += 10  # a sixth of a minute
    assert taken(limit, "a", 10) == 1
    clock.now += 3600
    assert taken(limit, "a", 10) == 3


def test_one_key_does_not_wait_for_another(clock):
    limit = RateLimit(6, 3, clock=clock)
    assert taken(limit, "a", 10) == 3
    assert taken(limit, "b", 10) == 3


def test_a_refusal_says_how_long_to_wait_and_that_is_enough(clock):
    limit = RateLimit(6, 1, clock=clock)
    limit.take("a")
    with pytest.raises(Refusal, match="too many tries; wait 11 seconds") as refused:
        limit.take("a")
    assert (refused.value.status, refused.value.retry_after) == (429, 11)
    clock.now += 11
    limit.take("a")


def test_tries_while_refused_do_not_make_the_wait_longer(clock):
    limit = RateLimit(6, 1, clock=clock)
    assert taken(limit, "a", 100) == 1
    clock.now += 10.1
    assert taken(limit, "a", 1) == 1


def test_a_flood_of_keys_takes_bounded_memory_and_keeps_no_key(clock):
    limit = RateLimit(6, 1, most=100, clock=clock)
    for i in range(10_000):
        limit.take(f"192.0.2.{i}")
    assert len(limit._left) == 100
    assert not any(b"192.0.2" in name for name in limit._left)
    with pytest.raises(Refusal):
        limit.take("192.0.2.9999")  # the latest are remembered
