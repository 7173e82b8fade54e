"""Parts of a round that were changed, and stay well-formed."""

import json

import pytest

from privet.errors import PartyError
from privet.partitioned import Structure
from privet.partitioned.secure_sum.store import SumStore
from tests.partitioned.parties import structure
from tests.partitioned.sums import messages, parties_of, prepare, terms_of


@pytest.mark.parametrize("price", ["9" * 650, "9" * 650 + "/7"])
def test_a_price_beyond_all_numbers_is_refused(price):
    with pytest.raises(PartyError, match="is damaged: its epsilon is larger than any number"):
        Structure.from_json({**structure(0.5).to_json(), "epsilon": price})


def test_stored_masked_counts_without_their_keys_are_not_sent(tmp_path):
    terms = terms_of()
    holders = parties_of(terms, tmp_path)
    prepare(holders)
    keys, masked = messages(holders)
    stored = SumStore(tmp_path / "bank" / f"sum-{terms.hash}")
    changed = {key: value for key, value in json.loads(masked["bank"]).items() if key != "keys"}
    stored.keep_message("masked", 1, json.dumps(changed).encode())
    with pytest.raises(PartyError, match="has sent its masked counts of attempt 1 with other keys"):
        holders["bank"].masked_message(1, keys)
