"""Fits that are paid for: the ledger is where they are kept. Argued in gateway.md."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from privet.entropy import secure_bytes
from privet.errors import BudgetExceeded, LedgerError
from privet.privacy.ledger import Cost, Ledger, Reservation
from privet.privacy.ledger.account import MOST_STRICT_FITS, Account, Spending
from privet.privacy.ledger.entry_kinds import FAILED, RESERVED
from privet.privacy.ledger.spending import Expense
from privet.service.gateway.analyst_requests import FitRequest
from privet.service.gateway.analysts import Analyst
from privet.service.gateway.folder import GatewayFolder
from privet.service.requests import Refusal

_ID_BYTES = 16
# Made anew each time: an error that is raised again holds on to every request that it was raised for.
_NO_FITS_LEFT = partial(
    Refusal, 409, "no_fits_left",
    f"this data set has had its {MOST_STRICT_FITS} fits, failed ones included; use a model that was released already",
)  # fmt: skip
_OTHER_BODY = partial(
    Refusal, 409, "key_used",
    "this Idempotency-Key was used for another fit; take a new key, or send the request as it was",
)  # fmt: skip
_UNAVAILABLE = partial(
    Refusal, 503, "unavailable",
    "the ledger cannot be written at the moment; send the same request with the same Idempotency-Key again later",
)  # fmt: skip


@dataclass(frozen=True)
class PaidFit:
    """A fit that the ledger has an entry of, and the gateway that it was paid to."""

    id: str
    gateway: str
    analyst: str
    key: str
    request: FitRequest
    spending: Spending

    @classmethod
    def of(cls, spending: Spending) -> "PaidFit | None":
        """Return the fit that an entry is of; None for another release."""
        body = spending.begun.body
        if "fit" not in body:
            return None
        asked = {**body["request"], "parameters": dict(body["request"]["parameters"])}
        return cls(body["fit"], body["gateway"], body["analyst"], body["request_key"], FitRequest(**asked), spending)

    @property
    def is_open(self) -> bool:
        """Whether the ledger knows no end of it."""
        return self.spending.state == RESERVED

    @property
    def has_failed(self) -> bool:
        """Whether the ledger says that it failed."""
        return self.spending.state == FAILED

    @property
    def expense(self) -> Expense:
        """What it counts for."""
        return self.spending.expense or Expense(Cost(0.0))

    def receipt(self) -> dict[str, Any]:
        """Return what the ledger has written down, as the analyst may keep it."""
        begun, cost = self.spending.begun, self.expense.cost
        ended = {} if self.spending.ended is None else self.spending.ended.body
        return {
            "entry": begun.number, "hash": begun.hash, "time": begun.time, "epsilon": cost.epsilon,
            "delta": cost.delta, "state": self.spending.state, "model": ended.get("model"),
        }  # fmt: skip

    def reservation(self, ledger: Ledger) -> Reservation:
        """Return the reservation that was made for it, from which on every failure is charged."""
        reservation = Reservation(
            ledger.file, ledger.dataset, self.expense.cost, self.spending.begun.number, strict=True
        )
        reservation.mark_opened()
        return reservation


def fits_of(account: Account) -> list[PaidFit]:
    """Return all fits of an account, the oldest first."""
    found = (PaidFit.of(spending) for spending in account.spendings)
    return [fit for fit in found if fit is not None]


def pay(ledger: Ledger, folder: GatewayFolder, analyst: Analyst, request: FitRequest, key: str) -> PaidFit:
    """Set aside what a fit in a folder costs, on the data set's budget and on the analyst's, both or neither.

    The same key and request again are the fit that was paid for already.
    """
    marked, unit = hashlib.sha256(key.encode()).hexdigest(), folder.unit.name
    own_id = secure_bytes(_ID_BYTES).hex()

    def check(account: Account) -> None:
        fits = fits_of(account)
        before = next((fit for fit in fits if (fit.analyst, fit.key) == (analyst.name, marked)), None)
        if before is not None:
            raise _Again(before)
        try:
            account.check_number()
        except LedgerError:
            raise _NO_FITS_LEFT() from None
        _check_own_budget(analyst, unit, _expenses(analyst, fits), request.cost)

    by = {"analyst": analyst.name, "gateway": folder.name}
    note = {"fit": own_id, "request_key": marked, "request": request.to_json()}
    try:
        ledger.reserve(request.cost, unit=unit, what="fit", method=request.method, check=check, **by, **note)
    except _Again as again:
        if again.fit.request != request:
            raise _OTHER_BODY() from None
        return again.fit
    except BudgetExceeded as error:
        raise Refusal(402, "budget", str(error)) from None
    except LedgerError:
        raise _UNAVAILABLE() from None
    return next(fit for fit in fits_of(ledger.account()) if fit.id == own_id)


def left_of(analyst: Analyst, unit: str, fits: Sequence[PaidFit]) -> tuple[float, float]:
    """Return what an analyst has spent, and what is left of their own budget."""
    budget, own = analyst.budget(unit), _expenses(analyst, fits)
    return budget.spent(own), budget.left(own)


def spending(folder: GatewayFolder, ledger: Ledger) -> dict[str, Any]:
    """Return the data set's budget, every analyst's, and all fits, the newest first, as plain values."""
    account = ledger.account()
    fits = fits_of(account)
    others = [each for each in account.spendings if "fit" not in each.begun.body]
    return {
        "dataset": account.dataset,
        **vars(account.budget),
        "spent": account.spent(),
        "left": account.left(),
        "analysts": [_of_analyst(folder, each, fits) for each in folder.analysts.all()],
        "fits": [
            {"fit": fit.id, "analyst": fit.analyst, **fit.request.to_json(), "receipt": fit.receipt()}
            for fit in reversed(fits)
        ],
        "other_releases": len(others),
    }


def _of_analyst(folder: GatewayFolder, analyst: Analyst, fits: Sequence[PaidFit]) -> dict[str, Any]:
    spent, left = left_of(analyst, folder.unit.name, fits)
    access = "OpenID" if analyst.subject else "token" if analyst.digest else "revoked"
    return {
        "name": analyst.name, "access": access, "epsilon": analyst.epsilon, "delta": analyst.delta,
        "spent": spent, "left": left, "fits": sum(fit.analyst == analyst.name for fit in fits),
    }  # fmt: skip


def _expenses(analyst: Analyst, fits: Sequence[PaidFit]) -> list[Expense]:
    return [fit.expense for fit in fits if fit.analyst == analyst.name]


def _check_own_budget(analyst: Analyst, unit: str, own: Sequence[Expense], cost: Cost) -> None:
    budget = analyst.budget(unit)
    if budget.allows([*own, Expense(cost)]):
        return
    left = budget.left(own)
    way_out = f"ask for epsilon<={left!r}" if left > 0 else "use a model that was released already"
    raise Refusal(402, "own_budget", f"this fit would exceed your own budget, of which {left!r} is left; {way_out}")


class _Again(Exception):
    """The key has paid for a fit already."""

    def __init__(self, fit: PaidFit) -> None:
        super().__init__()
        self.fit = fit
