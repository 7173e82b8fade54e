"""What the search found stays mended: one test for each leak."""

import pickle
import re
import traceback
from concurrent.futures import Future

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.counting.engines.parts import CodedPartition, Delivery, TablePartition
from privet.counting.rows import MemoryRows
from privet.errors import DataError, ExecutorError, ParameterError, PrivetError
from tests.leaks.marks import CATEGORY
from tests.leaks.process_places import Broken
from tests.leaks.tables import not_utf8

SCHEMA = Schema([Numeric("age", 0, 100), Categorical("smokes", ["no", "yes"])], classes=["no", "yes"], rows=40)
X = pd.DataFrame({"age": np.arange(41.0), "smokes": ["no", "yes"] * 20 + ["no"]})
Y = np.array(["no", "yes"] * 20 + ["no"], dtype=object)


def fitted():
    return PrivateRDTClassifier(SCHEMA, epsilon=1.0, n_trees=2, height=2).fit(X, Y)


@pytest.mark.parametrize(
    ("labels", "weights"),
    [
        (Y[:-1], None),
        (np.full(41, 4711), None),
        (np.array([*Y[:-1], 4711], dtype=object), None),
        (X, None),
        (Y, np.ones(40)),
    ],
    ids=["too few", "of another type", "of mixed types", "a table", "too few weights"],
)
def test_a_score_that_cannot_be_computed_quotes_no_label_and_no_number_of_rows(labels, weights):
    sentence = "^y and sample_weight do not fit the rows to score; pass one label of the classes' type"
    with pytest.raises(DataError, match=sentence) as refused:
        fitted().score(X, labels, sample_weight=weights)
    printed = "".join(traceback.format_exception(refused.value))
    assert not any(exact in printed for exact in ("4711", "[40", "41]", "41,"))


def test_a_score_is_the_share_of_rows_that_are_right_as_before():
    model = fitted()
    right = model.predict(X) == Y
    assert model.score(X, Y) == right.mean()
    assert model.score(X, pd.Series(Y)) == right.mean()
    weights = np.arange(41.0)
    assert model.score(X, Y, sample_weight=weights) == pytest.approx(weights[right].sum() / weights.sum())


def test_text_that_is_no_utf8_is_not_carried_by_an_error_when_a_schema_is_inferred():
    # Python's own error keeps the bytes that it could not read, and shows them in its repr.
    table = not_utf8(pd.DataFrame({"sex": ["female"] * 9}))
    with (
        pytest.warns(UserWarning, match="infer"),
        pytest.raises(DataError, match="^column 'sex' holds text that is") as no,
    ):
        PrivateRDTClassifier("infer").fit(table, Y[:9])
    assert no.value.__cause__ is no.value.__context__ is None


def test_what_a_worker_stumbled_on_is_neither_printed_nor_sent_along():
    with pytest.raises(ExecutorError, match=r"^the executor failed \(ValueError\) before all rows") as broken:
        PrivateRDTClassifier(SCHEMA, n_trees=2).fit(X, Y, executor=Broken())
    error = broken.value
    assert CATEGORY not in "".join(traceback.format_exception(error))
    assert error.__cause__ is error.__context__ is None
    assert CATEGORY.encode() not in pickle.dumps(error)


@pytest.mark.parametrize("kind", [PrivetError, DataError, ParameterError])
def test_what_is_cut_off_from_an_error_cannot_be_reached_and_what_is_not_can(kind):
    def raised(cut):
        try:
            float(CATEGORY)
        except ValueError:
            if cut:
                raise kind("a value is no number") from None
            raise kind("a value is no number")  # noqa: B904 - the other way of raising

    with pytest.raises(kind) as cut:
        raised(cut=True)
    assert cut.value.__context__ is None
    with pytest.raises(kind) as whole:
        raised(cut=False)
    assert isinstance(whole.value.__context__, ValueError)


def test_parts_of_a_table_do_not_show_their_rows():
    codes, labels = np.full((3, 2), 201, dtype=np.uint8), np.full(3, 202, dtype=np.uint16)
    things = [
        MemoryRows(codes, labels),
        CodedPartition("7", codes, labels),
        TablePartition("7", pa.table({"sex": [CATEGORY]})),
        Delivery("7", codes, 203),
    ]
    shown = repr(things)
    assert not any(exact in shown for exact in (CATEGORY, "201", "202", "203"))
    assert "CodedPartition(id='7')" in shown
    assert "Delivery(partition='7')" in shown


def test_a_delivery_is_still_the_tuple_that_engines_send():
    future: Future[Delivery] = Future()
    future.set_result(pickle.loads(pickle.dumps(Delivery("7", None, 3))))
    assert future.result() == ("7", None, 3)


def test_the_first_row_of_a_file_without_a_header_is_not_quoted(tmp_path):
    (tmp_path / "rows.csv").write_text("agee,smoke,noo\n4,no,no\n")
    sentence = "the table lacks the column 'age'; it has none of the wanted columns: does it name its columns?"
    with pytest.raises(DataError, match=f"^{re.escape(sentence)}$"):
        PrivateRDTClassifier(SCHEMA).fit(tmp_path / "rows.csv")
    # Where another column is there, the first line is a header, and a near miss is worth naming.
    (tmp_path / "rows.csv").write_text("agee,smokes,class\n4,no,no\n")
    with pytest.raises(DataError, match="lacks the column 'age'; did you mean 'agee'"):
        PrivateRDTClassifier(SCHEMA).fit(tmp_path / "rows.csv")
