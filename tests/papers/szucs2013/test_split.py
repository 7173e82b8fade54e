import numpy as np
import pytest

from papers.szucs2013.split import TITLES, TRAINING_ROWS, split


def test_the_rarer_class_is_scored(small_split):
    assert small_split.positive == "yes"


def test_a_model_that_knows_the_label_has_all_of_the_area(small_split):
    class Knowing:
        classes_ = np.array(["no", "yes"])

        def predict_proba(self, test):
            return np.column_stack([test == "no", test == "yes"]).astype(float)

    assert small_split.auc(Knowing(), small_split.test_y) == 1
    assert small_split.auc(Knowing(), small_split.test_y[::-1]) < 0.8


def test_rows_have_as_many_bits_as_the_coding(small_split):
    bits = small_split.bits(small_split.test)
    assert bits.shape == (300, small_split.coding.n_bits)
    assert set(np.unique(bits)) == {0, 1}


def test_every_table_has_its_title():
    assert TITLES.keys() == TRAINING_ROWS.keys()


@pytest.mark.real_data
def test_adult_is_split_as_uci_does():
    adult = split("adult")
    assert (len(adult.train), len(adult.test)) == (32_561, 16_281)
    assert adult.coding.n_bits == 40
    assert (adult.train_y == adult.positive).mean() == pytest.approx(0.2408, abs=1e-4)
