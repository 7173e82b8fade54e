"""One data set's account: its budget, and which of its entries count as spent."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from privet.checks import look_alike
from privet.errors import LedgerError
from privet.privacy.ledger.entry_kinds import ADDED, BUDGET, FAILED, RESERVED, SETTLED, STATEMENT, WITHDRAWN
from privet.privacy.ledger.heads import HeadFolder
from privet.privacy.ledger.ledger_file import Entry, LedgerFile
from privet.privacy.ledger.spending import Budget, Cost, Expense
from privet.privacy.unit import ROW

# Each shows those who may spend, exactly, whether it fails, however small its epsilon.
MOST_STRICT_FITS = 100


@dataclass(frozen=True)
class Spending:
    """A release as the ledger sees it: what was set aside, and what became of that."""

    begun: Entry
    ended: Entry | None

    @property
    def state(self) -> str:
        """``"settled"``, ``"failed"``, ``"withdrawn"``, ``"added"``, or ``"reserved"`` if nothing followed."""
        if self.ended is None:
            return self.begun.kind
        return FAILED if self.ended.kind == SETTLED and "because" in self.ended.body else self.ended.kind

    @property
    def expense(self) -> Expense | None:
        """What counts as spent; None where it was withdrawn."""
        if self.state == WITHDRAWN:
            return None
        return Expense(self._cost, self.begun.body["part"])

    @property
    def _cost(self) -> Cost:
        """What it cost in the end or, if that is not known, what was set aside."""
        body = self.ended.body if self.ended is not None and self.ended.kind == SETTLED else self.begun.body
        return Cost(float(body["epsilon"]), body["delta"], body.get("rho"))

    def to_json(self) -> dict[str, Any]:
        """Return the release as plain JSON values."""
        ended = {} if self.ended is None else {"ended": self.ended.time, **self.ended.body}
        about = {name: self.begun.body[name] for name in ("what", "method", "part")}
        cost = {"epsilon": self._cost.epsilon, "delta": self._cost.delta, "state": self.state}
        last = {name: ended.get(name) for name in ("ended", "model", "because")}
        last["leaks"] = list(ended.get("leaks", ()))
        return {"entry": self.begun.number, "time": self.begun.time, **about, **cost, **last}


@dataclass(frozen=True)
class Account:
    """One data set's budget and all that was spent of it."""

    dataset: str
    budget: Budget
    spendings: tuple[Spending, ...]

    @classmethod
    def find(cls, entries: Iterable[Entry], dataset: str) -> Self | None:
        """Return the account of ``dataset``, or None where it has no budget."""
        own = [entry for entry in entries if entry.body.get("dataset") == dataset]
        budget = next((entry.body for entry in own if entry.kind == BUDGET), None)
        if budget is None:
            return None
        # What is settled was released, whatever another entry says.
        ends = {entry.body["reservation"]: entry for entry in own if entry.kind == WITHDRAWN}
        ends |= {entry.body["reservation"]: entry for entry in own if entry.kind == SETTLED}
        begun = [entry for entry in own if entry.kind in (RESERVED, ADDED)]
        spendings = tuple(Spending(entry, ends.get(entry.number)) for entry in begun)
        terms = Budget(budget["epsilon"], budget["delta"], budget["unit"], budget.get("strict", False))
        return cls(dataset, terms, spendings)

    @property
    def expenses(self) -> list[Expense]:
        """What counts as spent: what was settled or added, and what was reserved and not given back."""
        return [spending.expense for spending in self.spendings if spending.expense is not None]

    @property
    def parts(self) -> list[str]:
        """The named parts on which something was spent."""
        return sorted({expense.part for expense in self.expenses if expense.part is not None})

    @property
    def unstated_parts(self) -> list[str]:
        """Parts that count side by side although nobody has stated that no person is in two of them.

        Early ledgers have such parts: privet did not yet ask for the statement.
        """
        if self.budget.unit == ROW:
            return []
        unsaid = [each.begun.body for each in self.spendings if each.expense and not each.begun.body.get(STATEMENT)]
        return sorted({body["part"] for body in unsaid if body["part"] is not None})

    def to_json(self) -> dict[str, Any]:
        """Return the account as plain JSON values."""
        return {
            "dataset": self.dataset,
            **vars(self.budget),
            "spent": self.spent(),
            "left": self.left(),
            "unstated_parts": self.unstated_parts,
            "parts": {part: {"spent": self.spent(part), "left": self.left(part)} for part in self.parts},
            "releases": [spending.to_json() for spending in self.spendings],
        }

    def check_unit(self, unit: str | None) -> None:
        """Refuse a release that protects another unit."""
        if unit not in (None, self.budget.unit):
            raise LedgerError(
                f"the budget of {self.dataset!r} protects each {self.budget.unit}, this release each {unit}, and the "
                "two do not add up; set unit alike, or open another account"
            )

    def check_part(self, part: str | None, *, no_person_in_two: bool) -> None:
        """Refuse a part that looks like another, and a part of people without the statement that none is in two."""
        if part is None:
            return
        if self.budget.strict:
            raise LedgerError(
                f"the account {self.dataset!r} is strict and has no parts: whoever spends would say which rows they "
                "share; leave the part out, or open an account for each part"
            )
        check_own_look("a part", part, self.parts)
        if self.budget.unit != ROW and not no_person_in_two:
            raise LedgerError(
                f"the budget of {self.dataset!r} protects each {self.budget.unit}, and people may be in several parts: "
                "if none is in two, say so with no_person_in_two_parts=True (--no-person-in-two-parts); else leave the "
                "part out, and the costs add up"
            )

    def check_number(self) -> None:
        """Refuse a further fit on a strict account that has had its number of fits, failed ones included."""
        begun = [each for each in self.spendings if each.begun.kind == RESERVED and each.expense is not None]
        if self.budget.strict and len(begun) >= MOST_STRICT_FITS:
            raise LedgerError(
                f"the account {self.dataset!r} is strict and has had {MOST_STRICT_FITS} fits, failed ones included: "
                "each tells exactly whether it fails; its owner may open another account"
            )

    def has_other_budget(self) -> LedgerError:
        """Return the refusal of a budget that is not this one."""
        budget, strict = self.budget, ", strict" if self.budget.strict else ""
        return LedgerError(
            f"the budget of {self.dataset!r} is already set: epsilon={budget.epsilon:g}, delta={budget.delta:g}, unit "
            f"{budget.unit!r}{strict}; it never changes: use it as it is, or name another data set"
        )

    def spent(self, part: str | None = None) -> float:
        """Return the epsilon spent so far."""
        return self.budget.spent(self.expenses, part)

    def left(self, part: str | None = None) -> float:
        """Return the epsilon that is left."""
        return self.budget.left(self.expenses, part)


