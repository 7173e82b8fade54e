"""The routes of the gateway; docs/serve.md describes them, and gateway.md argues why each answer may leave."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import anyio
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from privet.errors import PrivetError
from privet.model_file import read_document
from privet.privacy.ledger import Ledger
from privet.privacy.ledger.entry_kinds import RESERVED
from privet.service.gateway.analyst_requests import OFFERED, FitRequest, offered_parameters, predictions
from privet.service.gateway.analysts import Analyst
from privet.service.gateway.audit import AuditLog
from privet.service.gateway.fits import PaidFit, fits_of, left_of, pay
from privet.service.gateway.folder import GatewayFolder
from privet.service.gateway.owner import OwnerPage
from privet.service.gateway.workers import DONE, Workers
from privet.service.requests import RateLimit, Refusal, SecurityHeaders, address_of, error_answers, read_object
from privet.signing.keys import PrivateKey
from privet.signing.model_signature import ModelSignature, signature_file
from privet.signing.roster import Roster

PER_MINUTE, UNKNOWN_PER_MINUTE = 240, 60
_PREDICT_BYTES = 2**23
_COMPUTING = 2
_LONGEST_KEY = 200
_PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
# Made anew each time: an error that is raised again holds on to every request that it was raised for.
_NOBODY = partial(Refusal, 401, "token", "a valid token is needed; send it as `Authorization: Bearer TOKEN`")
_NO_FIT = partial(Refusal, 404, "no_fit", "there is no such fit of yours; see them all at /v1/fits")
_NOT_DONE = partial(Refusal, 409, "not_done", "this fit has no model; see its state at /v1/fits/ID")
_NO_KEY = partial(
    Refusal, 400, "key", "send a header Idempotency-Key, new for each fit: sent again, it is not paid for twice"
)
_NOT_SIGNED = partial(Refusal, 404, "not_signed", "this gateway signs no models; ask its owner for a signature")
_UNAVAILABLE = partial(
    Refusal, 503, "unavailable", "the server cannot write at the moment; send the same request again later"
)

Act = Callable[[Analyst, Request], Awaitable[Response]]


class AnalystRoutes:
    """What analysts may ask. Every answer is about what is public, about their own requests, or a release."""

    def __init__(
        self, folder: GatewayFolder, ledger: Ledger, workers: Workers, audit: AuditLog, signer: PrivateKey | None
    ) -> None:
        self._folder, self._ledger, self._workers, self._audit, self._signer = folder, ledger, workers, audit, signer
        self._of_analyst = RateLimit(PER_MINUTE, PER_MINUTE)
        self._of_unknown = RateLimit(UNKNOWN_PER_MINUTE, UNKNOWN_PER_MINUTE)
        # Plans, pages and predictions are computed a few at a time, whoever asks.
        self._computing = anyio.CapacityLimiter(_COMPUTING)

    def routes(self) -> list[Route]:
        """Return the routes; each needs a token."""
        return [
            Route("/v1/schema", self._asked("schema", self._schema, is_noted=False)),
            Route("/v1/budget", self._asked("budget", self._budget, is_noted=False)),
            Route("/v1/plan", self._asked("plan", self._plan), methods=["POST"]),
            Route("/v1/fits", self._asked("fits", self._fits, is_noted=False), methods=["GET"]),
            Route("/v1/fits", self._asked("fit", self._new_fit), methods=["POST"]),
            Route("/v1/fits/{fit}", self._asked("state", self._fit, is_noted=False)),
            Route("/v1/fits/{fit}/model", self._asked("model", self._model)),
            Route("/v1/fits/{fit}/signature", self._asked("signature", self._signature)),
            Route("/v1/fits/{fit}/report", self._asked("report", self._report)),
            Route("/v1/fits/{fit}/predict", self._asked("predict", self._predict), methods=["POST"]),
        ]

    def _asked(self, what: str, act: Act, *, is_noted: bool = True) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint: who asks is known first, and what became of it is on the disk before it is told.

        Without ``is_noted`` only refusals are: how a fit stands is asked again and again.
        """

        async def answer(request: Request) -> Response:
            who = "(unknown)"
            try:
                analyst = await run_in_threadpool(self._analyst_of, request)
                who = analyst.name
                self._of_analyst.take(who)
                told = await act(analyst, request)
            except Refusal as refusal:
                if refusal.status != 429:  # else a flood would fill the disk
                    await self._note(request, who, what, f"refused: {refusal.code}")
                raise
            except Exception as error:
                await self._note(request, who, what, f"failed: {type(error).__name__}")
                raise
            if is_noted:
                await self._note(request, who, what, "answered")
            return told

        return answer

    async def _note(self, request: Request, who: str, what: str, outcome: str) -> None:
        noted = getattr(request.state, "noted", {})
        try:
            await run_in_threadpool(self._audit.append, who=who, what=what, outcome=outcome, **noted)
        except OSError:
            raise _UNAVAILABLE() from None

    def _analyst_of(self, request: Request) -> Analyst:
        given = request.headers.getlist("authorization")
        kind, _, token = given[0].partition(" ") if len(given) == 1 else ("", "", "")
        analyst = self._folder.analysts.of_token(token, self._folder.issuer) if kind.lower() == "bearer" else None
        if analyst is None:
            self._of_unknown.take(address_of(request))
            raise _NOBODY()
        return analyst

    async def _schema(self, _: Analyst, __: Request) -> Response:
        unit = self._folder.unit
        methods = {name: {key: str(each) for key, each in offered_parameters(name).items()} for name in OFFERED}
        protected = {"unit": unit.name, "max_rows": unit.max_rows}
        return JSONResponse({"schema": self._folder.schema.to_json(), **protected, "methods": methods})

    async def _budget(self, analyst: Analyst, _: Request) -> Response:
        account = await run_in_threadpool(self._ledger.account)
        spent, left = left_of(analyst, self._folder.unit.name, fits_of(account))
        budget = account.budget
        dataset = {"name": account.dataset, "epsilon": budget.epsilon, "delta": budget.delta, "left": account.left()}
        own = {"epsilon": analyst.epsilon, "delta": analyst.delta, "spent": spent, "left": left}
        return JSONResponse({"analyst": analyst.name, **own, "dataset": dataset})

    async def _plan(self, _: Analyst, request: Request) -> Response:
        document = await read_object(request)
        n_rows = document.pop("rows", None)
        if n_rows is not None and (type(n_rows) is not int or not 1 <= n_rows <= 2**53):
            raise Refusal(422, "rows", "rows must be a whole number of at least 1, about how many there are")
        if n_rows is None and self._folder.schema.rows is None:
            raise Refusal(422, "rows", "how many rows there are is not public; send a guess of your own as rows")
        asked = FitRequest.of(document)
        planned = await self._compute(asked.plan, self._folder.schema, self._folder.unit, n_rows)
        return JSONResponse(planned.to_json())

    async def _new_fit(self, analyst: Analyst, request: Request) -> Response:
        keys = request.headers.getlist("idempotency-key")
        if len(keys) != 1 or not 1 <= len(keys[0]) <= _LONGEST_KEY or not keys[0].isprintable():
            raise _NO_KEY()
        asked = FitRequest.of(await read_object(request))
        if not self._folder.has_room():
            raise _UNAVAILABLE()
        request.state.noted = {"method": asked.method, "epsilon": asked.epsilon, "delta": asked.delta}
        await self._compute(asked.plan, self._folder.schema, self._folder.unit)
        paid = await run_in_threadpool(pay, self._ledger, self._folder, analyst, asked, keys[0])
        request.state.noted["fit"] = paid.id
        self._workers.take(paid)
        return JSONResponse(self._told(paid), 202, {"Location": f"/v1/fits/{paid.id}"})

    async def _fits(self, analyst: Analyst, _: Request) -> Response:
        fits = fits_of(await run_in_threadpool(self._ledger.account))
        return JSONResponse({"fits": [self._told(fit) for fit in fits if fit.analyst == analyst.name]})

    async def _fit(self, analyst: Analyst, request: Request) -> Response:
        return JSONResponse(self._told(await self._own_fit(analyst, request)))

    async def _model(self, analyst: Analyst, request: Request) -> Response:
        path = await self._own_model(analyst, request)
        as_file = {"Content-Disposition": f'attachment; filename="{path.name}"'}
        # Read whole: an answer made from a file names the moment when the fit ended.
        return Response(await self._compute(path.read_bytes), media_type="application/json", headers=as_file)

    async def _signature(self, analyst: Analyst, request: Request) -> Response:
        path = await self._own_model(analyst, request)
        if self._signer is None:
            raise _NOT_SIGNED()
        signature = await self._compute(_signature_of, path, self._signer)
        as_file = {"Content-Disposition": f'attachment; filename="{signature_file(path.name)}"'}
        return JSONResponse(signature.document, headers=as_file)

    async def _report(self, analyst: Analyst, request: Request) -> Response:
        path = await self._own_model(analyst, request)
        # To be saved, not shown here: the page has a policy of its own, which allows for its script.
        as_file = {"Content-Disposition": f'attachment; filename="{path.stem}.html"'}
        return Response(
            await self._compute(_report_of, path, self._signer), media_type="text/html; charset=utf-8", headers=as_file
        )

    async def _predict(self, analyst: Analyst, request: Request) -> Response:
        path = await self._own_model(analyst, request)
        document = await read_object(request, _PREDICT_BYTES)
        return JSONResponse(await self._compute(predictions, path, document, self._folder.schema))

    async def _own_fit(self, analyst: Analyst, request: Request) -> PaidFit:
        """Return the fit that the path names; another's is refused in the same words as one that is not there."""
        asked = request.path_params["fit"]
        fits = fits_of(await run_in_threadpool(self._ledger.account))
        found = next((fit for fit in fits if (fit.id, fit.analyst) == (asked, analyst.name)), None)
        if found is None:
            raise _NO_FIT()
        request.state.noted = {"fit": found.id}
        return found

    async def _own_model(self, analyst: Analyst, request: Request) -> Path:
        fit = await self._own_fit(analyst, request)
        if self._workers.state(fit) != DONE:
            raise _NOT_DONE()
        return self._folder.model_file(fit.id)

    def _told(self, fit: PaidFit) -> dict[str, Any]:
        receipt = fit.receipt()
        if fit.has_failed:  # that the ledger has its end would tell that it failed before its first noise
            receipt["state"] = RESERVED
        return {"fit": fit.id, "state": self._workers.state(fit), **fit.request.to_json(), "receipt": receipt}

    async def _compute(self, work: Callable[..., Any], *given: Any) -> Any:
        return await anyio.to_thread.run_sync(work, *given, limiter=self._computing)


