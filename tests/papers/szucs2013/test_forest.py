import pytest

from papers.szucs2013 import forest, mirrors, plain_forest, sibling, votes
from papers.szucs2013.forest import FINDINGS, cells


def test_disguised_records_still_tell_the_class(small_split):
    (line,) = forest.measure("adult", 5, 0.8, 0)
    found = dict(zip(FINDINGS, line, strict=True))
    assert found["auc"] > 0.7
    assert found["auc_disguised_label"] > 0.7
    assert 0.5 < found["attacker_recovers"] <= 1
    assert found["anonymity"] == pytest.approx(small_split.coding.anonymity(0.8), abs=1e-4)


def test_without_disguise_all_lies_open_and_nothing_is_to_ignore(small_split):
    (line,) = forest.measure("adult", 5, 1.0, 0)
    found = dict(zip(FINDINGS, line, strict=True))
    assert found["attacker_recovers"] == 1
    assert found["auc"] == found["auc_disguise_ignored"] == found["auc_disguised_label"]


@pytest.mark.parametrize("given", [plain_forest.BITS, plain_forest.ATTRIBUTES])
def test_a_plain_forest_is_tried_on_bits_and_on_attributes(small_split, given):
    found = dict(plain_forest.measure("adult", 5, given, 100))
    assert list(found) == [plain_forest.MEAN, plain_forest.MAJORITY]
    assert all(0.7 < area <= 1 for area in found.values())


def test_one_tree_that_votes_has_two_scores_and_so_a_smaller_area(small_split):
    found = dict(plain_forest.measure("adult", 1, plain_forest.BITS, 100))
    assert found[plain_forest.MAJORITY] < found[plain_forest.MEAN]


@pytest.mark.parametrize("theta", [1.0, 0.8])
def test_the_same_trees_vote_in_both_ways(small_split, theta):
    found = dict(votes.measure("adult", 5, theta, 100, 0))
    assert list(found) == [votes.MEAN, votes.MAJORITY]
    assert 0.6 < found[votes.MAJORITY] <= 1
    assert 0.6 < found[votes.MEAN] <= 1


def test_more_least_nodes_and_trees_are_tried_without_disguise_only():
    cells = list(votes.cells("full"))
    more = {(trees, least) for _, trees, _, least, _ in cells} - {(100, 100), (100, 2)}
    assert more == {*((100, least) for least in (10, 30, 300)), *((500, least) for least in (2, 10, 30, 100, 300))}
    assert {theta for _, trees, theta, least, _ in cells if (trees, least) in more} == {1.0}
    assert {run for *_, run in cells} == {0, 1, 2}


def test_the_sibling_learns_from_answers_with_a_local_epsilon(small_split):
    ((area,),) = sibling.measure("adult", 5, 30.0, 0)
    assert area > 0.7


def test_mirror_images_are_looked_for_among_the_records(small_split):
    ((records, different, mirrored),) = mirrors.measure("adult")
    assert records == 600
    bits = {tuple(line) for line in small_split.bits(small_split.train).tolist()}
    assert different == len(bits)
    flipped = [tuple(1 - bit for bit in line) for line in small_split.bits(small_split.train).tolist()]
    assert mirrored == sum(line in bits for line in flipped)


def test_quick_runs_leave_the_large_table_out():
    assert {table for table, *_ in cells("quick")} == {"adult"}
    assert len(list(cells("quick"))) == 5
    assert {run for *_, run in list(cells("full"))[:16]} == {0}
    for experiment in (forest, plain_forest, sibling, votes):
        assert {table for table, *_ in experiment.cells("quick")} == {"adult"}
