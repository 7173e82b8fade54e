"""The collector's side: login, what the released answers tell, training and publishing."""

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
from privet.service.requests import Refusal, has_type, read_object
from privet.service.sessions import Sessions, check_same_site

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

_PAGE = "/collector"


class Collector:
    """What the collector may do after a login."""

    def __init__(self, folder: "CollectFolder", store: AnswerStore) -> None:
        self._folder, self._store, self._reports = folder, store, Reports(folder.channel)
        self._training = Training(folder, store)
        self._sessions = Sessions(_PAGE)

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
        given = (await read_object(request)).get("password")
        answer = Response(status_code=204)
        await run_in_threadpool(self._sessions.open, request, given, self._folder.settings.password, answer)
        return answer

    def _asked(self, act: Callable[[Request], Response]) -> Callable[[Request], Response]:
        def answer(request: Request) -> Response:
            if request.method == "POST":
                _check_origin(request)
            if not self._sessions.has(request):
                raise Refusal(401, "login", "log in first")
            return act(request)

        return answer

    def _logout(self, request: Request) -> Response:
        self._sessions.close(request)
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
    """Refuse what another site's page sends; its form cannot send JSON."""
    check_same_site(request)
    if not has_type(request, "application/json"):
        raise Refusal(415, "malformed", "send requests as application/json")