def make_app(
    folder: GatewayFolder, ledger: Ledger, *, workers: int = 1, signer: PrivateKey | None = None
) -> SecurityHeaders:
    """Return the gateway's server; so many fits are made at a time, and ``signer`` signs the models."""
    made, audit = Workers(folder, ledger, workers), AuditLog(folder.audit_file)

    @asynccontextmanager
    async def alive(_: Starlette) -> AsyncIterator[None]:
        made.start()
        yield
        await run_in_threadpool(made.stop)

    app = Starlette(
        routes=[
            *AnalystRoutes(folder, ledger, made, audit, signer).routes(),
            *OwnerPage(folder, ledger, audit).routes(),
        ],
        exception_handlers={**error_answers(), PrivetError: _unavailable, OSError: _unavailable},
        lifespan=alive,
    )
    # Around all of it: Starlette answers faults outside of its middleware.
    return SecurityHeaders(app, _PAGE_POLICY)


def _unavailable(_: Request, __: Exception) -> Response:
    return _UNAVAILABLE().answer()


def _signature_of(path: Path, signer: PrivateKey) -> ModelSignature:
    return ModelSignature.make(str(read_document(path)["checksum"]), signer)


def _report_of(path: Path, signer: PrivateKey | None) -> str:
    from privet.report.page.page import Report, page

    signed: dict[str, Any] = {}
    if signer is not None:
        signed = {"signature": _signature_of(path, signer), "keys": Roster([signer.public])}
    about = Report.of(path, **signed)
    return page(about.model, about.facts)
