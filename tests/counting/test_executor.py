"""Counting in parts through an executor: the same release, each part once, and nothing where that cannot be had."""

import multiprocessing
import pickle
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pyarrow as pa
import pytest

from privet import (
    DiffPID3Classifier,
    DPDFClassifier,
    DPRFClassifier,
    Ledger,
    PrivateForestClassifier,
    PrivateID3Classifier,
    PrivateRDTClassifier,
)
from privet.counting.engines.executor import OnExecutor
from privet.counting.engines.parts import CodedPartition, Delivery, PartitionedRows, Work, one_each, row_group_runs
from privet.counting.rows import LeafCount
from privet.errors import DataError, ExecutorError, ParameterError
from privet.schema.encoding import Encoder
from tests.counting.people import SCHEMA, batches, in_memory, model, people, released

METHODS = [
    PrivateRDTClassifier, DPRFClassifier, DPDFClassifier, DiffPID3Classifier, PrivateID3Classifier,
    PrivateForestClassifier,
]  # fmt: skip


@pytest.fixture
def rows(tmp_path, monkeypatch):
    """A Parquet file of many parts."""
    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 60)
    monkeypatch.setattr("privet.counting.rows._SLICE_ROWS", 70)
    people().to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    return tmp_path / "rows.parquet"


@pytest.mark.parametrize("method", METHODS)
def test_parts_on_threads_release_what_one_process_does(rows, method):
    table, expected = people(), in_memory(method)
    with ThreadPoolExecutor(2) as pool:
        assert released(model(method).fit(rows, executor=pool)) == expected
        assert released(model(method).fit(table[list(SCHEMA.names)], table["ill"], executor=pool)) == expected
        assert released(model(method).fit(batches(), executor=pool)) == expected


def test_quantiles_and_bought_rows_are_counted_in_parts_too(rows):
    schema = type(SCHEMA)(SCHEMA.attributes, classes=SCHEMA.classes, target=SCHEMA.target)
    with ThreadPoolExecutor(2) as pool:
        for method, parameters in ((DPDFClassifier, {"numeric": "quantiles"}), (PrivateRDTClassifier, {})):
            parts = released(model(method, schema=schema, **parameters).fit(rows, executor=pool))
            assert parts == in_memory(method, schema=schema, **parameters)


def test_updates_are_counted_in_parts_too(rows):
    with ThreadPoolExecutor(2) as pool:
        parts = model().fit(rows, executor=pool).partial_fit(rows, executor=pool)
    assert released(parts) == released(model().fit(rows).partial_fit(rows))


def test_parts_in_processes_that_share_nothing_release_what_one_process_does(rows):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert released(model().fit(rows, executor=pool)) == in_memory()
        with pytest.raises(DataError, match="^column 'ill' has labels that are not in the schema's classes; add them"):
            model().fit([pa.Table.from_pandas(people().assign(ill="marked-4711"))], executor=pool)


