"""The Spark adapter against a stand-in that does with it what Spark does; a real Spark is in test_on_spark.py."""

import sys
import types
from types import SimpleNamespace

import pyarrow as pa
import pytest

from privet import PrivateForestClassifier, PrivateRDTClassifier
from privet.counting.engines.spark import SparkFrame, _collected
from privet.errors import DataError, ExecutorError, ParameterError
from tests.counting.people import batches, in_memory, model, released


class StandIn:
    """Has a frame's methods that the adapter calls; runs a partition after the other."""

    def __init__(self, parts, spoil=list):
        self.parts, self.spoil = parts, spoil
        self.columns = parts[0].schema.names
        self.rdd = self

    def select(self, *names):
        return StandIn([part.select([name.strip("`") for name in names]) for part in self.parts], self.spoil)

    def mapInArrow(self, function, schema):
        assert schema == "partition int, delivery binary"
        rows = []
        for number, part in enumerate(self.parts):
            sys.modules["pyspark"].TaskContext.number = number
            for result in function(iter(part.to_batches(max_chunksize=40))):
                rows += result.to_pylist()
        mapped = StandIn(self.parts, self.spoil)
        mapped.rows = self.spoil(rows)
        return mapped

    def collect(self):
        return self.rows

    def persist(self):
        """Keep what was mapped, as the next one's partitions."""
        kept = [
            pa.Table.from_pylist([row for row in self.rows if row["partition"] == i]) for i in range(len(self.parts))
        ]
        return StandIn(kept, self.spoil)

    def unpersist(self):
        """Forget it."""

    def getNumPartitions(self):
        return len(self.parts)


StandIn.__module__ = "pyspark.sql.dataframe"


@pytest.fixture(autouse=True)
def pyspark(monkeypatch):
    class TaskContext:
        number = 0

        @classmethod
        def get(cls):
            return SimpleNamespace(partitionId=lambda: cls.number)

    module = types.ModuleType("pyspark")
    module.TaskContext = TaskContext
    monkeypatch.setitem(sys.modules, "pyspark", module)


def parts() -> list:
    return [pa.Table.from_batches([batch]) for batch in batches()]


def test_partitions_are_counted_apart_and_added_up():
    assert released(model().fit(StandIn(parts()))) == in_memory()
    assert released(model().fit(StandIn([*parts(), parts()[0].slice(0, 0)]))) == in_memory()


@pytest.mark.parametrize("piece", [2**28, 1000])
def test_the_recommended_forest_keeps_its_coded_rows_in_spark(monkeypatch, piece):
    monkeypatch.setattr("privet.counting.engines.spark._PIECE", piece)
    if piece == 1000:  # sums are never cut
        monkeypatch.setattr("privet.counting.engines.spark._collected", uncut(_collected))
    for parameters in ({}, {"epsilon": 100.0}):
        expected = in_memory(PrivateForestClassifier, **parameters)
        assert released(model(PrivateForestClassifier, **parameters).fit(StandIn(parts()))) == expected


def uncut(collected):
    """Return what collects results in one piece each, however small pieces of what is kept are."""

    def collect(frame, task):
        from unittest.mock import patch

        with patch("privet.counting.engines.spark._PIECE", 2**28):
            return collected(frame, task)

    return collect


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda rows: [*rows, rows[1]], "returned a part of the rows twice"),
        (lambda rows: rows[:-1], "did not return all parts"),
        (lambda rows: [*rows[:-1], rows[0]], "returned a part of the rows twice"),
        (lambda rows: 1 / 0, r"^spark failed \(ZeroDivisionError\) before all rows were counted, and nothing was"),
    ],
)
def test_of_each_partition_one_result_is_taken(spoil, sentence):
    with pytest.raises(ExecutorError, match=sentence):
        PrivateRDTClassifier(model().schema).fit(StandIn(parts(), spoil))


def test_what_is_wrong_with_the_rows_comes_back_as_a_sentence():
    spoiled = parts()
    spoiled[3] = spoiled[3].set_column(4, "ill", pa.array(["marked-4711"] * 100))
    with pytest.raises(DataError, match="^column 'ill' has labels that are not in the schema's classes; add them"):
        model().fit(StandIn(spoiled))
    with pytest.raises(DataError, match="the table lacks the column 'hours'"):
        model().fit(StandIn([part.drop_columns(["hours"]) for part in parts()]))


def test_persons_are_refused():
    with pytest.raises(ParameterError, match="rows are counted in parts, and those of one 'id' may be in several"):
        model(unit="id").fit(StandIn(parts()))


def test_the_adapter_asks_for_the_schemas_columns_alone():
    seen = []

    class Asked(StandIn):
        def select(self, *names):
            seen.append(names)
            return super().select(*names)

    Asked.__module__ = StandIn.__module__
    model().fit(Asked(parts()))
    assert seen == [("`age`", "`job`", "`hours`", "`ill`")]
    assert SparkFrame(Asked(parts())).frame.columns[0] == "id"
