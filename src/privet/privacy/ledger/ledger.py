"""The ledger as callers see it: a budget for a data set, reserved before a row is read. Argued in ledger.md."""

import difflib
import math
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import Any, Self

from privet.checks import look_alike
from privet.errors import BudgetExceeded, LedgerError, ParameterError
from privet.privacy.accounting import check_delta
from privet.privacy.ledger.account import Account, check_own_look, names_in, with_cost
from privet.privacy.ledger.entry_kinds import ADDED, BUDGET, LARGEST_AMOUNT, RESERVED, STATEMENT
from privet.privacy.ledger.heads import HeadFolder
from privet.privacy.ledger.ledger_file import Entry, LedgerFile
from privet.privacy.ledger.reservation import Reservation
from privet.privacy.ledger.spending import Budget, Cost, Expense
from privet.privacy.unit import ROW

_MAX_TEXT = 1_000


class Ledger:
    """What has been spent on a data set, in a file that its owner keeps.

    A fit that is given a ledger reserves its cost before it reads a row and settles it after the release. A crash in
    between counts as spent. Clones, threads and processes all write to the one file.

    Parameters
    ----------
    path : path
        The file. Several data sets can share one.
    dataset : str
        The rows that the budget is about, by a name that stays.
    epsilon, delta : float, optional
        The budget, delta being 0 unless given. With epsilon the account is opened where it is not there; without, it
        must be. An account's budget never changes.
    unit : str, optional
        What the budget protects: ``"row"``, or the column that says whose row it is.
    part : str, optional
        A named part of the data set. No unit may be in two parts; of several parts the most expensive counts.
    no_person_in_two_parts : bool
        States that for a unit other than a row. People come back in other months, though no row does, so nothing is
        spent on a part of such an account without it. The ledger and the model's guarantee record it.
    strict : bool, optional
        For an account that others may spend from: a fit that fails after it has opened the rows counts as spent, since
        its failing may tell what a row holds. It takes a hundred fits at most, failed ones included, and has no parts.
        Whether an account is strict never changes.
    heads : path or HeadFolder, optional
        A folder apart from the file that keeps its newest head: an end that was cut off is then noticed by the next
        process too. The command line keeps one.

    Examples
    --------
    >>> import tempfile
    >>> from privet import Ledger
    >>> ledger = Ledger(tempfile.mkdtemp() + "/ledger.db", dataset="patients", epsilon=2.0)
    >>> ledger.left
    2.0
    """

    def __init__(
        self,
        path: str | Path | LedgerFile,
        *,
        dataset: str,
        epsilon: float | None = None,
        delta: float | None = None,
        unit: str | None = None,
        part: str | None = None,
        no_person_in_two_parts: bool = False,
        strict: bool | None = None,
        heads: HeadFolder | str | Path | None = None,
    ) -> None:
        if not isinstance(path, LedgerFile):
            # Absolute: a worker process may stand in another folder.
            path = LedgerFile(
                Path(path).resolve(), heads if isinstance(heads, HeadFolder | None) else HeadFolder(heads)
            )
        self.file, self.path = path, path.path
        self.dataset = _checked_text("dataset", dataset)
        self.part = part if part is None else _checked_text("part", part)
        self.no_person_in_two_parts = bool(no_person_in_two_parts)
        if part is None and self.no_person_in_two_parts:
            raise ParameterError(
                "no_person_in_two_parts is said of a part; name it with part (--part), or leave it out"
            )
        if epsilon is not None:
            amount, own_unit = _checked_amount(epsilon), _checked_text("unit", unit or ROW)
            self._open_account(Budget(amount, check_delta(delta or 0.0), own_unit, bool(strict)), strict=strict)
        _check_given(self.last_account(), delta=delta, unit=unit, strict=strict)

    @property
    def spent(self) -> float:
        """The epsilon spent, at the budget's delta."""
        return self.account().spent(self.part)

    @property
    def left(self) -> float:
        """The epsilon left."""
        return self.account().left(self.part)

    def account(self) -> Account:
        """Read the file, and return the budget of this data set and all that was spent of it."""
        return self._account(self.file.entries())

    def last_account(self) -> Account:
        """Return the account as this object last read or wrote it, without reading the file again."""
        return self._account(self.file.last_read)

    def for_part(self, part: str, *, no_person_in_two_parts: bool = False) -> "Ledger":
        """Return the ledger of a part of this data set, disjoint from all other parts.

        To spend on it where the unit is not a row takes the statement that no person is in two parts.
        """
        return Ledger(self.file, dataset=self.dataset, part=part, no_person_in_two_parts=no_person_in_two_parts)

    def reserve(
        self,
        cost: Cost,
        *,
        unit: str = "row",
        what: str = "release",
        method: str = "not named",
        check: Callable[[Account], None] | None = None,
        **note: Any,
    ) -> Reservation:
        """Set ``cost`` aside, or raise BudgetExceeded; ``note`` holds further facts as plain JSON values.

        ``check`` may refuse by raising. It sees the account in the transaction that writes the reservation, so of two
        processes the second sees what the first has written.
        """
        entry, account = self._spend(RESERVED, cost, {**note, "what": what, "method": method}, unit=unit, check=check)
        return Reservation(self.file, self.dataset, cost, entry.number, strict=account.budget.strict)

    def add(self, epsilon: float, *, delta: float = 0.0, what: str, already_released: bool = False) -> None:
        """Record a release that was made outside of privet, at its cost for the budget's unit.

        One that would exceed the budget is refused, unless it was ``already_released``: then it counts all the same.
        """
        amount = math.inf if already_released and epsilon == math.inf else _checked_amount(epsilon)
        cost = Cost(amount, check_delta(delta))
        note = {"method": "outside of privet", "what": _checked_text("what", what)}
        self._spend(ADDED, cost, note, within_budget=not already_released)

    def __sklearn_clone__(self) -> Self:
        # scikit-learn copies parameters; a copied budget could be spent twice.
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _reopened, (
            str(self.path), self.dataset, self.part, self.file.head, self.no_person_in_two_parts, self.file.heads
        )  # fmt: skip

    def __repr__(self) -> str:
        part = f", part={self.part!r}" if self.part is not None else ""
        return f"Ledger({self.path.name!r}, dataset={self.dataset!r}{part})"

    def _open_account(self, budget: Budget, *, strict: bool | None) -> None:
        self.file.create()
        with self.file.transaction() as transaction:
            account = Account.find(transaction.entries, self.dataset)
            if account is None:
                check_own_look("an account", self.dataset, names_in(transaction.entries))
                transaction.append(BUDGET, {"dataset": self.dataset, **vars(budget)})
            elif account.budget != (budget if strict is not None else replace(budget, strict=account.budget.strict)):
                raise account.has_other_budget()

    def _account(self, entries: Sequence[Entry]) -> Account:
        account = Account.find(entries, self.dataset)
        if account is None:
            known = names_in(entries)
            alike = look_alike(self.dataset, known)
            close = [alike] if alike else difflib.get_close_matches(self.dataset, known, n=1)
            hint = f"did you mean {close[0]!r}?" if close else "if the rows are new, open one with `privet ledger init`"
            raise LedgerError(f"the ledger {self.path.name!r} has no account of {self.dataset!r}; {hint}")
        return account

    def _spend(
        self,
        kind: str,
        cost: Cost,
        note: dict[str, Any],
        *,
        unit: str | None = None,
        within_budget: bool = True,
        check: Callable[[Account], None] | None = None,
    ) -> tuple[Entry, Account]:
        """Write a cost down; return its entry and the account it stands in."""
        with self.file.transaction() as transaction:
            account = self._account(transaction.entries)
            if check is not None:
                check(account)
            account.check_unit(unit)
            account.check_part(self.part, no_person_in_two=self.no_person_in_two_parts)
            if kind == RESERVED:
                account.check_number()
            budget, expenses = account.budget, account.expenses
            if within_budget and not budget.allows([*expenses, Expense(cost, self.part)], self.part):
                raise BudgetExceeded(cost.epsilon, budget.left(expenses, self.part), self.dataset, cost.delta)
            stated = {} if self.part is None else {STATEMENT: self.no_person_in_two_parts}
            own = {"dataset": self.dataset, "part": self.part, **stated}
            return transaction.append(kind, {**with_cost(cost, note), **own}), account


