"""What was spent, by whom and on what, as plain values: for the owner's page and for `privet serve spending`."""

from typing import Any

from privet.privacy.ledger import Ledger
from privet.service.gateway.fits import fits_of, left_of
from privet.service.gateway.folder import GatewayFolder


def spending(folder: GatewayFolder, ledger: Ledger) -> dict[str, Any]:
    """Return the data set's budget, every analyst's, and all fits, the newest first."""
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


def _of_analyst(folder: GatewayFolder, analyst: Any, fits: list[Any]) -> dict[str, Any]:
    spent, left = left_of(analyst, folder.unit.name, fits)
    access = "OpenID" if analyst.subject else "token" if analyst.digest else "revoked"
    return {
        "name": analyst.name, "access": access, "epsilon": analyst.epsilon, "delta": analyst.delta,
        "spent": spent, "left": left, "fits": sum(fit.analyst == analyst.name for fit in fits),
    }  # fmt: skip
