"""What a ledger says about a model: whose budget paid for it, and how it stands."""

from pathlib import Path
from typing import Any

from privet.checks import counted
from privet.errors import LedgerError
from privet.privacy.guarantee import left_over
from privet.privacy.ledger.account import accounts
from privet.report.page.formats import exact, pairs, text


def budget_facts(ledger: str | Path, model_checksum: str) -> dict[str, Any]:
    """Return the account that the model's release stands in, found by the model's checksum."""
    found, entries = accounts(ledger)
    for account in found:
        own = [release for release in account.to_json()["releases"] if release["model"] == model_checksum]
        if own:
            return {
                "ledger": Path(ledger).name,
                "head": entries[-1].hash,
                **{name: value for name, value in account.to_json().items() if name != "releases"},
                "releases": len(account.expenses),
                "entry": own[-1],
            }
    raise LedgerError("no entry of the ledger names this model; pass the ledger that its fit was given, or none")


def budget_section(budget: dict[str, Any]) -> str:
    """Return the account in plain words."""
    entry, at = budget["entry"], f" at delta {exact(budget['delta'])}" if budget["delta"] else ""
    rows = [
        ("Data set", text(budget["dataset"])),
        ("Budget", f"epsilon {exact(budget['epsilon'])}{at} for each {text(budget['unit'])}"),
        ("This model", f"epsilon {exact(entry['epsilon'])}, entry {entry['entry']}, released {text(entry['ended'])}"),
        ("Part of the data set", text(entry["part"]) if entry["part"] else "all of it"),
        ("Spent by all releases", f"epsilon {exact(budget['spent'])} in {counted(budget['releases'], 'release')}"),
        ("Left", f"epsilon {left_over(budget['left'])}"),
        ("Ledger", f"{text(budget['ledger'])}, head <code>{text(budget['head'])}</code>"),
    ]
    return f"<h2>The budget that paid for it</h2>\n{pairs(rows)}\n"
