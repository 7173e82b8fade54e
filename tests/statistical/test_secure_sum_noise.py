import numpy as np

from privet.partitioned import SecureSumForest
from tests.partitioned.sums import messages, parties_of, prepare, structure_of, table_of, terms_of

NAMES = ("bank", "clinic", "mill", "school", "tavern")


def test_the_opened_sum_of_five_parties_carries_one_curators_noise_and_no_other(tmp_path, p_value):
    # Ten trees at epsilon 5 are noise of scale 2, in some hundred thousand leaf counts.
    terms = terms_of(structure_of(n_trees=10, height=7, epsilon=5.0), honest=5, names=NAMES)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    model = SecureSumForest.open(terms, 1, *messages(parties))
    exact = sum(terms.structure.exact_counts(table_of(name).X, table_of(name).y) for name in NAMES)
    noise = (model.noisy_counts_ - exact).ravel()
    assert p_value(noise, lambda x: np.exp(-np.abs(x) / 2), reach=80) > 1e-9
    for scale in (1.8, 2.2):
        assert p_value(noise, lambda x, scale=scale: np.exp(-np.abs(x) / scale), reach=80) < 1e-6
