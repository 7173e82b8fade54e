"""A forest of parties who hold different rows: only the sum of their counts is opened.

The sum has about the noise of one curator, since each party adds a share of it. The argument is in forest.md.
"""

from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import NDArray

from privet.central.receipts import unwrapped
from privet.errors import PartyError
from privet.model_file import MAX_COUNT
from privet.partitioned.horizontal import PartyForest, one_party_each
from privet.partitioned.secure_sum.messages import KEY, MASKED, check_attempt, kinds_of, read_keys, read_masked
from privet.partitioned.secure_sum.survivors import open_survivors
from privet.partitioned.secure_sum.terms import Terms, honest_range
from privet.partitioned.structure import Structure
from privet.privacy.events import Event, NoiseShares, NoNoise, SurvivingNoiseShares
from privet.privacy.mechanisms.deviation import standard_deviation
from privet.schema import Schema
from privet.tree.counted import CountedForest
from privet.tree.forest import Forest


class SecureSumForest(PartyForest):
    """Random trees counted by parties who hold different rows. Nobody sees the counts of a single party.

    Make one with `SumParty.run`, or with `open` from the messages of all parties, or `load` its file.

    Attributes
    ----------
    parties : list of str
        The parties whose counts are included.
    guarantee_, forest_, noisy_counts_, classes_, schema_
        As in `PrivateRDTClassifier`.
    """

    method = "secure-sum-forest"

    @classmethod
    def open(cls, terms: Terms, attempt: int, *messages: Mapping[str, bytes]) -> Self:
        """Return the forest of the sum; ``messages`` are as `opened_counts` takes them."""
        structure = terms.structure
        assert isinstance(structure, Structure)  # noqa: S101 - other sums are opened by their own models
        counted, counts = opened_counts(terms, attempt, *messages)
        return cls._of_structure(structure, counted, counts, terms.receipt(len(counted)))

    def _counted(self, forest: Forest, noisy_counts: NDArray[np.int64], event: Event, schema: Schema) -> CountedForest:  # noqa: ARG002
        return CountedForest.of_leaves(forest, noisy_counts, standard_deviation(event) ** 2)

    def _assumptions(self, event: Event) -> list[str]:
        release = unwrapped(event)
        return [one_party_each(self._unit()), *([honesty(release)] if isinstance(release, NoiseShares) else [])]

    def _is_receipt(self, event: Event, forest: Forest, schema: Schema) -> bool:  # noqa: ARG002 - other methods use it
        release = unwrapped(event)
        return isinstance(release, NoNoise) or (
            isinstance(release, NoiseShares)
            and release.sensitivity == forest.n_trees * self._unit().max_rows
            and release.parties == len(self.party_names)
            and is_possible(release)
        )


def is_possible(shares: NoiseShares) -> bool:
    """Return whether terms allow these numbers, and so many could be counted."""
    if not isinstance(shares, SurvivingNoiseShares):
        return 1 <= shares.honest <= shares.parties
    least, most = honest_range(shares.dropouts, shares.roster)
    return least <= shares.honest <= most and shares.roster - shares.dropouts <= shares.parties <= shares.roster


def opened_counts(terms: Terms, attempt: int, *messages: Mapping[str, bytes]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the parties that are counted and the noisy sum, in the shape of its structure.

    Parameters
    ----------
    terms : Terms
    attempt : int
    messages
        By party, one mapping for each kind of `kinds_of` the terms: key and masked messages of all parties, or key,
        shares, masked, survivors and unmask messages where some may vanish. Each message is checked.
    """
    attempt = check_attempt(attempt)
    seen = dict(zip(kinds_of(terms), messages, strict=True))
    if terms.dropouts:
        counted, total = open_survivors(terms, attempt, seen)
    else:
        counted = list(terms.roster.names)
        total = read_masked(seen[MASKED], terms, attempt, read_keys(seen[KEY], terms, attempt))
    noisy_counts = total.astype(np.uint64).view(np.int64)
    # Without abs, which leaves the smallest integer negative.
    if noisy_counts.max(initial=0) > MAX_COUNT or noisy_counts.min(initial=0) < -MAX_COUNT:
        raise PartyError("the result is not a sum of counts: a party sent something else; nothing is kept of it")
    return counted, noisy_counts.reshape(terms.structure.shape)


def honesty(shares: NoiseShares) -> str:
    """Return what the epsilon of a sum with shared noise assumes about its parties."""
    if isinstance(shares, SurvivingNoiseShares):
        return (
            f"at least {shares.honest + shares.dropouts} of the {shares.roster} parties, of which {shares.parties} are "
            "counted, followed the protocol until they vanished, if they did, and did not collude"
        )
    if shares.honest == shares.parties:
        return f"all {shares.parties} parties followed the protocol, and none uses its own noise against another"
    return f"at least {shares.honest} of the {shares.parties} parties followed the protocol and did not collude"
