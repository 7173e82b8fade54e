"""Parties of a secure sum over a small table, split by row."""

import math

from privet.datasets import agrawal
from privet.partitioned import Party, PrivateKey, Roster, Structure, SumParty, Terms
from privet.partitioned.secure_sum.messages import kinds_of

NAMES = ("bank", "clinic", "mill", "school")
TEN = ("bank", "clinic", "dairy", "forge", "guild", "mill", "quarry", "school", "tavern", "yard")


def table_of(name, n_rows=300):
    return agrawal(n_rows, function=1, random_state=sum(map(ord, name)))


def structure_of(**changes):
    settings = {"epsilon": 1.0, "n_trees": 3, "height": 2, "round_": "spring", "random_state": 7}
    return Structure.draw(table_of("bank").schema, **(settings | changes))


def keys_of(names=NAMES):
    """Keys that are the same in every test: they are public here, and protect nobody."""
    return {name: PrivateKey(name, name.encode().ljust(32, b".")) for name in names}


def terms_of(structure=None, *, honest=None, names=NAMES, dropouts=0):
    roster = Roster([key.public for key in keys_of(names).values()])
    return Terms(structure or structure_of(), roster, honest, dropouts)


def parties_of(terms, folder, *, ledgers=None):
    keys = keys_of(terms.roster.names)
    return {
        name: SumParty(
            Party(key, store=folder / name, ledger=(ledgers or {}).get(name), epsilon=math.inf, n_jobs=1), terms
        )
        for name, key in keys.items()
    }


def prepare(parties, *, noise=lambda: None, n_rows=300):
    for name, party in parties.items():
        data = table_of(name, n_rows)
        party.prepare(data.X, data.y, noise=noise())


def messages(parties, attempt=1):
    """Both messages of all parties."""
    keys = {name: party.key_message(attempt) for name, party in parties.items()}
    return keys, {name: party.masked_message(attempt, keys) for name, party in parties.items()}


def conversation(parties, attempt=1, *, until=None, silent=None):
    """The messages of an attempt, kind by kind, up to the kind ``until``.

    ``silent`` names who says nothing from which kind on.
    """
    terms, seen, silenced = next(iter(parties.values())).terms, {}, set()
    for kind in kinds_of(terms):
        silenced |= set((silent or {}).get(kind, ()))
        heard = {name: party for name, party in parties.items() if name not in silenced}
        seen[kind] = {name: party.message(kind, attempt, seen) for name, party in heard.items()}
        if kind == until:
            break
    return seen
