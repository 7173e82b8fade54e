"""Cells of about equal weight: found with noise, paid for, and the same for fit and predict."""

import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, DPDFClassifier, Numeric, Schema, load
from privet.central.quantiles import QUANTILE_SHARE, RecodedRows, _borders, open_numbers, release_quantiles
from privet.counting.rows import BatchRows, MemoryRows
from privet.counting.sources import Files
from privet.privacy.accounting import pure_epsilon
from privet.privacy.events import DiscreteLaplace
from privet.privacy.unit import EACH_ROW, Unit
from privet.rng import SeededNoise
from privet.schema.encoding import Encoder

SCHEMA = Schema(
    [
        Numeric("skewed", 0, 1000),
        Categorical("c", ["u", "v"]),
        Numeric("binned", 0, 1, bins=3),
        Numeric("even", -1, 1),
        Numeric("edged", 0, 9, edges=[2, 5]),
    ],
    classes=["no", "yes"],
    rows=2_000,
)


def table(n=2_000, seed=3):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "skewed": rng.exponential(30, n),
            "c": rng.choice(["u", "v", None], n),
            "binned": rng.random(n),
            "even": rng.uniform(-1.2, 1.2, n),
            "edged": rng.uniform(0, 9, n),
        }
    )
    X.loc[rng.random(n) < 0.1, ["skewed", "even"]] = np.nan
    return X, np.where(X["skewed"].fillna(0) > 20, "yes", "no")


def cells_of(X, y, *, epsilon=math.inf, unit=EACH_ROW):
    encoder = Encoder(SCHEMA)
    rows = MemoryRows(encoder.encode(X), encoder.encode_labels(y))
    return release_quantiles(SCHEMA, rows, epsilon=epsilon, unit=unit, noise=SeededNoise(1))


def test_only_numbers_that_declare_no_cells_are_open():
    assert open_numbers(SCHEMA) == [0, 3]


def test_without_noise_cells_hold_about_a_fifth_each():
    X, y = table()
    schema, _, _ = cells_of(X, y)
    assert [attribute.n_values for attribute in schema.attributes] == [5, 2, 3, 5, 3]
    for name, most_in_a_cell in (("skewed", 0.08), ("even", 0.01)):
        attribute = schema.attributes[schema.names.index(name)]
        values = np.clip(X[name].dropna(), attribute.low, attribute.high)
        shares = np.histogram(values, [attribute.low, *attribute.edges, attribute.high])[0] / len(values)
        # Borders are those of 255 fine cells; one of them is the most that a share can be off by.
        assert np.abs(shares - 0.2).max() <= most_in_a_cell + 0.01
    assert [schema.attributes[j] for j in (1, 2, 4)] == [SCHEMA.attributes[j] for j in (1, 2, 4)]


@pytest.mark.parametrize("epsilon", [math.inf, 0.5, 0.001])
def test_translated_codes_are_those_of_the_new_schema_for_every_value_border_and_gap(epsilon):
    schema, rows, _ = cells_of(*table(), epsilon=epsilon)
    for j in (0, 3):
        fine, new = SCHEMA.attributes[j], schema.attributes[j]
        borders = np.array([fine.low, *fine.cuts, fine.high])
        values = np.concatenate(
            [borders, np.nextafter(borders, -np.inf), np.nextafter(borders, np.inf), [np.nan, -np.inf, np.inf, 1e300]]
        )
        X = pd.DataFrame({name: values if name == new.name else np.nan for name in SCHEMA.names})
        X["c"] = None
        codes = Encoder(SCHEMA).encode(X)
        recoded = RecodedRows(MemoryRows(codes, np.zeros(len(X), dtype=np.uint16)), rows.new_code)
        ((translated, _),) = recoded.blocks()
        assert_array_equal(translated, Encoder(schema).encode(X))
        assert len(set(translated[:, j])) == new.n_values + 1


def test_rows_keep_their_labels_their_number_and_their_other_codes():
    X, y = table()
    _, rows, _ = cells_of(X, y)
    ((codes, labels),) = rows.blocks()
    assert rows.exact_size() == len(y)
    assert_array_equal(labels, Encoder(SCHEMA).encode_labels(y))
    assert_array_equal(codes[:, [1, 2, 4]], Encoder(SCHEMA).encode(X)[:, [1, 2, 4]])


def test_a_row_moves_one_cell_of_every_histogram_and_a_person_all_of_theirs():
    for unit in (EACH_ROW, Unit("person", 4)):
        _, _, receipt = cells_of(*table(), epsilon=0.25, unit=unit)
        assert isinstance(receipt.part, DiscreteLaplace)
        assert (receipt.part.epsilon, receipt.part.sensitivity) == (0.25, 2 * unit.max_rows)


@pytest.mark.parametrize(
    ("cells", "borders"),
    [
        ([10, 10, 10, 10, 10], [0, 1, 2, 3]),
        ([1, 1, 1, 1, 1, 95], []),  # all quantiles lie in the last cell: one bin is left
        ([95, 1, 1, 1, 1, 1], [0]),
        ([0, 0, 50, 0, 0, 50, 0], [2, 5]),
        ([-9, 20, -9, 20, 20, -9, 20, 20], [1, 3, 4, 6]),  # noise below zero counts as nothing
        ([0] * 10, [1, 3, 5, 7]),  # nothing known: equal widths
        ([-3, -4], [0]),
        ([7], []),
    ],
)
def test_borders_by_hand(cells, borders):
    assert _borders(np.array(cells)).tolist() == borders