class AtOnce(Executor):
    """Runs work where it stands; faults are planted in subclasses."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result(fn(*args, **kwargs))
        return future


class Twice(AtOnce):
    """Runs everything twice, as an engine does that takes a slow worker for a dead one."""

    def submit(self, fn, /, *args, **kwargs):
        fn(*args, **kwargs)
        return super().submit(fn, *args, **kwargs)


class Repeats(AtOnce):
    """Delivers the first part in the place of the third."""

    def __init__(self):
        self.first, self.n = None, 0

    def submit(self, fn, /, *args, **kwargs):
        future = super().submit(fn, *args, **kwargs)
        self.first, self.n = self.first or future, self.n + 1
        return self.first if self.n == 3 else future


class Loses(AtOnce):
    """Gives the third part up."""

    n = 0

    def submit(self, fn, /, *args, **kwargs):
        self.n += 1
        future = Future()
        if self.n == 3:
            future.cancel()
            return future
        return super().submit(fn, *args, **kwargs)


class Breaks(AtOnce):
    def submit(self, fn, /, *args, **kwargs):
        raise ValueError("marked-4711")


class Invents(AtOnce):
    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        future.set_result([1, 2, 3])
        return future


class OtherShape(AtOnce):
    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        delivery = fn(*args, **kwargs)
        future.set_result(delivery._replace(exact=delivery.exact.astype(float)))
        return future


def test_work_that_is_run_twice_and_delivered_once_is_exact(rows):
    assert released(model().fit(rows, executor=Twice())) == in_memory()
    assert released(model(DPDFClassifier).fit(rows, executor=Twice())) == in_memory(DPDFClassifier)


FAULTS = {
    Repeats: "the executor returned a part of the rows twice; nothing was released",
    Loses: r"the executor failed \(CancelledError\) before all rows were counted, and nothing was released",
    Breaks: r"^the executor failed \(ValueError\) before all rows were counted",
    Invents: "the executor returned something other than counts",
    OtherShape: "the executor returned something other than counts",
}


@pytest.mark.parametrize("method", [PrivateRDTClassifier, DPDFClassifier])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_of_the_executor_stops_the_fit_before_anything_is_released(rows, tmp_path, fault, method):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1)
    asked = method(SCHEMA, ledger=ledger)
    with pytest.raises(ExecutorError, match=FAULTS[fault]):
        asked.fit(rows, executor=fault())
    assert ledger.spent == 0
    assert not hasattr(asked, "guarantee_")


def test_each_part_is_taken_once():
    def deliveries(*ids):
        return [Delivery(own, None, 0) for own in ids]

    assert [each.partition for each in one_each("abc", deliveries("c", "a", "b"))] == ["c", "a", "b"]
    with pytest.raises(ExecutorError, match="twice"):
        list(one_each("abc", deliveries("a", "b", "a", "c")))
    with pytest.raises(ExecutorError, match="twice"):  # or one of another table
        list(one_each("abc", deliveries("a", "d")))
    with pytest.raises(ExecutorError, match="did not return all parts"):
        list(one_each("abc", deliveries("c", "a")))


def test_no_more_work_is_handed_out_than_may_wait(rows, monkeypatch):
    monkeypatch.setattr("privet.counting.engines.executor._AHEAD", 2)
    waiting, most = [], []

    class Counts(AtOnce):
        def submit(self, fn, /, *args, **kwargs):
            future = super().submit(fn, *args, **kwargs)
            result = future.result

            def taken():
                waiting.remove(future)
                return result()

            future.result = taken
            waiting.append(future)
            most.append(len(waiting))
            return future

    assert released(model().fit(rows, executor=Counts())) == in_memory()
    assert max(most) == 2
    assert not waiting


def test_rows_that_change_between_two_passes_are_noticed():
    class Grows:
        n = 0

        def deliver(self, work):
            self.n += 1
            return ["a"], [work(CodedPartition("a", np.zeros((self.n, 3), np.uint8), np.zeros(self.n, np.uint16)))]

    grows = PartitionedRows(Grows(), Encoder(SCHEMA))
    grows.exact_size()
    with pytest.raises(DataError, match="the rows changed while they were counted; leave them alone, and fit again"):
        grows.exact_size()


def test_what_travels_is_the_structure_and_how_values_are_coded():
    seen = []

    class Looks(AtOnce):
        def submit(self, fn, /, *args, **kwargs):
            seen.append(pickle.dumps(args))
            return super().submit(fn, *args, **kwargs)

    model(epsilon=0.123456789).fit(batches(), executor=Looks())
    work, partition = pickle.loads(seen[0])
    assert set(vars(work)) == {"count", "encoder", "run"}
    assert set(vars(work.count)) == {"words", "leaves", "n_trees", "depth", "multiway", "n_classes"}
    assert isinstance(work.count, LeafCount)
    assert set(vars(partition)) == {"id", "table"}
    for parcel in seen:
        assert b"epsilon" not in parcel
        assert np.float64(0.123456789).tobytes() not in parcel
        assert np.float64(0.123456789).tobytes()[::-1] not in parcel  # as pickle writes a float


def test_two_runs_are_two_pieces_of_work():
    """Dask takes equal work for the same work, and a file may have changed since."""
    encoder = Encoder(SCHEMA)
    assert Work(None, encoder) != Work(None, encoder)


def test_persons_are_refused_in_parts(rows):
    with ThreadPoolExecutor(1) as pool:
        with pytest.raises(ParameterError, match="rows are counted in parts, and those of one 'id' may be in several"):
            model(unit="id").fit(rows, executor=pool)
        with pytest.raises(ParameterError, match='fit in one process, without an executor, or protect .* unit="row"'):
            model(unit="id").fit(people()[["id", *SCHEMA.names]], people()["ill"], executor=pool)


def test_what_is_no_executor_or_has_no_parts_is_refused(rows):
    with pytest.raises(ParameterError, match="executor must have a submit method; pass a concurrent.futures.Executor"):
        model().fit(rows, executor=4)
    for stream in (iter(batches()), batches):
        with pytest.raises(ParameterError, match="an executor counts rows in parts, and a stream of batches has none"):
            model().fit(stream, executor=AtOnce())


def test_row_groups_make_parts_of_about_the_same_size():
    assert list(row_group_runs([3, 3, 3, 9, 1, 1], 6)) == [(0, 1), (2, 3), (4, 5)]
    assert list(row_group_runs([], 6)) == []


def test_a_table_without_rows_has_no_parts_and_is_counted_all_the_same(rows):
    nothing = people()[:0]
    fitted = model(epsilon=float("inf")).fit(nothing[list(SCHEMA.names)], nothing["ill"], executor=AtOnce())
    assert not fitted.noisy_counts_.any()


def test_parts_are_watched(rows):
    shares = []
    parts = OnExecutor([CodedPartition(own, np.zeros((1, 3), np.uint8), np.zeros(1, np.uint16)) for own in "abcd"],
                       AtOnce(), shares.append)  # fmt: skip
    assert PartitionedRows(parts, Encoder(SCHEMA)).exact_size() == 4
    assert shares == [0, 0.25, 0.5, 0.75, 1]
