"""Whether real fits with a second stage have the density that the promise is about: the mean of f'/f over them is 1.

Real fits are drawn, and what they drew is looked up in the laws of both neighbours, release by release
(tests/privacy/replay.py). If one of them drew by another law, the mean would not be 1; a planted fault shows it.
"""

import numpy as np
import pytest

from privet import Categorical, Numeric, Schema
from privet.central.weights.knots import with_cells
from privet.central.weights.noise_groups import NoiseGroups
from privet.central.weights.objective_noise import ObjectiveNoise
from privet.central.weights.policy import Overrides, Policy
from privet.central.weights.trees import Trees
from privet.privacy.mechanisms.linear_noise import LinearNoise
from tests.privacy.replay import Recorded, Recorder, Replay, all_paid
from tests.statistical.test_density_of_fits import deviations_from_one

EPSILON, N_FITS = 3.0, 250
SCHEMA = Schema(
    [Numeric("age", 0, 8, never_missing=True), Categorical("job", ["nurse", "clerk"])], classes=["no", "yes"], rows=400
)
# Many rows in each cell, and a row that contradicts its own. Numbers in four bins are soft in both stages.
N_BINS = 4
LAST = with_cells(SCHEMA, N_BINS).attributes[0].n_values - 1
LOW, HIGH = LAST // 3, 3 * LAST // 4
ROWS = [((LOW, 0), 0)] * 110 + [((HIGH, 1), 1)] * 120 + [((LOW, 1), 1)] * 90 + [((HIGH, 0), 0)] * 80
ROW = ((LOW, 0), 1)


def ratios(table, *, n_fits):
    """Return log f without the row / f with it of so many real fits to a table, for each release, and what was paid."""
    policy, logs, paid = Policy(SCHEMA, EPSILON, 400, Overrides(n_bins=N_BINS, n_attributes=2)), [], []
    assert policy.is_soft
    for _ in range(n_fits):
        with pytest.MonkeyPatch.context() as patched:
            outputs = Recorder(policy).patch(patched).drawn(table)
        with pytest.MonkeyPatch.context() as patched:
            steps, receipts = Replay(policy).patch(patched).played(ROWS, [ROW], Recorded(outputs))
        assert len(steps) == len(outputs)
        assert steps[-1].what == "last digits of leaf weights of the second stage"
        logs.append([step.told for step in steps])
        paid.append(all_paid(receipts))
    return np.array(logs), max(paid)


@pytest.mark.slow
@pytest.mark.parametrize("with_row", [False, True])
def test_the_mean_ratio_of_fits_with_a_second_stage_is_one(with_row):
    logs, paid = ratios([*ROWS, ROW] if with_row else ROWS, n_fits=N_FITS)
    whole, last = logs.sum(axis=1), logs[:, -1]
    off, off_last = (deviations_from_one(each if with_row else -each) for each in (whole, last))
    print(
        f"\n{off:+.2f} s.e. from 1, the second fit {off_last:+.2f}; largest log {np.abs(whole).max():.3f} of {EPSILON}"
    )
    assert max(abs(off), abs(off_last)) < 5
    assert np.abs(whole).max() <= paid <= EPSILON


@pytest.mark.slow
def test_the_mean_ratio_tells_a_second_fit_without_noise(monkeypatch):
    draw = ObjectiveNoise.draw

    def silent(self, noise):
        drawn = draw(self, noise)
        return LinearNoise(0 * drawn.values, drawn.error) if self.trees.n_later else drawn

    monkeypatch.setattr(ObjectiveNoise, "draw", silent)
    logs, _ = ratios(ROWS, n_fits=40)
    assert abs(deviations_from_one(-logs[:, -1])) > 5  # so the test above would fail


def test_the_trees_of_the_first_stage_share_their_noise():
    policy = Policy(SCHEMA, EPSILON, 400, Overrides(n_bins=N_BINS, n_attributes=2))
    trees = Trees.of([[0], [1]], policy.cells, policy.knots(None, np.array([0.5, 0.5])))
    assert [len(group.trees) for group in NoiseGroups.of(trees.sizes, 2)] == [2]


def changed(monkeypatch, change):
    """Let the first fit draw other noise."""
    draw = ObjectiveNoise.draw

    def other(self, noise):
        drawn = draw(self, noise)
        if self.trees.n_later:
            return drawn
        return LinearNoise(np.vstack([change(own) for own in np.split(drawn.values, self.trees.starts[1:])]), 0.0)

    monkeypatch.setattr(ObjectiveNoise, "draw", other)


@pytest.mark.slow
def test_the_mean_ratio_tells_a_third_of_the_noise_in_the_first_fit(monkeypatch):
    changed(monkeypatch, lambda own: own / 3)
    logs, _ = ratios(ROWS, n_fits=N_FITS)
    off = deviations_from_one(-logs[:, 2])
    print(f"\n{off:+.1f} s.e. from 1")
    assert abs(off) > 5


@pytest.mark.slow
def test_a_first_fit_whose_trees_have_different_sums_is_seen_to_be_impossible(monkeypatch):
    signs = iter([1, -1] * 1000)
    changed(monkeypatch, lambda own: own * next(signs))
    with pytest.raises(AssertionError, match="no noise leads here"):
        ratios(ROWS, n_fits=5)
