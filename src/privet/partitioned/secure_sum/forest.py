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
from privet.partitioned.secure_sum.messages import check_attempt, read_keys, read_masked
from privet.partitioned.secure_sum.terms import Terms
from privet.partitioned.structure import Structure
from privet.privacy.events import Event, NoiseShares, NoNoise
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
    def open(
        cls, terms: Terms, attempt: int, key_messages: Mapping[str, bytes], masked_messages: Mapping[str, bytes]
    ) -> Self:
        """Return the forest of the sum. All messages of both kinds are needed, and each is checked."""
        structure = terms.structure
        assert isinstance(structure, Structure)  # noqa: S101 - other sums are opened by their own models
        counts = opened_counts(terms, attempt, key_messages, masked_messages)
        return cls._of_structure(structure, list(terms.roster.names), counts, terms.receipt)

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
            and release.honest <= release.parties == len(self.party_names)
        )


def opened_counts(
    terms: Terms, attempt: int, key_messages: Mapping[str, bytes], masked_messages: Mapping[str, bytes]
) -> NDArray[np.int64]:
    """Return the noisy sum, in the shape of its structure. All messages of both kinds are needed; each is checked."""
    attempt = check_attempt(attempt)
    keys = read_keys(key_messages, terms, attempt)
    noisy_counts = read_masked(masked_messages, terms, attempt, keys).astype(np.uint64).view(np.int64)
    # Without abs, which leaves the smallest integer negative.
    if noisy_counts.max(initial=0) > MAX_COUNT or noisy_counts.min(initial=0) < -MAX_COUNT:
        raise PartyError("the result is not a sum of counts: a party sent something else; nothing is kept of it")
    return noisy_counts.reshape(terms.structure.shape)


def honesty(shares: NoiseShares) -> str:
    """Return what the epsilon of a sum with shared noise assumes about its parties."""
    if shares.honest == shares.parties:
        return f"all {shares.parties} parties followed the protocol, and none uses its own noise against another"
    return f"at least {shares.honest} of the {shares.parties} parties followed the protocol and did not collude"
