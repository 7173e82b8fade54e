import numpy as np

from privet.partitioned import SecureSumForest
from privet.partitioned.secure_sum.messages import SHARES
from tests.partitioned.sums import TEN, conversation, messages, parties_of, prepare, structure_of, table_of, terms_of

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


def shares_law(scale, honest, parties, reach=400):
    """How likely each sum of so many shares is: the difference of two negative binomial variables."""
    k, q, shape = np.arange(1, reach + 1), np.exp(-1 / scale), parties / honest
    steps = np.concatenate([[1.0], np.cumprod(q * (k - 1 + shape) / k)])
    law = np.correlate(steps, steps, "full")
    return lambda x: law[x.astype(int) + reach]


def test_with_three_of_ten_vanished_the_sum_carries_the_noise_of_the_seven_that_stay_and_no_other(tmp_path, p_value):
    terms = terms_of(structure_of(n_trees=10, height=7, epsilon=5.0), names=TEN, dropouts=3)
    parties = parties_of(terms, tmp_path)
    prepare(parties)
    seen = conversation(parties, silent={SHARES: ("clinic", "mill", "yard")})
    model = SecureSumForest.open(terms, 1, *seen.values())
    assert len(model.parties) == 7
    exact = sum(terms.structure.exact_counts(table_of(name).X, table_of(name).y) for name in model.parties)
    noise = (model.noisy_counts_ - exact).ravel()
    stated = p_value(noise, shares_law(2.0, honest=6, parties=7), reach=80)
    print(f"\n{noise.size:,} counts, variance {noise.var():.3f}, stated {model.noise_std_**2:.3f}; p = {stated:.3g}")
    assert stated > 1e-9
    # Shares for ten parties, for the roster's nine, or for seven honest ones would be other noise.
    for honest, parties_there in ((6, 10), (9, 7), (7, 7)):
        other = p_value(noise, shares_law(2.0, honest, parties_there), reach=80)
        print(f"as if of {parties_there} shares with honest={honest}: p = {other:.3g}")
        assert other < 1e-6
    for scale in (1.8, 2.2):
        assert p_value(noise, shares_law(scale, honest=6, parties=7), reach=80) < 1e-6
