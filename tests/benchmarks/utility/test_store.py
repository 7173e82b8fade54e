import json

from benchmarks.utility.scores import Scores
from benchmarks.utility.store import Cell, Store

SCORES = Scores(0.9, 0.8, 0.95, 0.25, 0.125)
FIRST, SECOND = Cell("private forest", "adult", 0.5, 0), Cell("majority class", "adult", None, 3)


def test_what_was_added_is_read_again(tmp_path):
    store = Store(tmp_path / "new" / "fits.jsonl")
    assert store.scores() == {}
    store.add(FIRST, SCORES)
    store.add(SECOND, SCORES._replace(accuracy=0.123456789))
    assert store.scores() == {FIRST: SCORES, SECOND: SCORES._replace(accuracy=0.12346)}
    assert store.missing([SECOND, FIRST, Cell("private forest", "adult", 0.5, 1)]) == [
        Cell("private forest", "adult", 0.5, 1)
    ]


def test_every_line_is_json_of_its_own(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    store.add(SECOND, SCORES)
    (line,) = store.path.read_text().splitlines()
    assert json.loads(line) == {**SECOND._asdict(), **SCORES._asdict()}


def test_a_line_that_was_cut_off_is_measured_again_and_spoils_no_other(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    store.add(FIRST, SCORES)
    store.add(SECOND, SCORES)
    store.path.write_bytes(store.path.read_bytes()[:-20])
    assert store.missing([FIRST, SECOND]) == [SECOND]
    store.add(SECOND, SCORES)
    assert store.scores() == {FIRST: SCORES, SECOND: SCORES}


def test_a_fit_that_failed_says_why_and_is_not_tried_again(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    store.add_failure(FIRST, "ValueError: no")
    assert store.failures() == {FIRST: "ValueError: no"}
    assert store.scores() == {}
    assert store.missing([FIRST]) == []


def test_what_is_forgotten_is_missing_and_the_rest_stays(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    store.add(FIRST, SCORES)
    store.add(SECOND, SCORES)
    store.forget([FIRST])
    assert store.scores() == {SECOND: SCORES}
    assert store.missing([FIRST, SECOND]) == [FIRST]


def test_a_line_that_names_no_run_is_of_the_first(tmp_path):
    store = Store(tmp_path / "fits.jsonl")
    line = {name: value for name, value in FIRST._asdict().items() if name != "run"} | SCORES._asdict()
    store.path.write_text(json.dumps(line) + "\n")
    assert store.scores() == {FIRST: SCORES}
    assert store.missing([FIRST, FIRST._replace(run=1)]) == [FIRST._replace(run=1)]
