"""Dask's frames and executors; a cluster of processes that die is in test_on_dask_cluster.py."""

import pytest

from privet import DPDFClassifier, PrivateForestClassifier, PrivateRDTClassifier
from privet.counting.engines.dask import cluster_executor
from privet.errors import DataError, ExecutorError, ParameterError
from tests.counting.people import SCHEMA, in_memory, model, people, released


@pytest.fixture(scope="module")
def dask():
    """Imported here: it takes long, and collecting tests should not."""
    import dask
    import dask.dataframe

    return dask


@pytest.fixture
def frame(dask):
    return dask.dataframe.from_pandas(people(), npartitions=4)


@pytest.fixture
def synchronous(dask):
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.mark.parametrize("method", [PrivateRDTClassifier, DPDFClassifier, PrivateForestClassifier])
def test_a_frame_without_a_cluster_releases_what_one_process_does(frame, method):
    assert released(model(method).fit(frame)) == in_memory(method)


def test_a_frame_is_counted_by_the_current_client_and_files_by_its_executor(frame, tmp_path, monkeypatch):
    from distributed import Client, LocalCluster

    monkeypatch.setattr("privet.counting.sources._PARTITION_ROWS", 60)
    people().to_parquet(tmp_path / "rows.parquet", row_group_size=60)
    inside = {"processes": False, "n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**inside) as cluster, Client(cluster) as client:
        assert released(model().fit(frame)) == in_memory()
        assert released(model().fit(frame.persist())) == in_memory()
        assert released(model().fit(tmp_path / "rows.parquet", executor=client.get_executor())) == in_memory()
        with cluster_executor(cluster.scheduler_address) as executor:
            assert released(model(DPDFClassifier).fit(tmp_path / "rows.parquet", executor=executor)) == in_memory(
                DPDFClassifier
            )


def test_what_is_wrong_with_a_partition_is_said(dask, synchronous):
    spoiled = people()
    spoiled.loc[499, "ill"] = "marked-4711"
    with pytest.raises(DataError, match="^column 'ill' has labels that are not in the schema's classes; add them"):
        model().fit(dask.dataframe.from_pandas(spoiled, npartitions=3))
    with pytest.raises(DataError, match="the table lacks the column 'hours'"):
        model().fit(dask.dataframe.from_pandas(people().drop(columns="hours"), npartitions=3))


def test_a_partition_that_cannot_be_made_stops_the_fit(frame, synchronous):
    def broken(part):
        raise ZeroDivisionError("marked-4711")

    with pytest.raises(ExecutorError, match=r"^dask failed \(ZeroDivisionError\) before all rows were counted") as said:
        model().fit(frame.map_partitions(broken, meta=people()[:0]))
    assert "4711" not in str(said.value)


def test_a_frame_takes_no_executor_no_labels_and_no_persons(frame):
    from concurrent.futures import ThreadPoolExecutor

    with (
        ThreadPoolExecutor(1) as pool,
        pytest.raises(ParameterError, match="is counted by dask itself; leave the exec"),
    ):
        model().fit(frame, executor=pool)
    with pytest.raises(ParameterError, match="leave y out"):
        model().fit(frame, frame["ill"])
    with pytest.raises(ParameterError, match="rows are counted in parts, and those of one 'id' may be in several"):
        model(unit="id").fit(frame)


def test_a_cluster_that_is_not_there_is_said(dask, tmp_path):
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "200ms"}),
        pytest.raises(
            ParameterError, match="cannot reach a Dask scheduler at 'tcp://127.0.0.1:9'.*; check the address"
        ),
        cluster_executor("tcp://127.0.0.1:9"),
    ):
        pass
    with (
        pytest.raises(ParameterError, match="cannot read '.*ca.pem', which is named for TLS; check the path"),
        cluster_executor("tls://127.0.0.1:9", ca=tmp_path / "ca.pem"),
    ):
        pass


def test_only_the_columns_of_the_schema_are_computed(frame, synchronous):
    seen = []

    def look(part):
        seen.append(sorted(part.columns))
        return part

    spied = frame.map_partitions(look, meta=people()[:0])
    assert released(model().fit(spied[[*SCHEMA.names, "ill"]])) == in_memory()
    assert seen


@pytest.fixture(scope="module")
def forest():
    table = people()
    return model(PrivateForestClassifier, epsilon=100.0).fit(table[list(SCHEMA.names)], table["ill"])


def test_a_frame_is_predicted_by_partition_and_only_when_it_is_computed(dask, frame, forest):
    asked = []

    def look(part):
        asked.append(len(part))
        return part

    table = people()
    classes = forest.predict(frame.map_partitions(look, meta=table[:0]))
    chances = forest.predict_proba(frame)
    assert not asked
    assert type(classes).__module__.startswith("dask")
    with dask.config.set(scheduler="synchronous"):
        found, probable = classes.compute(), chances.compute()
    assert asked == [125] * 4
    # The label and the persons' numbers are columns that the schema's attributes leave alone.
    assert list(found) == list(forest.predict(table[list(SCHEMA.names)]))
    assert (found.name, list(found.index)) == ("prediction", list(table.index))
    assert (probable.to_numpy() == forest.predict_proba(table[list(SCHEMA.names)])).all()
    assert list(probable.columns) == ["no", "yes"]
    assert classes.dtype == found.dtype


def test_every_method_and_kind_of_label_predicts_a_frame(dask, synchronous):
    table = people().assign(ill=[5, 9] * 250)
    schema = type(SCHEMA)(SCHEMA.attributes, classes=[5, 9], target="ill", rows=500)
    fitted = model(schema=schema).fit(table[list(SCHEMA.names)], table["ill"])
    frame = dask.dataframe.from_pandas(table, npartitions=3)
    assert list(fitted.predict(frame).compute()) == list(fitted.predict(table[list(SCHEMA.names)]))
    nothing = frame[frame["age"] < 0]
    assert len(fitted.predict(nothing).compute()) == 0
    assert fitted.predict_proba(nothing).compute().shape == (0, 2)


def test_a_frame_that_cannot_be_predicted_is_refused_at_once(frame, forest):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(DataError, match="the table lacks the column 'hours'"):
        forest.predict(frame.drop(columns="hours"))
    with pytest.raises(ParameterError, match="logarithms of a dask frame are dask's to take; use predict_proba"):
        forest.predict_log_proba(frame)
    with pytest.raises(NotFittedError):
        model(PrivateForestClassifier).predict(frame)


def test_workers_get_the_model_without_its_ledger(frame, tmp_path):
    from privet import Ledger

    table = people()
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=2.0)
    own = PrivateForestClassifier(SCHEMA, epsilon=1.0, ledger=ledger).fit(table[list(SCHEMA.names)], table["ill"])
    sent = own._predicting(of_classes=True).answer.__self__
    assert sent.ledger is None
    assert own.ledger is ledger
