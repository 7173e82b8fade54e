"""Subset selection: chances counted by hand, a plain twin, the laws it follows, and its rivals by formula."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from scipy.stats import chisquare

from benchmarks.local.frequency_oracles import RIVALS
from privet.errors import ParameterError
from privet.local.channels.sampling.subset_selection import SubsetSelection, best_size, mean_variance
from tests.local.channels.sampling.test_lots import plain_lots, words_for

EPSILONS = [0.01, 0.1, 0.5, 1.0, 2.0, 4.0, 8.0, 20.0]
CELLS = [2, 3, 5, 16, 44, 300, 5_000]


def exact_chances(selection, true):
    """Return the chance of every set of cells, by counting."""
    kept, cells, size = Fraction(selection.keep), selection.cells, selection.size
    into, out_of = math.comb(cells - 1, size - 1), math.comb(cells - 1, size)
    sets = combinations(range(cells), size)
    return {own: kept / into if true in own else (1 - kept) / out_of for own in sets}


def variance_of(selection):
    return mean_variance(selection.cells, *selection.chances)


def random_words(n_rows, n_words, seed=3):
    return np.random.default_rng(seed).integers(0, 2**64, (n_rows, n_words), dtype=np.uint64)


def test_by_hand_two_of_four_cells_at_three_quarters():
    selection = SubsetSelection(4, 2, 0.75)
    # With the true cell: 3 sets at 1/4 each; without it: 3 sets at 1/12 each.
    assert selection.local_epsilon == pytest.approx(math.log(3), rel=1e-11)
    assert selection.chances == (0.75, (2 - 0.75) / 3)
    p, q = selection.chances
    assert variance_of(selection) == pytest.approx((p * (1 - p) + 3 * q * (1 - q)) / (4 * (p - q) ** 2))
    first = 0.75 * 2**64
    words = [[int(first) - 1, 0, 0], [int(first), 0, 0], [0, 1 + 3 * 1, 0]]
    # Others of cell 1 are 0, 2, 3; steps (0, 0) draw 0 and 2, steps (1, 1) draw 2 and then 3.
    sent = selection.draw(np.array([1, 1, 1]), words_for(words)).tolist()
    assert sent == [[0, 1], [0, 2], [1, 2]]


@pytest.mark.parametrize(("cells", "size"), [(2, 1), (4, 2), (5, 2), (6, 5)])
def test_epsilon_is_the_largest_ratio_of_exact_chances(cells, size):
    selection = SubsetSelection.of_epsilon(cells, 1.3, size)
    chances = [exact_chances(selection, true) for true in range(cells)]
    assert all(sum(own.values()) == 1 for own in chances)
    largest = max(one[own] / other[own] for one in chances for other in chances for own in one)
    assert math.log(largest) <= selection.local_epsilon <= math.log(largest) * (1 + 1e-11)
    p = sum(chance for own, chance in chances[0].items() if 0 in own)
    q = sum(chance for own, chance in chances[0].items() if 1 in own)
    assert selection.chances == (float(p), float(q))


@pytest.mark.parametrize("epsilon", [1e-9, 1e-4, *EPSILONS, 30.0])
@pytest.mark.parametrize("cells", CELLS)
def test_the_epsilon_asked_for_is_nearly_spent_and_never_exceeded(cells, epsilon):
    selection = SubsetSelection.of_epsilon(cells, epsilon)
    assert selection.local_epsilon <= epsilon
    assert selection.local_epsilon >= epsilon * (1 - 1e-10) - 2e-15 * cells - 1e-15 * math.exp(epsilon)


@pytest.mark.parametrize("epsilon", [1e-4, *EPSILONS])
@pytest.mark.parametrize("cells", [*CELLS, 2**16])
def test_the_epsilon_is_not_exceeded_by_a_size_of_ones_own(cells, epsilon):
    for size in {1, cells // 2, cells - 1}:
        assert SubsetSelection.of_epsilon(cells, epsilon, size).local_epsilon <= epsilon


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("cells", CELLS)
def test_no_rival_has_a_smaller_variance(cells, epsilon):
    own = variance_of(SubsetSelection.of_epsilon(cells, epsilon))
    for name, rival in RIVALS.items():
        assert own <= rival.best(cells, epsilon).variance(np.full(cells, 1 / cells)) * (1 + 1e-6), name


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_the_size_is_the_best_of_all(epsilon):
    for cells in (2, 7, 40):
        variances = [variance_of(SubsetSelection.of_epsilon(cells, epsilon, size)) for size in range(1, cells)]
        assert variances[best_size(cells, epsilon) - 1] == pytest.approx(min(variances), rel=1e-9)


def plain_draw(selection, true, words):
    others = [cell for cell in range(selection.cells) if cell != true]
    sent = [others[lot] for lot in plain_lots(len(others), selection.size, words[1:])]
    if words[0] < int(Fraction(selection.keep) * 2**64):
        sent[-1] = true
    return sorted(sent)


@pytest.mark.parametrize(("cells", "epsilon"), [(2, 1.0), (10, 1.0), (200, 0.3), (1_000, 5.0)])
def test_sent_cells_are_those_of_the_plain_twin(cells, epsilon):
    selection = SubsetSelection.of_epsilon(cells, epsilon)
    words, true = random_words(150, 60), np.random.default_rng(4).integers(0, cells, 150)
    sent = selection.draw(true, words_for(words.tolist()))
    assert sent.tolist() == [
        plain_draw(selection, c, own) for c, own in zip(true.tolist(), words.tolist(), strict=True)
    ]


def sets_sent(selection, true, n_rows, *, others_first=False):
    words = random_words(n_rows, 8, seed=5)
    sent = selection.draw(np.full(n_rows, true), lambda n: words[:, :n])
    if others_first:  # a planted fault: the swap never takes the last of the others
        sent = np.where(sent == selection.cells - 1, 0, sent)
    return sent


def p_value(selection, sent, believed):
    chances = exact_chances(believed, 2)
    places = {own: i for i, own in enumerate(chances)}
    counts = np.bincount([places.get(tuple(sorted(set(line))), 0) for line in sent.tolist()], minlength=len(chances))
    return chisquare(counts, [float(chance) * len(sent) for chance in chances.values()]).pvalue


def test_sets_follow_the_exact_law_and_no_other():
    selection, n_rows = SubsetSelection.of_epsilon(6, 1.0, 3), 60_000
    sent = sets_sent(selection, 2, n_rows)
    assert p_value(selection, sent, selection) > 1e-6
    assert p_value(selection, sent, SubsetSelection(6, 3, selection.keep * 1.03)) < 1e-6
    assert p_value(selection, sets_sent(selection, 2, n_rows, others_first=True), selection) < 1e-6


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((4, 0, 0.5), "size=0 must be a whole number from 1, below the number of cells"),
        ((4, 4, 0.5), "size=4 must be"),
        ((2**16 + 1, 1, 0.5), "ask about fewer values at a time"),
        ((True, 1, 0.5), "must be a whole number"),
        ((4, 2, 0.5), "with a chance above 2/4 and below 1; change keep=0.5"),
        ((4, 2, 1), "below 1; change keep=1"),
        ((4, 2, math.nan), "change keep=nan"),
        ((4, 2, "0.6"), "change keep='0.6'"),
    ],
)
def test_an_impossible_lottery_is_refused(values, message):
    with pytest.raises(ParameterError, match=message.replace("(", r"\(")):
        SubsetSelection(*values)


def test_a_size_that_sends_every_cell_is_refused():
    with pytest.raises(ParameterError, match="size=4 must be a whole number from 1, below the number of cells"):
        SubsetSelection.of_epsilon(4, 1.0, 4)


@pytest.mark.parametrize("epsilon", [1e-10, 31.0])
def test_an_epsilon_that_tells_or_hides_nothing_is_refused(epsilon):
    with pytest.raises(ParameterError, match="the epsilon of a question"):
        SubsetSelection.of_epsilon(4, epsilon)
