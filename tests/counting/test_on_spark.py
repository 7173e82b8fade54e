"""Spark's frames, in a Spark of two workers that may fail a task four times: `make spark` runs this."""

import os
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from privet import DPDFClassifier, PrivateForestClassifier, PrivateRDTClassifier
from privet.errors import DataError, ParameterError
from tests.counting.people import SCHEMA, in_memory, model, people, released

pytestmark = [
    pytest.mark.spark,
    # Spark's own sockets and deprecated calls, not ours.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::FutureWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::UserWarning"),
]


@pytest.fixture(scope="module")
def session():
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2,4]").appName("privet")
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()


@pytest.fixture(scope="module")
def frame(session, tmp_path_factory):
    path = tmp_path_factory.mktemp("spark") / "rows.parquet"
    people().to_parquet(path, row_group_size=60)
    return session.read.parquet(str(path)).repartition(7)


@pytest.mark.parametrize("method", [PrivateRDTClassifier, DPDFClassifier])
def test_counts_of_a_spark_frame_are_those_of_one_process(frame, method):
    assert released(model(method).fit(frame)) == in_memory(method)


@pytest.fixture(scope="module")
def in_order(session):
    """The same rows in the order of the table, in five partitions."""
    rows = session.sparkContext.parallelize(people().astype(object).to_numpy().tolist(), 5)
    return session.createDataFrame(rows, "id long, age double, job string, hours double, ill string")


@pytest.mark.parametrize("epsilon", [1.0, 1000.0])
def test_the_recommended_forest_is_that_of_one_process_bit_for_bit(in_order, epsilon):
    fitted = model(PrivateForestClassifier, epsilon=epsilon).fit(in_order)
    assert released(fitted) == in_memory(PrivateForestClassifier, epsilon=epsilon)


def test_the_recommended_forest_takes_rows_in_any_order(frame):
    # Where the solver begins depends on the order, and with it the last digits, which noise hides.
    fitted = model(PrivateForestClassifier, epsilon=1000.0).fit(frame)
    table = people()
    assert fitted.score(table[list(SCHEMA.names)], table["ill"]) > 0.8


def test_a_failing_task_changes_no_bit_of_the_recommended_forest(in_order, tmp_path):
    mark = tmp_path / "failed"
    shaky = in_order.mapInArrow(failing_once(str(mark)), in_order.schema)
    assert released(model(PrivateForestClassifier).fit(shaky)) == in_memory(PrivateForestClassifier)
    assert mark.exists()


def test_a_frame_is_predicted_lazily_with_a_column_more(frame):
    table = people()
    fitted = model(PrivateForestClassifier, epsilon=100.0).fit(table[list(SCHEMA.names)], table["ill"])
    predicted = fitted.predict_proba(fitted.predict(frame))
    assert predicted.columns == [*frame.columns, "prediction", "probability"]
    found = predicted.toPandas().sort_values("id")
    assert found["prediction"].tolist() == fitted.predict(table[list(SCHEMA.names)]).tolist()
    assert found["probability"].map(list).tolist() == fitted.predict_proba(table[list(SCHEMA.names)]).tolist()
    with pytest.raises(ParameterError, match="the frame has a column 'prediction' already; rename it, or drop it"):
        fitted.predict(predicted)


def failing_once(mark: str):
    """Return what passes batches on and fails the first time that partition 3 runs it."""

    def passed_on(batches):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == 3 and not os.path.exists(mark):  # noqa: PTH110
            Path(mark).touch()
            raise RuntimeError("a worker that dies")
        yield from batches

    return passed_on


def test_a_task_that_fails_and_is_run_again_counts_once(frame, tmp_path):
    mark = tmp_path / "failed"
    shaky = frame.mapInArrow(failing_once(str(mark)), frame.schema)
    assert released(model().fit(shaky)) == in_memory()
    assert mark.exists()


def test_an_empty_partition_is_delivered_too(session, frame):
    assert released(model().fit(frame.repartition(40).coalesce(33))) == in_memory()
    nothing = released(model(epsilon=float("inf")).fit(frame.limit(0)))
    assert set(nothing) == {"structure", "released"}


def test_what_is_wrong_with_the_rows_is_said_without_sparks_traceback(frame):
    from pyspark.sql.functions import lit

    with pytest.raises(DataError, match="^column 'ill' has labels that are not in the schema's classes; add them"):
        model().fit(frame.withColumn("ill", lit("marked-4711")))
    with pytest.raises(DataError, match="lacks the column 'hours'"):
        model().fit(frame.drop("hours"))


def test_persons_and_executors_are_refused(frame):
    with pytest.raises(ParameterError, match="rows are counted in parts, and those of one 'id' may be in several"):
        model(unit="id").fit(frame)


def test_files_that_spark_wrote_are_a_folder_of_parquet(frame, tmp_path):
    frame.write.parquet(str(tmp_path / "written"))
    assert pq.ParquetDataset(tmp_path / "written").fragments
    assert released(model().fit(tmp_path / "written")) == in_memory()
