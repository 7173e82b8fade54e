"""The ledger's face: a budget for a data set, reserved before a row is read. The argument is in ledger.md."""

import difflib
import math
import unicodedata
from collections.abc import Callable, Sequence
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from privet.errors import BudgetExceeded, LedgerError, ParameterError
from privet.privacy.accounting import check_delta
from privet.privacy.ledger.account import Account, with_cost
from privet.privacy.ledger.bodies import ADDED, BUDGET, LARGEST_AMOUNT, RESERVED
from privet.privacy.ledger.book import Book, Entry
from privet.privacy.ledger.reservation import Reservation
from privet.privacy.ledger.spending import Budget, Cost, Expense
from privet.privacy.unit import ROW

if TYPE_CHECKING:
    from privet.privacy.ledger.shelf import Shelf

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
        A named part of the data set. No unit may be in two parts; of several parts the dearest counts.

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
        path: str | Path,
        *,
        dataset: str,
        epsilon: float | None = None,
        delta: float | None = None,
        unit: str | None = None,
        part: str | None = None,
    ) -> None:
        # Absolute: a worker process may stand in another folder.
        self.path = Path(path).resolve()
        self.dataset = _checked_text("dataset", dataset)
        self.part = part if part is None else _checked_text("part", part)
        # Where models lie until whoever fits has saved them; of a model that stays in memory there is nothing to keep.
        self.shelf: Shelf | None = None
        self._book = Book(self.path)
        self._seen: str | None = None
        if epsilon is not None:
            self._open_account(
                Budget(_checked_amount(epsilon), check_delta(delta or 0.0), _checked_text("unit", unit or ROW))
            )
        _check_given(self.account(), delta=delta, unit=unit)

    @property
    def spent(self) -> float:
        """The epsilon spent, at the budget's delta."""
        return self.account().spent(self.part)

    @property
    def left(self) -> float:
        """The epsilon left."""
        return self.account().left(self.part)

    def account(self) -> Account:
        """Return the budget of this data set and all that was spent of it."""
        return self._account(self._book.entries())

    def _check_same_file(self, entries: Sequence[Entry]) -> None:
        """Refuse a file that is not the one seen before, or has lost its end."""
        if self._seen is not None and self._seen not in {entry.hash for entry in entries}:
            raise LedgerError(
                f"the ledger {self.path.name!r} is no longer the file it was: an older copy was put back, or a new one "
                "made; find the one that is missing, and what happened"
            )
        self._seen = entries[-1].hash

    def for_part(self, part: str) -> "Ledger":
        """Return the ledger of a part of this data set, disjoint from all other parts."""
        return Ledger(self.path, dataset=self.dataset, part=part)

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
        """Set ``cost`` aside, or raise BudgetExceeded; ``note`` says in plain JSON values what else there is to say.

        What ``check`` raises refuses it: it sees the account in the turn in which the reservation is written, so that
        of two processes, the second finds what the first has written.
        """
        entry = self._spend(RESERVED, cost, {**note, "what": what, "method": method}, unit=unit, check=check)
        if self.shelf is not None:
            self.shelf.begin(entry.hash)
        return Reservation(self._book, self.dataset, cost, entry.number)

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
        return _reopened, (str(self.path), self.dataset, self.part, self._seen)

    def __repr__(self) -> str:
        part = f", part={self.part!r}" if self.part is not None else ""
        return f"Ledger({self.path.name!r}, dataset={self.dataset!r}{part})"

    def _open_account(self, budget: Budget) -> None:
        self._book.create()
        with self._book.writing() as page:
            account = Account.find(page.entries, self.dataset)
            if account is None:
                page.append(BUDGET, {"dataset": self.dataset, **vars(budget)})
            elif account.budget != budget:
                raise _other_budget(account)

    def _account(self, entries: Sequence[Entry]) -> Account:
        self._check_same_file(entries)
        account = Account.find(entries, self.dataset)
        if account is None:
            known = [entry.body["dataset"] for entry in entries if entry.kind == BUDGET]
            close = difflib.get_close_matches(self.dataset, known, n=1)
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
    ) -> Entry:
        with self._book.writing() as page:
            account = self._account(page.entries)
            if check is not None:
                check(account)
            _check_unit(account, unit)
            expenses = account.expenses
            if within_budget and not account.budget.allows([*expenses, Expense(cost, self.part)], self.part):
                raise BudgetExceeded(cost.epsilon, account.budget.left(expenses, self.part), self.dataset, cost.delta)
            return page.append(kind, {**with_cost(cost, note), "dataset": self.dataset, "part": self.part})


def _reopened(path: str, dataset: str, part: str | None, seen: str) -> Ledger:
    """Return a pickled ledger: the same file, which must be there."""
    ledger = Ledger(path, dataset=dataset, part=part)
    ledger._seen = seen  # noqa: SLF001 - of its own class
    ledger.account()
    return ledger


def _check_given(account: Account, **given: Any) -> None:
    if any(value not in (None, getattr(account.budget, name)) for name, value in given.items()):
        raise _other_budget(account)


def _other_budget(account: Account) -> LedgerError:
    budget = account.budget
    return LedgerError(
        f"the budget of {account.dataset!r} is already set: epsilon={budget.epsilon:g}, delta={budget.delta:g}, unit "
        f"{budget.unit!r}; it never changes: use it as it is, or name another data set"
    )


def _check_unit(account: Account, unit: str | None) -> None:
    if unit not in (None, account.budget.unit):
        raise LedgerError(
            f"the budget of {account.dataset!r} protects each {account.budget.unit}, this release each {unit}, and the "
            "two do not add up; set unit alike, or open another account"
        )


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
