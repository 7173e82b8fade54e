"""The owner's page: what is left, who has spent it on what, and the audit log; nothing on it changes anything."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from privet.privacy.ledger import Ledger
from privet.service.gateway.audit import AuditLog
from privet.service.gateway.fits import spending
from privet.service.gateway.folder import GatewayFolder
from privet.service.requests import Refusal, has_type, read_body
from privet.service.sessions import Sessions, check_same_site

if TYPE_CHECKING:
    from jinja2 import Environment

PAGE = "/owner"
_FORM = "application/x-www-form-urlencoded"
_SHOWN_LINES = 100


class OwnerPage:
    """What the owner sees after a login."""

    def __init__(self, folder: GatewayFolder, ledger: Ledger, audit: AuditLog) -> None:
        self._folder, self._ledger, self._audit = folder, ledger, audit
        self._sessions = Sessions(PAGE)

    def routes(self) -> list[Route]:
        """Return the page's routes."""
        return [
            Route(PAGE, self._page),
            Route(f"{PAGE}/login", self._login, methods=["POST"]),
            Route(f"{PAGE}/logout", self._logout, methods=["POST"]),
            Route(f"{PAGE}/page.css", _style),
        ]

    def _page(self, request: Request) -> Response:
        if not self._sessions.has(request):
            return _html("login.html", wrong=False)
        told = spending(self._folder, self._ledger)
        return _html("owner.html", told=told, lines=self._audit.last(_SHOWN_LINES))

    async def _login(self, request: Request) -> Response:
        check_same_site(request)
        answer = RedirectResponse(PAGE, 303)
        if not has_type(request, _FORM):
            raise Refusal(415, "malformed", "use the form of the page")
        given = _password_in(await read_body(request))
        try:
            await run_in_threadpool(self._sessions.open, request, given, self._folder.settings.password, answer)
        except Refusal as refusal:
            if refusal.status != 429:  # else a flood would fill the disk
                await run_in_threadpool(self._note, "(unknown)", f"refused: {refusal.code}")
            return _html("login.html", refusal.status, wrong=refusal.message)
        await run_in_threadpool(self._note, "(owner)", "answered")
        return answer

    def _logout(self, request: Request) -> Response:
        check_same_site(request)
        self._sessions.close(request)
        return RedirectResponse(PAGE, 303)

    def _note(self, who: str, outcome: str) -> None:
        self._audit.append(who=who, what="login", outcome=outcome)


def _password_in(form: bytes) -> str:
    try:
        return parse_qs(form.decode(), max_num_fields=1)["password"][0]
    except (ValueError, KeyError):
        return ""


def _style(_: Request) -> Response:
    from privet.report.page import page

    style = files(page.__package__ or "").joinpath("templates", "report.css").read_text(encoding="utf-8")
    own = files(__package__ or "").joinpath("pages", "owner.css").read_text(encoding="utf-8")
    return Response(style + own, media_type="text/css; charset=utf-8")


def _html(name: str, status: int = 200, **values: Any) -> Response:
    return HTMLResponse(_templates().get_template(name).render(**values), status)


@cache
def _templates() -> "Environment":
    """Return the page's templates; they escape as the report's do, and use its macros."""
    from jinja2 import ChoiceLoader, PackageLoader

    from privet.report.page.page import environment

    report = environment()
    own = PackageLoader("privet.service.gateway", "pages")
    return report.overlay(loader=ChoiceLoader([own, PackageLoader("privet.report.page")]))
