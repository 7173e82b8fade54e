"""Sessions: a password opens one, and it ends by itself."""

import pytest
from starlette.requests import Request
from starlette.responses import Response

from privet.service.requests import Refusal
from privet.service.sessions import Sessions, hash_password

KEPT = hash_password("right")


def request(cookie=""):
    headers = [(b"cookie", cookie.encode()), (b"host", b"gate")]
    told = {"type": "http", "method": "GET", "path": "/", "scheme": "https", "query_string": b"", "client": None}
    return Request({**told, "headers": headers, "server": ("gate", 443)})


def opened(sessions):
    answer = Response()
    sessions.open(request(), "right", KEPT, answer)
    return answer.headers["Set-Cookie"].partition(";")[0]


def test_a_session_ends_after_eight_hours():
    now = [0.0]
    sessions = Sessions("/owner", clock=lambda: now[0])
    cookie = opened(sessions)
    assert sessions.has(request(cookie))
    now[0] = 8 * 3600 + 1
    assert not sessions.has(request(cookie))


def test_nobody_has_a_session_without_the_password():
    sessions = Sessions("/owner")
    with pytest.raises(Refusal, match="this is not the password"):
        sessions.open(request(), "wrong", KEPT, Response())
    opened(sessions)
    for cookie in ("", "session=", "session=x", "session=\u00e9"):
        assert not sessions.has(request(cookie))


def test_a_cookie_of_a_secure_page_goes_over_https_alone():
    answer = Response()
    Sessions("/owner").open(request(), "right", KEPT, answer)
    assert "Secure" in answer.headers["Set-Cookie"]
