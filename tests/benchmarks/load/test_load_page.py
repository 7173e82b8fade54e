import csv

import pytest

from benchmarks.load import page
from benchmarks.load.draw_time import DRAWS, OneAtATime, words_by_scores, words_by_size
from benchmarks.load.generated import BATCH, batch, batches_of, schema_of
from benchmarks.load.many_rows import model_of, predicted

HELD = {"memory_mb": 300.0, "files": 4, "threads": 1, "objects": 200_000}
TIME = {"wall": 4.0, "cpu": 6.5}
LAW = {
    "words": 3.45, "words_below_scale": 3.21, "words_above_three_scales": 4.82, "correlation": 0.267,
    "time_correlation": -0.001,
}  # fmt: skip


def rows_of(n_rows, peak):
    return {
        "method": "private-rdt", "rows": n_rows, "making": TIME, "fit": TIME, "predict": TIME, "start_mb": 300.0,
        "fit_mb": peak, "predict_mb": 2 * peak, "accuracy": 0.75,
    }  # fmt: skip


RESULTS = {
    "many_rows private-rdt 1e6": rows_of(1_000_000, 320.0),
    "many_rows private-rdt 1e8": rows_of(100_000_000, 336.0),
    "many_fits 10000": {"fits": 10_000, "seconds": 50.0, "early": HELD, "late": {**HELD, "memory_mb": 301.5}},
    "many_threads 64": {
        "threads": 64, "recorded": 64, "spent": 6.4,
        "models": [{"method": "private-rdt", "calls": 1280, "wrong": 0, "early": HELD, "late": HELD,
                    "rows_per_second": 500_000.0}],
    },
    "draw_time 20000": {"draws": 20_000, "laws": {"Laplace, scale 30": LAW}, "choice": {"0": 1.0, "1000": 6.655}},
    "machine": {"cores": "2"},
}  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "| private-rdt | 100,000,000 | 25,000,000 (15,384,615) | 336 MB | 25,000,000 (15,384,615) | 672 MB",
        "| 10,000 | 200 | 300.0 to 301.5 MB | 4 to 4 | 1 to 1 | 200,000 to 200,000 |",
        "| private-rdt | 1,280 | 0 | 500,000 | 300.0 to 300.0 MB | 4 to 4 | 1 to 1 | 200,000 to 200,000 |",
        "64 fits on record, epsilon 6.4 spent of 64 times 0.1.",
        "| Laplace, scale 30 | 3.5 | 3.2 | 4.8 | 0.27 | -0.00 |",
        "| 1000 | 6.7 |",
        "Measured on cores 2.",
    ],
)
def test_the_page_says_what_was_measured(line):
    assert line in page.text_of(RESULTS).replace("\non ", " on ")


def test_the_table_has_every_number(tmp_path):
    page.render(RESULTS, tmp_path)
    lines = list(csv.DictReader((tmp_path / "load.csv").read_text().splitlines()))
    assert {"step": "many_rows private-rdt 1e8", "measure": "fit cpu", "value": "6.5"} in lines
    assert {"step": "many_threads 64", "measure": "models 0 wrong", "value": "0"} in lines
    assert (tmp_path / "README.md").read_text().startswith("# Load\n")


def test_generated_rows_are_the_same_every_time_and_fit_their_schema():
    rows = batches_of(BATCH + 100)
    first, again = list(rows()), list(rows())
    assert [part.num_rows for part in first] == [BATCH, 100]
    assert all(one.equals(other) for one, other in zip(first, again, strict=True))
    assert first[0].schema.names == [*schema_of(1).names, "class"]
    assert not batch(0, 50).equals(batch(BATCH, 50))


@pytest.mark.parametrize("method", ["private-rdt", "private-forest"])
def test_generated_rows_are_fitted_and_predicted_better_than_by_chance(method):
    model = model_of(method, 20_000).set_params(epsilon=50.0).fit(batches_of(20_000))
    assert predicted(model, 20_000) > 12_000


def test_words_are_counted_one_at_a_time():
    noise = OneAtATime()
    assert [noise.words(n).size for n in (5, 1, 70)] == [1, 1, 1]
    assert noise.n_words == 3
    assert 2 < words_by_size(DRAWS["Laplace, scale 30"], 300)["words"] < 6
    assert words_by_scores(20)["0"] == 1.0  # ten alike: the first that is asked is taken, by half a word
