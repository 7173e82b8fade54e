"""Coded rows that stay with workers: the same model bit for bit, whatever becomes of the workers."""

import pickle
from concurrent.futures import Executor, Future
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema
from privet.central.weights.certificate import Residuals
from privet.central.weights.coded_rows import CellCount, ClassCount, KindCount, Sums
from privet.central.weights.interactions import FirstStage, GroupSums
from privet.central.weights.leaf_rows import LeafRows
from privet.central.weights.objective import Gradient, HessianProduct
from privet.central.weights.part_rows import Ask, CodedPart, PartRows, Pick, coded
from privet.counting.engines import executor as engine
from privet.counting.engines.executor import KEPT, Kept, Made, OnExecutor
from privet.counting.engines.parts import CodedPartition, Delivery, PartitionedRows
from privet.errors import DataError, ExecutorError
from privet.schema.encoding import Encoder
from tests.central.weights.problems import GROUPS, problem, random_weights, schema_of

N_ROWS = 30_000


class AtOnce(Executor):
    """Runs a task when it is submitted, on arguments that were pickled and on a result that was."""

    def submit(self, fn, /, *args, **kwargs):
        future = Future()
        try:
            work, partition = pickle.loads(pickle.dumps(args))
            future.set_result(self.result(pickle.loads(pickle.dumps(fn(work, partition, **kwargs))), work))
        except Exception as error:
            future.set_exception(error)
        return future

    def result(self, delivery, work):
        return delivery


def table(n_classes=2, seed=3):
    """Return rows of which two attributes act together, so that there is a second stage."""
    rng = np.random.default_rng(seed)
    numbers, jobs = rng.random((3, N_ROWS)), rng.integers(0, 4, N_ROWS)
    score = numbers[0] + (numbers[1] > 0.5) * (jobs > 1) + rng.normal(0, 0.1, N_ROWS)
    labels = np.digitize(score, np.linspace(0.4, 1.4, n_classes - 1))
    columns = {f"x{j}": own for j, own in enumerate(numbers)} | {"job": jobs, "class": labels}
    schema = Schema(
        [*(Numeric(f"x{j}", 0, 1) for j in range(3)), Categorical("job", range(4))],
        classes=range(n_classes), rows=N_ROWS,
    )  # fmt: skip
    return schema, pa.table(columns)


def fitted(schema, source, executor=None, **parameters):
    model = PrivateForestClassifier(schema, epsilon=8.0, random_state=3, unsafe_seeded_noise=True, **parameters)
    return model.fit(source, executor=executor)


@pytest.fixture(scope="module", params=[2, 3])
def expected(request):
    schema, rows = table(request.param)
    whole = fitted(schema, [rows])
    assert whole.trees_.n_later > 0
    return schema, rows, whole.to_document()


@pytest.mark.parametrize("size", [N_ROWS, 7_000, 999])
def test_the_model_is_the_same_bit_for_bit_whatever_the_parts(expected, size):
    schema, rows, document = expected
    assert fitted(schema, rows.to_batches(max_chunksize=size), AtOnce()).to_document() == document


def test_lost_parts_are_read_and_coded_again_and_change_nothing(expected, monkeypatch):
    schema, rows, document = expected
    rng, lost = np.random.default_rng(5), []

    class Forgetful(AtOnce):
        def submit(self, fn, /, *args, **kwargs):
            if rng.random() < 0.2:
                lost.append(len(KEPT._runs))
                KEPT._runs.clear()
            return super().submit(fn, *args, **kwargs)

    assert fitted(schema, rows.to_batches(max_chunksize=7_000), Forgetful()).to_document() == document
    assert sum(map(bool, lost)) > 6


def test_without_a_merge_and_with_one_the_model_is_that_of_one_process(monkeypatch):
    schema = Schema([Categorical("a", [5, 9]), Categorical("b", range(3))], classes=["no", "yes"], rows=N_ROWS)
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, N_ROWS), rng.integers(0, 3, N_ROWS)
    labels = np.where((a + b) % 2 ^ (rng.random(N_ROWS) < 0.1), "yes", "no")
    rows = pa.table({"a": np.where(a, 5, 9), "b": b, "class": labels})
    for most in (2**20, 0):
        monkeypatch.setattr("privet.central.weights.coded_rows._MOST_MERGED", most)
        one = fitted(schema, [rows]).to_document()
        assert fitted(schema, rows.to_batches(max_chunksize=7_000), AtOnce()).to_document() == one


def test_a_wrong_number_of_declared_rows_leads_to_the_same_model(expected):
    schema, rows, _ = expected
    wrong = replace(schema, rows=40)
    parts = fitted(wrong, rows.to_batches(max_chunksize=7_000), AtOnce())
    assert parts.to_document() == fitted(wrong, [rows]).to_document()


def test_no_worker_keeps_anything_when_the_fit_is_over(expected):
    schema, rows, _ = expected
    fitted(schema, rows.to_batches(max_chunksize=7_000), AtOnce())
    assert not KEPT._runs