def _reopened(
    path: str,
    dataset: str,
    part: str | None,
    seen: str,
    no_person_in_two_parts: bool = False,
    heads: HeadFolder | None = None,
) -> Ledger:
    """Return a pickled ledger: the same file, which must be there and hold all that was seen of it."""
    ledger = Ledger(path, dataset=dataset, part=part, no_person_in_two_parts=no_person_in_two_parts, heads=heads)
    ledger.file.check_has(seen)
    return ledger


def _check_given(account: Account, **given: Any) -> None:
    if any(value not in (None, getattr(account.budget, name)) for name, value in given.items()):
        raise account.has_other_budget()


def _checked_amount(epsilon: object) -> float:
    try:
        amount = math.nan if isinstance(epsilon, bool) or not isinstance(epsilon, Real) else float(epsilon)
    except OverflowError:  # a whole number beyond all floats
        amount = math.inf
    if not 0 < amount <= LARGEST_AMOUNT:
        raise ParameterError(
            f"epsilon={epsilon!r} is no amount; pass a number above 0 and of at most {LARGEST_AMOUNT:g}, such as 1.0"
        )
    return amount


def _checked_text(name: str, text: object) -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > _MAX_TEXT or not text.isprintable():
        raise ParameterError(f"{name} must be a short printable text on one line; choose a name that stays")
    # Spellings that look alike are one name; as two, they would have two budgets.
    return unicodedata.normalize("NFKC", text).strip()
