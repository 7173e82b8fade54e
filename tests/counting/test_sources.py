"""What a fit reads apart from tables in memory: the same rows are the same release, and damage comes before one."""

import gzip
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from privet import DPDFClassifier, Ledger, PrivateForestClassifier, PrivateRDTClassifier
from privet.counting.sources import Files
from privet.errors import DataError, ParameterError
from tests.counting.people import SCHEMA, batches, in_memory, model, people, released


def table() -> pa.Table:
    return pa.Table.from_batches(batches())


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The table in five parts and as a whole, in every format."""
    monkeypatch.chdir(tmp_path)
    whole = table()
    (tmp_path / "parts").mkdir()
    for number in range(5):
        part = whole.slice(100 * number, 100)
        pq.write_table(part, f"parts/part-{number}.parquet", row_group_size=30)
        part.to_pandas().to_csv(f"part-{number}.csv", index=False)
    pq.write_table(whole, "rows.parquet", row_group_size=120)
    whole.to_pandas().to_csv("rows.csv", index=False)
    feather.write_feather(whole, "rows.feather", chunksize=90)
    with pa.ipc.new_file("rows.arrow", whole.schema) as writer:
        writer.write_table(whole)
    with pa.ipc.new_stream("rows.arrows", whole.schema) as writer:
        writer.write_table(whole, max_chunksize=70)
    return tmp_path


SOURCES = {
    "a path": lambda: "rows.parquet",
    "a pattern of Parquet": lambda: "parts/part-*.parquet",
    "a pattern of CSV": lambda: "part-?.csv",
    "a folder": lambda: "parts",
    "several paths": lambda: [f"parts/part-{n}.parquet" for n in range(2)] + [f"part-{n}.csv" for n in range(2, 5)],
    "an Arrow file": lambda: "rows.arrow",
    "a feather file": lambda: "rows.feather",
    "an Arrow stream in a file": lambda: "rows.arrows",
    "a list of batches": batches,
    "a list of tables": lambda: [table().slice(0, 300), table().slice(300)],
    "a reader": lambda: pa.RecordBatchReader.from_batches(batches()[0].schema, batches()),
    "a generator": lambda: (batch for batch in batches()),
    "a function": lambda: lambda: iter(batches()),
    "a dataset": lambda: ds.dataset("parts", format="parquet"),
    "what watches": lambda: Files("rows.csv", watch=lambda share: None),
}
ONCE = {"a reader", "a generator"}


@pytest.mark.parametrize("source", SOURCES)
def test_one_pass_over_any_source_releases_what_the_table_in_memory_does(folder, source):
    assert released(model().fit(SOURCES[source]())) == in_memory()


@pytest.mark.parametrize("source", sorted(set(SOURCES) - ONCE))
def test_a_pass_a_level_over_any_source_releases_what_the_table_in_memory_does(folder, source):
    assert released(model(DPDFClassifier).fit(SOURCES[source]())) == in_memory(DPDFClassifier)


@pytest.mark.parametrize("source", ["a path", "a list of batches", "a dataset"])
def test_the_recommended_forest_reads_any_source(folder, source):
    assert released(model(PrivateForestClassifier).fit(SOURCES[source]())) == in_memory(PrivateForestClassifier)


def test_a_stream_that_is_read_once_is_flat_and_is_not_gone_through_twice():
    asked = []

    def counted():
        asked.append(1)
        yield from batches()

    model().fit(counted)
    assert asked == [1]


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        (DPDFClassifier, {}),
        (PrivateRDTClassifier, {"schema": "bought"}),
        (PrivateForestClassifier, {"schema": "bought"}),
        (PrivateForestClassifier, {"n_attributes": 1}),
    ],
)
def test_an_iterator_is_refused_before_anything_is_spent_where_one_pass_is_not_enough(tmp_path, method, parameters):
    if parameters.get("schema") == "bought":
        schema = type(SCHEMA)(SCHEMA.attributes, classes=SCHEMA.classes, target=SCHEMA.target)
        parameters = {**parameters, "schema": schema}
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1)
    asked = method(**{"schema": SCHEMA, **parameters}, ledger=ledger)
    with pytest.raises(DataError, match="an iterator is used up by the first pass; pass a list of batches, or a func"):
        asked.fit(iter(batches()))
    assert ledger.spent == 0
    asked.fit(batches)
    assert ledger.spent == 1


def test_a_function_that_returns_a_used_up_iterator_is_noticed():
    once = iter(batches())
    with pytest.raises(DataError, match="the batches differed when they were read again; return the same ones"):
        model(DPDFClassifier).fit(lambda: once)


def cut(path, keep):
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * keep)])


def between_two_batches(path):
    """Cut a stream where a batch ends: what is left is a stream without its end mark."""
    with pa.OSFile(str(path)) as file:
        reader = pa.ipc.open_stream(file)
        reader.read_next_batch()
        reader.read_next_batch()
        end = file.tell()
    path.write_bytes(path.read_bytes()[:end])


DAMAGE = {
    "Parquet": ("rows.parquet", lambda path: cut(path, 0.7)),
    "a CSV within a line": ("rows.csv", lambda path: path.write_text(path.read_text()[:-9])),
    "a packed CSV": ("rows.csv.gz", lambda path: cut(path, 0.7)),
    "an Arrow file": ("rows.arrow", lambda path: cut(path, 0.7)),
    "a feather file": ("rows.feather", lambda path: cut(path, 0.7)),
    "an Arrow stream within a batch": ("rows.arrows", lambda path: cut(path, 0.7)),
    "an Arrow stream between batches": ("rows.arrows", between_two_batches),
}


@pytest.mark.parametrize("method", [PrivateRDTClassifier, DPDFClassifier])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_that_ends_early_is_refused_before_anything_is_released(folder, damage, method):
    name, spoil = DAMAGE[damage]
    (folder / "rows.csv.gz").write_bytes(gzip.compress((folder / "rows.csv").read_bytes()))
    spoil(folder / name)
    ledger = Ledger(folder / "ledger.db", dataset="people", epsilon=1)
    asked = method(SCHEMA, ledger=ledger)
    with pytest.raises(DataError, match=f"'{name}' cannot be read to its end: it is cut short or damaged"):
        asked.fit(name)
    assert ledger.spent == 0
    assert not hasattr(asked, "guarantee_")


def test_a_stream_of_batches_that_breaks_is_refused_without_arrows_words(folder):
    cut(folder / "rows.arrows", 0.7)
    with pa.OSFile("rows.arrows") as file, pytest.raises(DataError, match="cannot be read to their end") as caught:
        model().fit(pa.ipc.open_stream(file))
    assert caught.value.__suppress_context__


def changed(part: pa.Table, how: str) -> pa.Table:
    if how == "a column is gone":
        return part.drop_columns(["hours"])
    if how == "a column is renamed":
        return part.rename_columns([{"hours": "Hours"}.get(name, name) for name in part.column_names])
    texts = pa.array(["marked-4711"] * len(part))
    return part.set_column(part.column_names.index("hours"), "hours", texts)


SENTENCES = {
    "a column is gone": "lacks the column 'hours'",
    "a column is renamed": "lacks the column 'hours'; did you mean 'Hours'",
    "numbers become text": "column 'hours' holds (text, but the schema calls|values that are not numbers)",
}


@pytest.mark.parametrize("how", SENTENCES)
@pytest.mark.parametrize("source", ["a pattern of Parquet", "a pattern of CSV", "a list of batches", "a function"])
def test_parts_that_differ_are_refused_before_anything_is_released(folder, source, how):
    third = changed(table().slice(200, 100), how)
    pq.write_table(third, "parts/part-2.parquet")
    third.to_pandas().to_csv("part-2.csv", index=False)
    different = [pa.Table.from_batches([batch]) for batch in batches()]
    different[2] = third
    given = {"a list of batches": different, "a function": lambda: iter(different)}
    ledger = Ledger(folder / "ledger.db", dataset="people", epsilon=1)
    with pytest.raises(DataError, match=SENTENCES[how]) as caught:
        PrivateRDTClassifier(SCHEMA, ledger=ledger).fit(given.get(source, SOURCES[source]()))
    assert "4711" not in str(caught.value)
    if "pattern" in source:
        assert "part-2" in str(caught.value)
    assert ledger.spent == 0


def test_a_part_that_differs_is_found_before_any_row_is_read(folder, monkeypatch):
    monkeypatch.setattr("privet.counting.sources.read_batches", None)  # would fail if it were called
    pq.write_table(changed(table(), "numbers become text"), "parts/part-4.parquet")
    with pytest.raises(DataError, match="'parts/part-4.parquet' differs: column 'hours' holds text"):
        model().fit("parts")


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_file_counts_once_under_whatever_name(folder, link):
    link("rows.parquet", "again.parquet")
    for named in (["rows.parquet", "again.parquet"], ["rows.parquet", "./rows.parquet"], ["rows.csv", "*.csv"]):
        with pytest.raises(DataError, match="is named twice, or links to another of the files; name each file once"):
            model().fit(named)


@pytest.mark.parametrize(
    ("named", "sentence"),
    [
        ("none-*.csv", "no file matches 'none-.*'; check the pattern"),
        ("empty", "the folder 'empty' holds no .parquet file; name files, or a pattern"),
        (["rows.csv", "gone.csv"], "cannot read 'gone.csv': No such file"),
    ],
)
def test_what_is_not_there_is_said(folder, named, sentence):
    (folder / "empty").mkdir()
    with pytest.raises(DataError, match=sentence):
        model().fit(named)


def test_a_name_with_the_marks_of_a_pattern_is_a_file_where_there_is_one(folder):
    Path("rows.csv").rename("rows[1].csv")
    assert released(model().fit("rows[1].csv")) == in_memory()


def test_a_file_that_changes_between_two_passes_is_noticed(folder):
    def watch(share):
        if share == 1:
            os.utime("rows.parquet", ns=(1, 1))

    with pytest.raises(DataError, match="'rows.parquet' changed while it was read; leave it alone, and fit again"):
        model(DPDFClassifier).fit(Files("rows.parquet", watch=watch))


def test_progress_is_the_share_of_all_bytes(folder):
    shares = []
    files = Files("rows.csv", "parts", watch=shares.append)
    sizes = [path.stat().st_size for path in files.paths]
    list(files.batches(SCHEMA, ["age"]))
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert shares[:2] == [0, sizes[0] / sum(sizes)]  # the first file is one batch


def test_labels_beside_a_source_are_refused(folder):
    for source in ("rows.csv", batches(), "parts"):
        with pytest.raises(ParameterError, match="leave y out when fitting from a file, batches or a cluster's frame"):
            model().fit(source, people()["ill"])


def test_what_is_no_batch_is_said():
    for given in (iter([people()]), lambda: [[1, 2]]):
        with pytest.raises(DataError, match="a batch is neither a RecordBatch nor a Table of Arrow; convert it"):
            model().fit(given)
    with pytest.raises(DataError, match="the function returned no iterable of Arrow batches"):
        model().fit(lambda: 7)


def test_persons_are_bounded_across_files_and_batches(folder):
    twice = [*batches(), *batches()]
    bounded = model(unit="id", max_rows=1, schema=SCHEMA)
    assert released(bounded.fit(twice)) == released(model(unit="id", max_rows=1).fit("rows.csv"))
