"""Lots are drawn exactly uniformly: every word counted in a small world, and a plain twin in the large one."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pytest

from privet.local.channels.sampling import subset_selection as lots
from privet.local.channels.sampling.subset_selection import Lots


def plain_lots(n_lots, drawn, words):
    """Return one person's lots from a stream of words, as the argument has it."""
    urn, found, words = list(range(n_lots)), [], iter(words)
    while len(found) < drawn:
        bounds, outcomes = [], 1
        while len(found) + len(bounds) < drawn and outcomes * (n_lots - len(found) - len(bounds)) <= 2**48:
            bounds.append(n_lots - len(found) - len(bounds))
            outcomes *= bounds[-1]
        word = next(word for word in words if word < 2**64 // outcomes * outcomes)
        for bound in bounds:
            word, step = divmod(word % outcomes, bound)
            outcomes //= bound
            j = len(found)
            urn[j], urn[j + step] = urn[j + step], urn[j]
            found.append(urn[j])
    return found


def words_for(table):
    """Return what gives the first words of each line."""
    return lambda n: np.array([line[:n] for line in table], dtype=np.uint64)


@pytest.mark.parametrize(("n_lots", "drawn"), [(2, 1), (7, 7), (19, 5), (300, 12), (5_000, 3), (1, 1)])
def test_lots_are_those_of_the_plain_twin(n_lots, drawn):
    words = np.random.default_rng(1).integers(0, 2**64, (200, 40), dtype=np.uint64).tolist()
    found = Lots(n_lots, drawn).draw(words_for(words))
    assert found.tolist() == [plain_lots(n_lots, drawn, own) for own in words]


def test_words_at_the_end_of_the_range_are_passed_over():
    last, usual = 2**64 - 1, 12345678901234567
    words = [
        [usual, 1, 2, 3, 4, 5],
        [last, usual, 1, 2, 3, 4],
        [last, last, last, usual, 1, 2],
        [usual, last, 1, 2, 3, 4],
    ]
    found = Lots(1_000, 7).draw(words_for(words)).tolist()
    assert found == [plain_lots(1_000, 7, own) for own in words]
    assert found[0] == found[1] == found[2]


def test_in_a_world_of_few_words_every_draw_has_as_many(monkeypatch):
    monkeypatch.setattr(lots, "_WORDS", 64)
    monkeypatch.setattr(lots, "_MOST_OUTCOMES", 12)
    # 4 * 3 outcomes for the first word, of which 4 are rejected, and 2 for the second.
    accepted = [[first, second, 0] for first, second in product(range(60), range(64))]
    found = Counter(map(tuple, Lots(4, 3).draw(words_for(accepted)).tolist()))
    assert found == Counter(dict.fromkeys(permutations(range(4), 3), 5 * 32))
    late = [[rejected, first, second] for rejected, first, second in product(range(60, 64), range(60), range(64))]
    again = Counter(map(tuple, Lots(4, 3).draw(words_for(late)).tolist()))
    assert again == Counter(dict.fromkeys(permutations(range(4), 3), 4 * 5 * 32))


def test_people_are_drawn_in_blocks_without_a_seam(monkeypatch):
    words = np.random.default_rng(2).integers(0, 2**64, (50, 8), dtype=np.uint64).tolist()
    whole = Lots(30, 4).draw(words_for(words))
    monkeypatch.setattr(lots, "_BLOCK", 90)
    assert (Lots(30, 4).draw(words_for(words)) == whole).all()


def test_nobody_draws_nothing():
    assert Lots(5, 2).draw(lambda n: np.empty((0, n), np.uint64)).shape == (0, 2)