def accounts(path: str | Path, heads: HeadFolder | None = None) -> tuple[list[Account], tuple[Entry, ...]]:
    """Read the ledger at ``path``, and return every account and all entries, their chain checked."""
    entries = LedgerFile(Path(path).resolve(), heads).entries()
    found = (Account.find(entries, name) for name in names_in(entries))
    return [account for account in found if account is not None], entries


def names_in(entries: Iterable[Entry]) -> list[str]:
    """Return the names of all accounts, the oldest first."""
    return list(dict.fromkeys(entry.body["dataset"] for entry in entries if entry.kind == BUDGET))


def check_own_look(what: str, name: str, others: Sequence[str]) -> None:
    """Refuse a new name that looks like one of the others: people would take two budgets for one."""
    alike = None if name in others else look_alike(name, others)
    if alike is not None:
        raise LedgerError(
            f"the ledger has {what} called {alike!r}, which looks like {name!r}, and each would have a budget of its "
            "own; use that one, or choose a name that looks different"
        )


def names_alike(names: Sequence[str]) -> list[list[str]]:
    """Return pairs of names that look alike although each is a budget, or a part, of its own."""
    pairs = [(look_alike(name, names[:i]), name) for i, name in enumerate(names)]
    return [[other, name] for other, name in pairs if other is not None]


def with_cost(cost: Cost, note: Mapping[str, Any]) -> dict[str, Any]:
    """Return a note and a cost as an entry holds them; the cost replaces what the note says. JSON has no infinity."""
    amounts = {name: "inf" if value == math.inf else value for name, value in vars(cost).items() if value is not None}
    return {name: value for name, value in note.items() if name not in vars(cost)} | amounts
