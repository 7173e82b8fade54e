"""The out-of-bag error, of clear rows and through the channel."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from privet.local.response_forest.bit_trees import Bag
from privet.local.response_forest.response_growth import out_of_bag, signed_auc
from privet.schema import Numeric
from privet.tree.forest import LEAF, Forest

# Two trees of one test each: on bit 0 and on bit 1; a 1 votes for class 1 with 3 of 4 votes.
ATTRIBUTES = [Numeric("a:0", 0, 1, bins=2), Numeric("a:1", 0, 1, bins=2)]
NODES = np.array([0, 1, LEAF, LEAF, LEAF, LEAF], dtype=np.int32)
FOREST = Forest.from_nodes(NODES, np.where(NODES == LEAF, -1, 0).astype(np.int32), 2, ATTRIBUTES)
WEIGHTS = np.array([[0, 0], [0, 0], [3, 1], [1, 3], [3, 1], [1, 3]])


def bag(*rows):
    return Bag(np.array(rows, dtype=np.int64), np.ones(len(rows), dtype=np.int64), np.uint64(0))


def judged(bits, labels, bags, keep=1.0, *, flips_label=False):
    bits, labels = np.array(bits, dtype=np.uint8), np.array(labels)
    return out_of_bag(FOREST, WEIGHTS, bits, labels, bags, keep=keep, flips_label=flips_label, n_jobs=2)


def test_a_row_is_judged_by_the_trees_that_did_not_see_it():
    # Row 0 is judged by both trees, row 1 by the second, row 2 by the first, row 3 by none.
    bits, labels = [[1, 1], [1, 0], [0, 1], [0, 0]], [1, 1, 1, 1]
    found = judged(bits, labels, [bag(1, 3), bag(2, 3)])
    assert found.error == pytest.approx(2 / 3)
    assert np.isnan(found.auc)
    assert np.isnan(judged(bits, labels, [bag(0, 1, 2, 3), bag(0, 1, 2, 3)]).error)


def test_mirror_images_are_judged_too_and_taken_off():
    # theta 3/4: the given row is wrong and counts 1.5, its mirror image right and counts -.5.
    assert judged([[1, 1]], [0], [bag(), bag()], 0.75).error == pytest.approx(1.5)
    # With a flipped label the mirror image is wrong too.
    assert judged([[1, 1]], [0], [bag(), bag()], 0.75, flips_label=True).error == pytest.approx(1.0)


@pytest.mark.parametrize("flips_label", [False, True])
def test_the_error_of_clear_rows_is_estimated_from_disguised_ones(flips_label):
    rng = np.random.default_rng(3)
    n, keep = 40_000, 0.75
    bits = rng.integers(2, size=(n, 2), dtype=np.uint8)
    bits[:, 1] = bits[:, 0]
    labels = bits[:, 0] ^ (rng.random(n) < 0.2)
    flipped = (rng.random(n) >= keep).astype(np.uint8)
    given = labels ^ flipped if flips_label else labels
    found = judged(bits ^ flipped[:, None], given, [bag(), bag()], keep, flips_label=flips_label)
    clear = judged(bits, labels, [bag(), bag()])
    assert found.error == pytest.approx(clear.error, abs=6 * np.sqrt(0.75 / n))
    assert found.auc == pytest.approx(clear.auc, abs=0.03)
    if not flips_label:  # what answers look like when their channel is ignored
        assert judged(bits ^ flipped[:, None], given, [bag(), bag()]).error > clear.error + 0.1


def test_the_area_of_rows_that_count_once_is_the_usual_one():
    rng = np.random.default_rng(1)
    scores, positive = rng.integers(9, size=300) / 9, rng.random(300) < 0.4
    assert signed_auc(scores, positive, np.ones(300)) == pytest.approx(roc_auc_score(positive, scores))
    # A row that counts once and once less than not at all is not there.
    doubled = np.concatenate([scores, [0.3, 0.3]])
    with_both = signed_auc(doubled, np.append(positive, [True, True]), np.append(np.ones(300), [1.0, -1.0]))
    assert with_both == pytest.approx(roc_auc_score(positive, scores))
    assert np.isnan(signed_auc(scores, np.zeros(300, dtype=bool), np.ones(300)))
