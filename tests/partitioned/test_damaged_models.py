"""Models of parties with digits changed and a checksum that fits: an error, or a model that works."""

import json

import numpy as np
import pytest

from privet import HorizontalForest, VerticalForest, load
from privet.errors import PrivetError
from privet.model_file import VERSION, checksum
from tests.contracts.test_damaged_files import with_other_digits
from tests.partitioned.parties import parties, released, released_columns, roster_of, split_structure, structure, table

CASES = 300
# The last row is known to one party alone, of those that hold columns.
ROWS = table(5)[0]
ROWS.loc[4, ["age", "pay"]] = np.nan


def horizontal(folder):
    holders, agreed = parties(folder), structure(0.5, n_trees=2, height=1)
    return HorizontalForest.combine(agreed, roster_of(holders), released(holders, agreed))


def vertical(folder):
    holders, agreed = parties(folder), split_structure(0.5, n_trees=2, height=1)
    return VerticalForest.combine(agreed, roster_of(holders), released_columns(holders, agreed))


@pytest.mark.parametrize("make", [horizontal, vertical])
def test_a_damaged_model_is_refused_or_predicts(make, tmp_path):
    body = {"format": "privet-model", "version": VERSION, **make(tmp_path).to_document()}
    content, rng, outcomes = json.dumps(body).encode(), np.random.default_rng(2), {"refused": 0, "predicts": 0}
    for _ in range(CASES):
        try:
            changed = json.loads(with_other_digits(content, rng))
        except ValueError:
            continue
        (tmp_path / "m.privet").write_text(json.dumps({**changed, "checksum": checksum(changed)}))
        try:
            model = load(tmp_path / "m.privet")
        except PrivetError:
            outcomes["refused"] += 1
            continue
        assert np.isfinite(model.predict_proba(ROWS)).all()
        outcomes["predicts"] += 1
    assert min(outcomes.values()) > 5, outcomes
