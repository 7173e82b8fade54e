"""The routes of the collecting server, the respondents' and the collector's; API.md beside this file describes them."""

import hashlib
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from privet.service.collect.assets import COLLECTOR_PAGE, RESPONDENT_PAGE, assets, script_fingerprint
from privet.service.collect.distributions import distributions
from privet.service.collect.reports import Reports
from privet.service.collect.store import AnswerStore, Stored, StoreUnavailable
from privet.service.collect.texts import page_texts
from privet.service.collect.tokens import is_report_id, is_token, receipt, token_hash, use_mark
from privet.service.collect.training import Training, publish
from privet.service.requests import (
    RateLimit,
    Refusal,
    SecurityHeaders,
    address_of,
    error_answers,
    has_type,
    read_object,
)
from privet.service.sessions import Sessions, check_same_site

if TYPE_CHECKING:
    from privet.service.collect.folder import CollectFolder

PER_MINUTE, ADDRESS_PER_MINUTE, TOKEN_PER_MINUTE = 6000, 600, 20
_REPORT_KEYS = {"token", "report_id", "answers"}
_MODEL_TYPES = {"js": "text/javascript; charset=utf-8", "json": "application/json"}
# Made anew each time: an error that is raised again holds on to every request that it was raised for.
_UNKNOWN = partial(Refusal, 403, "token_unknown", "this link was not given out; use the one that was sent to you")
_USED = partial(Refusal, 409, "token_used", "this link was used for another report; each link is for one")
_PAGE = "/collector"


class RespondentRoutes:
    """What respondents ask for."""

    def __init__(self, folder: "CollectFolder", store: AnswerStore, per_minute: int, address_per_minute: int) -> None:
        self._folder, self._store, self._reports = folder, store, Reports(folder.channel)
        self._all = RateLimit(per_minute, per_minute)
        self._of_address = RateLimit(address_per_minute, address_per_minute)
        self._of_token = RateLimit(TOKEN_PER_MINUTE, TOKEN_PER_MINUTE)

    def study(self, _: Request) -> Response:
        """Return what is public about the collection."""
        settings = self._folder.settings
        told = {name: getattr(settings, name) for name in ("title", "by", "purpose", "wave", "people", "batch")}
        hashes = {"channel_sha256": self._folder.channel_sha256, "script_sha256": script_fingerprint()}
        state = {"minimum": settings.minimum, "open": settings.open}
        words = {"languages": list(page_texts()), "texts": settings.texts}
        return JSONResponse({**told, **hashes, **state, **words, "model": self._folder.published("js").exists()})

    def channel(self, _: Request) -> Response:
        """Return the channel's file as it is."""
        return Response(self._folder.channel_bytes, media_type="application/json")

    def model(self, request: Request) -> Response:
        """Return the published model."""
        kind = request.path_params["kind"]
        path = self._folder.published(kind)
        if not path.exists():
            raise Refusal(404, "no_model", "no model is published yet; come back later")
        return Response(path.read_bytes(), media_type=_MODEL_TYPES[kind])

    async def answers(self, request: Request) -> Response:
        """Take a report."""
        self._all.take()
        self._of_address.take(address_of(request))
        report = await read_object(request)
        if set(report) != _REPORT_KEYS or not is_report_id(report["report_id"]) or not is_token(report["token"]):
            raise Refusal(400, "malformed", "a report has a token, a report_id and answers; fetch the page again")
        if not self._folder.settings.open:
            raise Refusal(410, "closed", "this collection is closed; nothing was stored")
        return await run_in_threadpool(self._take, report)

    def _take(self, report: dict[str, Any]) -> Response:
        hashed = token_hash(report["token"])
        # A forged token costs one look into an index, before its answers are looked at.
        if not self._store.knows(hashed):
            raise _UNKNOWN()
        self._of_token.take(hashed.hex())
        kept = self._reports.canonical(report["answers"])
        stored = self._store.put(hashed, use_mark(report["token"], report["report_id"]), kept)
        if stored is Stored.USED:
            raise _USED()
        if stored is Stored.UNKNOWN:
            raise _UNKNOWN()
        with suppress(StoreUnavailable):  # the report is stored; the next one releases both
            self._store.release(self._folder.settings.batch)
        return JSONResponse({"receipt": receipt(self._folder.key, hashed)}, 201 if stored is Stored.NEW else 200)


def make_app(
    folder: "CollectFolder",
    store: AnswerStore,
    *,
    per_minute: int = PER_MINUTE,
    address_per_minute: int = ADDRESS_PER_MINUTE,
) -> SecurityHeaders:
    """Return the server of a collection; so many reports a minute are looked at, of all and of one address."""
    routes = RespondentRoutes(folder, store, per_minute, address_per_minute)
    app = Starlette(
        routes=[
            Route("/", _asset(RESPONDENT_PAGE)),
            Route("/study.json", routes.study),
            Route("/channel.json", routes.channel),
            Route("/answers", routes.answers, methods=["POST"]),
            Route("/model.{kind:str}", routes.model),
            Route("/collector", _asset(COLLECTOR_PAGE)),
            *Collector(folder, store).routes(),
            *(Route(f"/{name}", _asset(name)) for name in assets() if not name.endswith(".html")),
        ],
        exception_handlers={**error_answers(), StoreUnavailable: _unavailable},
    )
    return SecurityHeaders(app)  # around the answer to a fault too


def _asset(name: str) -> Any:
    def answer(_: Request) -> Response:
        asset = assets().get(name)
        if asset is None:
            raise HTTPException(404)
        tag = f'"{hashlib.sha256(asset.body).hexdigest()}"'
        return Response(asset.body, media_type=asset.media_type, headers={"ETag": tag})

    return answer


def _unavailable(_: Request, error: Exception) -> Response:
    return Refusal(503, "unavailable", str(error)).answer()


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
