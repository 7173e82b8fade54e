"""Both rounds of a secure sum, one after the other. The second follows from what the first has opened."""

from collections.abc import Callable
from typing import Any

from privet.errors import LedgerError
from privet.partitioned.party import Party
from privet.partitioned.secure_sum.round import Exchange, SumParty
from privet.partitioned.secure_sum.terms import Terms
from privet.partitioned.tables.table_forest import TableForest


def run(
    party: Party,
    terms: Terms,
    X: Any,
    y: Any = None,
    *,
    exchange: Callable[[Terms], Exchange],
    attempt: int = 1,
    again: bool = False,
    first: Callable[[TableForest], None] = lambda _: None,
) -> TableForest:
    """Return the model of both rounds.

    Parameters
    ----------
    party : Party
        Its key, its store and its ledger.
    terms : Terms
        Those of the first round.
    X, y
        The party's rows and labels, or a file that has both. Each round reads them once, unless it has done so before.
    exchange : function
        Makes what carries the messages of one round's terms.
    attempt : int
        The same for all parties and both rounds. After an abort all run the next one: a round that was opened opens the
        same sum again, and costs nothing.
    again : bool
        As in `SumParty.prepare`.
    first : function
        Called with the model of the first round, which is valid by itself if the second fails.
    """
    check_budget(party, terms)
    model = _run_one(SumParty(party, terms), X, y, exchange(terms), attempt, again=again)
    first(model)
    following = following_terms(model, terms)
    return _run_one(SumParty(party, following), X, y, exchange(following), attempt, again=again)


def following_terms(model: TableForest, terms: Terms) -> Terms:
    """Return the terms of the second round: the same parties, honest ones and dropouts."""
    return Terms(model.next_round, terms.roster, terms.honest, terms.dropouts)


def _run_one(party: SumParty, X: Any, y: Any, exchange: Exchange, attempt: int, *, again: bool) -> TableForest:
    # A crash loses the noised counts of one round at most: of the other there is nothing to spend again.
    party.prepare(X, y, again=again)
    return TableForest.open(party.terms, attempt, *party.exchange(attempt, exchange))


def check_budget(party: Party, terms: Terms) -> None:
    """Refuse before the first round what the ledger has not enough for in both."""
    party.check_structure(terms.structure)
    if party.ledger is None or SumParty(party, terms).has_paid:
        return
    total, left = terms.structure.total_epsilon, party.ledger.left
    if total > left:
        raise LedgerError(
            f"both rounds cost epsilon={total!r} and {left!r} is left in the ledger; agree on a structure with less"
        )