class Spoils(AtOnce):
    """Spoils one result of the questions of one kind."""

    def __init__(self, kind, spoil):
        self.kind, self.spoil, self.done = kind, spoil, False

    def result(self, delivery, work):
        if self.done or not isinstance(work, Ask) or not isinstance(work.question, self.kind):
            return delivery
        self.done = True
        return self.spoil(delivery)


def moved(delivery):
    """Add to one sum: it is then not that of the other trees or, where one group stands alone, more than rows have."""
    exact = delivery.exact.exact.copy()
    exact.reshape(-1)[0] += 2**40 if exact.ndim == 2 else 1  # of groups alone are there two axes
    return delivery._replace(exact=Sums(exact, delivery.exact.largest))


QUESTIONS = [Gradient, HessianProduct, Residuals, GroupSums, CellCount, ClassCount]
FAULTS = {
    "a cell's sum": (moved, ExecutorError, "something other than counts"),
    "another shape": (
        lambda delivery: delivery._replace(exact=Sums(delivery.exact.exact[:-1], 0.0)), ExecutorError,
        "something other than counts",
    ),
    "floats": (
        lambda delivery: delivery._replace(exact=Sums(delivery.exact.exact * 1.0, 0.0)), ExecutorError,
        "something other than counts",
    ),
    "no sums": (lambda delivery: delivery._replace(exact=None), ExecutorError, "something other than counts"),
    "no delivery": (lambda delivery: delivery.exact, ExecutorError, "something other than counts"),
    "another part": (
        lambda delivery: delivery._replace(partition=f"{1 - int(delivery.partition)}"), ExecutorError,
        "returned a part of the rows twice",
    ),
    "an unknown part": (
        lambda delivery: delivery._replace(partition="9"), ExecutorError, "returned a part of the rows twice",
    ),
    "other rows": (
        lambda delivery: delivery._replace(n_rows=delivery.n_rows + 1), DataError, "the rows changed while they were",
    ),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_result_that_is_wrong_repeated_or_of_other_rows_is_refused(kind, fault):
    schema, rows = table()
    spoil, error, sentence = FAULTS[fault]
    executor = Spoils(kind, spoil)
    with pytest.raises(error, match=sentence):
        fitted(schema, rows.to_batches(max_chunksize=N_ROWS // 2), executor)
    assert executor.done


def test_a_missing_part_is_refused():
    objective = problem(3, n_rows=100)
    parts = part_rows(objective)

    class Loses:
        def deliver(self, work):
            ids, deliveries = parts.parts.deliver(work)
            return ids, list(deliveries)[:-1]

    with pytest.raises(ExecutorError, match="did not return all parts of the rows; nothing was released"):
        replace(parts, parts=Loses()).exact_classes(2)


def part_rows(objective, cut=(0, 30, 30, 71)):
    """Return the rows of a problem with workers, in four parts of which one is empty."""
    rows, ends = objective.rows, [*cut[1:], objective.rows.n_lines]
    held = {}
    for i, (start, end) in enumerate(zip(cut, ends, strict=True)):
        columns = (getattr(rows, name) for name in ("cells", "labels", "weights", "scores"))
        held[f"{i}"] = CodedPart(f"{i}", LeafRows(*(None if own is None else own[start:end] for own in columns)))

    class Here:
        def deliver(self, work):
            return list(held), [work(held[own]) for own in reversed(held)]  # the order does not matter

    parts = PartitionedRows(Here(), Encoder(schema_of()))
    return PartRows(parts, Here(), replace(rows, cells=rows.cells[:0], labels=rows.labels[:0],
                    scores=None if rows.scores is None else rows.scores[:0]),
                    {own: part.rows.n_lines for own, part in held.items()})  # fmt: skip


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["hard", "soft", "later"])
def test_sums_over_parts_are_those_of_all_rows_bit_for_bit(n_classes, kind):
    here = problem(3, n_rows=100, n_classes=n_classes, kind=kind)
    there = replace(here, rows=part_rows(here))
    weights, direction = random_weights(here), random_weights(here, 2)
    assert_array_equal(there.gradient(weights), here.gradient(weights))
    assert_array_equal(there.hessian_product(direction), here.hessian_product(direction))
    for step in (1, 2, 7, 100):
        for name in ("cells", "labels", "weights", "scores"):
            assert_array_equal(getattr(there.rows.every(step), name), getattr(here.rows.every(step), name))


def test_evenly_spaced_lines_by_hand():
    # Parts of 3, 0 and 4 lines; every third line is the first, the fourth and the seventh.
    rows = LeafRows(np.arange(7, dtype=np.uint8)[:, None], np.zeros(7, np.uint8))
    asked = {own: Pick({"a": 0, "b": 0, "c": 0}, 3)(CodedPart(own, rows.lines(0, 1))).exact for own in "a"}
    assert asked["a"].cells[:, 0].tolist() == [0, 3, 6]
    shifted = Pick({"a": 2}, 3)(CodedPart("a", rows)).exact
    assert shifted.cells[:, 0].tolist() == [2, 5]


@pytest.mark.parametrize(
    ("question", "right"),
    [
        (ClassCount(2), [3, 4]),
        (CellCount(np.array([0, 2]), 5), [3, 4, 1, 1, 5]),
        (KindCount((2, 2)), [1, 2, 4, 0]),
    ],
)
def test_counts_that_cannot_be_of_so_many_rows_are_unsound(question, right):
    assert question.is_sound(np.array(right), 7)
    assert not question.is_sound(np.array(right), 8)
    assert not question.is_sound(np.array([*right[:-1], right[-1] + 1]), 7)
    assert not question.is_sound(np.array([right[0] + 9, right[1] - 9, *right[2:]]), 7)  # fewer than no rows


def test_residuals_larger_than_one_are_unsound():
    first = FirstStage(np.array([0]), np.zeros(2), np.zeros((2, 2)), 1.0)
    leaves = np.array([0]), np.array([0]), np.zeros(2, np.uint16)
    groups = GroupSums(first, leaves, np.array([1]), np.array([[0]]), np.array([0, 1]))
    assert groups.is_sound(np.array([[2**20]]), 1)
    assert not groups.is_sound(np.array([[2**20 + 1]]), 1)
    sums = Residuals(np.zeros((2, 1, 2)), np.array([0]), np.zeros(2), 1.0)
    right = np.array([[[2**24], [0]], [[0], [0]], [[0], [0]]])
    assert sums.is_sound(right, 1)
    assert not sums.is_sound(right + 1, 1)


def test_what_travels_is_released_weights_and_sums():
    schema, rows = table()
    sent, returned, kinds = {}, {}, set()

    class Weighs(AtOnce):
        def submit(self, fn, /, *args, **kwargs):
            work = args[0]
            kind = type(getattr(work, "question", work) or work).__name__
            kinds.add(kind)
            sent[kind] = max(sent.get(kind, 0), len(pickle.dumps(work)))
            future = super().submit(fn, *args, **kwargs)
            returned[kind] = max(returned.get(kind, 0), len(pickle.dumps(future.result())))
            return future

    fitted(schema, rows.to_batches(max_chunksize=N_ROWS // 2), Weighs())
    assert {"Gradient", "HessianProduct", "Residuals", "GroupSums", "CellCount", "ClassCount"} <= kinds
    # A line has five bytes or more: none of these can hold half the lines, but for the sample that says where to begin.
    assert max(size for kind, size in returned.items() if kind != "Pick") < 5 * N_ROWS // 2
    assert max(sent.values()) < 5 * N_ROWS // 2


def test_a_worker_makes_a_part_once_and_again_only_where_it_is_lost():
    made = []
    part = Made("a", 4, lambda source: made.append(source) or [source], "run")
    later = Made("a", part, lambda source: [*source, "later"], "run later")
    try:
        assert later.value() == [4, "later"]
        assert later.value() is later.value()
        assert made == [4]
        KEPT.drop("run")
        assert later.value() == [4, "later"]
        assert made == [4]
        KEPT.drop("run later")
        assert later.value() == [4, "later"]
        assert made == [4, 4]
    finally:
        KEPT.drop("run")
        KEPT.drop("run later")


def test_what_nobody_asks_for_is_dropped(monkeypatch):
    kept = Kept()
    monkeypatch.setattr(engine, "_IDLE_SECONDS", 100.0)
    clock = [0.0]
    monkeypatch.setattr(engine.time, "monotonic", lambda: clock[0])
    kept.put("old", "a", 1)
    clock[0] = 60.0
    kept.put("new", "a", 2)
    clock[0] = 110.0
    kept.drop_idle()
    assert (kept.get("old", "a"), kept.get("new", "a")) == (None, 2)
    kept._timer.cancel()


def test_parts_are_dropped_with_their_fit():
    rows = PartitionedRows(OnExecutor(
        [CodedPartition("0", np.zeros((3, 4), np.uint8), np.zeros(3, np.uint16))], AtOnce()), Encoder(schema_of())
    )  # fmt: skip
    from privet.central.weights.trees import Trees

    own = coded(rows, Trees.of(GROUPS, schema_of()), n_labels=2)
    assert isinstance(own, PartRows)
    assert len(KEPT._runs) == 1
    del own
    assert not KEPT._runs


def test_deliveries_and_parts_do_not_show_rows_in_logs():
    part = CodedPart("3", LeafRows(np.array([[77]], np.uint8), np.array([1], np.uint8)))
    assert repr(part) == "CodedPart(id='3')"
    assert "77" not in repr(Delivery("3", part, 1))
    assert "77" not in repr(Made("3", np.array([77]), lambda: 77, "run"))
    assert part.__sizeof__() == 2