def fitted(**options):
    return DPDFClassifier(SCHEMA, **{"epsilon": 1.0, "numeric": "quantiles", "n_trees": 2, "height": 2, **options})


@pytest.mark.parametrize("max_rows", [1, 3])
def test_quantiles_cost_a_tenth_and_the_rest_is_shared_by_the_questions(max_rows):
    X, y = table()
    model = fitted(unit="person", max_rows=max_rows).fit(X.assign(person=np.arange(len(y))), y)
    cells, *path = model.guarantee_.event.parts
    assert (cells.what, cells.epsilon) == ("histograms of numeric attributes", QUANTILE_SHARE * 1.0)
    assert cells.sensitivity == 2 * max_rows
    assert sum(receipt.epsilon for receipt in path) == pytest.approx(0.9)
    assert sum(Fraction(pure_epsilon(receipt)) for receipt in (cells, *path)) <= 1
    assert len(path) == 3 + 2 * 2


def test_without_open_numbers_nothing_is_bought():
    X, y = table()
    closed = Schema([SCHEMA.attributes[j] for j in (1, 2, 4)], classes=SCHEMA.classes, rows=2_000)
    model = fitted().set_params(schema=closed).fit(X[["c", "binned", "edged"]], y)
    assert len(model.guarantee_.event.parts) == 3 + 2 * 2
    assert model.schema_ == closed


@pytest.mark.parametrize("name", ["rows.parquet", "rows.csv"])
def test_a_file_gives_the_cells_and_the_trees_of_the_table(tmp_path, name, monkeypatch):
    monkeypatch.setattr("privet.counting.files._BATCH_ROWS", 300)
    X, y = table()
    frame = X.assign(**{"class": y})
    _ = frame.to_parquet(tmp_path / name) if name.endswith("parquet") else frame.to_csv(tmp_path / name, index=False)
    seeded = {"random_state": 2, "unsafe_seeded_noise": True, "epsilon": 20.0, "min_support": 5}
    memory, file = fitted(**seeded).fit(X, y), fitted(**seeded).fit(tmp_path / name)
    assert file.schema_ == memory.schema_
    assert_array_equal(file.noisy_counts_, memory.noisy_counts_)
    assert_array_equal(file.forest_.words, memory.forest_.words)
    rows = BatchRows(Files(tmp_path / name), Encoder(SCHEMA))
    _, recoded, _ = release_quantiles(SCHEMA, rows, epsilon=math.inf, unit=EACH_ROW, noise=SeededNoise(1))
    assert len(list(recoded.blocks())) == (7 if name.endswith("parquet") else 1)


def test_new_rows_are_coded_as_the_training_rows_were(tmp_path):
    X, y = table()
    model = fitted(epsilon=math.inf, n_trees=1, height=1, min_support=1).fit(X, y)
    # At epsilon=inf a leaf's counts are the training rows that predict sends there.
    root = int(model.forest_.attribute[0])
    codes = model._encoder.encode(X)[:, root]
    for code in range(model.schema_.attributes[root].n_values + 1):
        own = y[codes == code]
        assert model.noisy_counts_[1 + code].tolist() == [(own == "no").sum(), (own == "yes").sum()]
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert again.schema_ == model.schema_
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_a_number_that_is_always_the_same_has_one_cell_or_two_and_the_model_still_opens(tmp_path):
    X, y = table()
    model = fitted(epsilon=math.inf).fit(X.assign(skewed=1000.0, even=-1.0), y)
    assert [model.schema_.attributes[j].n_values for j in (0, 3)] == [1, 2]
    model.save(tmp_path / "m.privet")
    assert_array_equal(load(tmp_path / "m.privet").predict_proba(X), model.predict_proba(X))


def test_an_empty_table_has_cells_of_equal_width_or_of_noise():
    X, y = table()
    schema, _, _ = cells_of(X[:0], y[:0])
    assert [attribute.n_values for attribute in schema.attributes] == [5, 2, 3, 5, 3]
    assert schema.attributes[0].edges == pytest.approx([200, 400, 600, 800], abs=4)
    assert fitted().fit(X[:0], y[:0]).guarantee_.epsilon <= 1.0


def test_the_cells_of_a_number_that_is_never_missing_are_all_counted():
    # Half of the rows are clipped into the last cell.
    x = np.concatenate([np.linspace(0, 100, 1000, endpoint=False), np.full(1000, 200.0)])[:, None]
    edges = []
    for never_missing in (False, True):
        schema = Schema([Numeric("x", 0, 100, never_missing=never_missing)], classes=["no", "yes"], rows=2000)
        model = DPDFClassifier(schema, epsilon=math.inf, numeric="quantiles", min_support=1)
        edges.append(model.fit(x, np.repeat(["no", "yes"], 1000)).schema_.attributes[0].edges)
    assert edges[0] == edges[1] == (40.0, 80.0)
