"""The collector's side: login, what the released answers tell, training and publishing."""

import hmac
import secrets
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from privet.service.collect.distributions import distributions
from privet.service.collect.reports import Reports
from privet.service.collect.store import AnswerStore
from privet.service.collect.training import Training, publish
from privet.service.limits import RateLimit
from privet.service.passwords import is_password
from privet.service.requests import Refusal, address_of, has_type, read_object

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_COOKIE = "session"
_SESSION_SECONDS = 8 * 3600
_LOGINS_PER_MINUTE = 10


class Collector:
    """What the collector may do after a login."""

    def __init__(self, folder: "CollectFolder", store: AnswerStore) -> None:
        self._folder, self._store, self._reports = folder, store, Reports(folder.channel)
        self._training = Training(folder, store)
        self._logins = RateLimit(_LOGINS_PER_MINUTE, _LOGINS_PER_MINUTE)
        self._sessions: dict[str, float] = {}
        self._lock = threading.Lock()

    def routes(self) -> list[Route]:
        """Return the collector's routes; all but the login need a session."""
        post = ["POST"]
        return [
            Route("/collector/login", self._login, methods=post),
            Route("/collector/logout", self._asked(self._logout), methods=post),
            Route("/collector/state.json", self._asked(self._state)),
            Route("/collector/answers.csv", self._asked(self._answers)),
            Route("/collector/release", self._asked(self._release), methods=post),
            Route("/collector/train", self._asked(self._train), methods=post),
            Route("/collector/publish", self._asked(self._publish), methods=post),
            Route("/collector/close", self._asked(self._close), methods=post),
            Route("/collector/open", self._asked(self._open), methods=post),
        ]

    async def _login(self, request: Request) -> Response:
        _check_origin(request)
        self._logins.take(address_of(request))
        given = (await read_object(request)).get("password")
        kept = self._folder.settings.password
        right = isinstance(given, str) and await run_in_threadpool(is_password, given, kept)
        if not right:
            raise Refusal(403, "password", "this is not the password; it was printed when the collection was made")
        session = secrets.token_urlsafe(32)
        with self._lock:
            now = time.monotonic()
            self._sessions = {own: end for own, end in self._sessions.items() if end > now}
            self._sessions[session] = now + _SESSION_SECONDS
        answer = Response(status_code=204)
        secure = request.url.scheme == "https"
        answer.set_cookie(_COOKIE, session, httponly=True, samesite="strict", secure=secure, path="/collector")
        return answer

    def _asked(self, act: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            if request.method == "POST":
                _check_origin(request)
            given, now = request.cookies.get(_COOKIE, ""), time.monotonic()
            with self._lock:
                known = [own for own, end in self._sessions.items() if end > now]
            if not any(hmac.compare_digest(given.encode(), own.encode()) for own in known):
                raise Refusal(401, "login", "log in first")
            return act(request)

        return answer

    def _logout(self, request: Request) -> Response:
        with self._lock:
            self._sessions.pop(request.cookies[_COOKIE], None)
        return Response(status_code=204)

    def _state(self, _: Request) -> Response:
        settings, n = self._folder.settings, self._store.n_released()
        epsilon = self._folder.channel.total_epsilon()
        return JSONResponse(
            {
                "answers": n,
                "batches": self._store.n_batches(),
                "batch": settings.batch,
                "minimum": settings.minimum,
                "people": settings.people,
                "open": settings.open,
                "epsilon": epsilon if epsilon < float("inf") else None,
                **self._training.state(),
                "distributions": distributions(self._folder.channel, self._reports, self._store.released()),
            }
        )

    def _answers(self, _: Request) -> Response:
        return StreamingResponse(self._reports.csv_lines(self._store.released()), media_type="text/csv; charset=utf-8")

    def _release(self, _: Request) -> Response:
        return JSONResponse({"released": self._store.release(self._folder.settings.batch)})

    def _train(self, _: Request) -> Response:
        self._training.start()
        return JSONResponse({}, 202)

    def _publish(self, _: Request) -> Response:
        publish(self._folder)
        return JSONResponse({})

    def _close(self, _: Request) -> Response:
        return JSONResponse({"open": False, "released": self._folder.close(self._store)})

    def _open(self, _: Request) -> Response:
        self._folder.change(open=True)
        return JSONResponse({"open": True})


def _check_origin(request: Request) -> None:
    """Refuse what another site's page sends: a form cannot send JSON, and a script tells where it comes from."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise Refusal(403, "origin", "this request came from another site; use the collector's page")
    if not has_type(request, "application/json"):
        raise Refusal(415, "malformed", "send requests as application/json")
