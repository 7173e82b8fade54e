import gzip
import json
import math
import os
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import privet
from privet import Categorical, Numeric, PrivateRDTClassifier, Schema
from privet.errors import ModelFileError, ParameterError, PrivetError
from privet.model_file import checksum, read_document
from privet.privacy.events import DiscreteLaplace, Parallel, Sequential
from privet.privacy.guarantee import Guarantee
from privet.registry import METHODS
from tests.contracts.tasks import answers, labels_for, schema_for

SCHEMA = Schema([Numeric("x", 0, 1, bins=4), Categorical("c", ["u", "v"])], classes=["no", "yes"], rows=100)
LEAVES = DiscreteLaplace("class counts of leaves", 1.0, 3, Fraction(3))
ROWS = np.array([[0.1, "u"], [0.9, "v"], [None, None], [0.5, "w"]], dtype=object)


def a_model(**changes) -> PrivateRDTClassifier:
    return PrivateRDTClassifier(SCHEMA, **{"n_trees": 3, "height": 2, "random_state": 77_123, **changes}).fit(
        ROWS, ["no", "yes", "yes", "no"]
    )


def a_document() -> dict:
    return {"format": "privet-model", "version": 2, **a_model().to_document()}


def written(path, document: dict):
    path.write_text(json.dumps({**document, "checksum": checksum(document)}))
    return path


@pytest.mark.parametrize("name", ["model.privet", "model.privet.gz", "no-ending"])
@pytest.mark.parametrize("epsilon", [0.5, math.inf])
def test_a_model_comes_back_with_the_same_answers_and_the_same_promise(tmp_path, name, epsilon):
    model = a_model(epsilon=epsilon)
    model.save(tmp_path / name)
    again = privet.load(tmp_path / name)
    assert type(again) is PrivateRDTClassifier
    assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
    assert_array_equal(again.predict(ROWS), model.predict(ROWS))
    assert_array_equal(again.feature_importances_, model.feature_importances_)
    assert again.guarantee_ == model.guarantee_
    assert again.schema_ == model.schema_
    assert (again.noise_std_, again.epsilon, again.n_trees) == (model.noise_std_, epsilon, 3)


def test_a_loaded_model_takes_another_batch(tmp_path):
    a_model().save(tmp_path / "m.privet")
    again = privet.load(tmp_path / "m.privet").partial_fit(ROWS, ["no", "yes", "yes", "no"])
    assert len(again.noise_growth_) == 2
    again.save(tmp_path / "m.privet")
    assert len(privet.load(tmp_path / "m.privet").noise_growth_) == 2


def test_the_file_holds_no_seed_no_exact_count_and_is_plain_json(tmp_path):
    a_model(unsafe_seeded_noise=True).save(tmp_path / "m.privet")
    text = (tmp_path / "m.privet").read_text()
    assert set(json.loads(text)) == {
        "format", "version", "checksum", "method", "parameters", "schema", "structure", "released", "guarantee",
    }  # fmt: skip
    assert "77123" not in text
    assert "random_state" not in text


def test_the_file_ending_in_gz_is_gzipped_and_repeats_byte_for_byte(tmp_path):
    model = a_model()
    for name in ("a.gz", "b.gz"):
        model.save(tmp_path / name)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()
    assert json.loads(gzip.decompress((tmp_path / "a.gz").read_bytes()))["version"] == 2


def test_a_file_of_the_first_version_opens_and_protects_rows(tmp_path):
    model = a_model()
    model.save(tmp_path / "m.privet")
    body = {key: value for key, value in read_document(tmp_path / "m.privet").items() if key != "checksum"}
    guarantee = {key: value for key, value in body["guarantee"].items() if key != "max_rows"}
    first = {key: value for key, value in {**body, "version": 1, "guarantee": guarantee}.items() if key != "parameters"}
    (tmp_path / "first.privet").write_text(json.dumps({**first, "checksum": checksum(first)}))
    assert privet.load(tmp_path / "first.privet").guarantee_ == model.guarantee_
    later = {**body, "version": 3}
    (tmp_path / "later.privet").write_text(json.dumps({**later, "checksum": checksum(later)}))
    with pytest.raises(ModelFileError, match="a format version that this privet does not know; update privet"):
        privet.load(tmp_path / "later.privet")


def test_a_model_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    with pytest.raises(ParameterError, match="cannot write to .*; choose another path"):
        a_model().save(tmp_path / "nowhere" / "m.privet")
    (tmp_path / "folder").mkdir()
    with pytest.raises(ParameterError, match="cannot write to .*; choose another path"):
        a_model().save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_pipe_or_device_is_not_replaced_by_a_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="it is no regular file; choose another path"):
        a_model().save(tmp_path / "pipe")
    assert (tmp_path / "pipe").is_fifo()


def test_a_link_is_followed_and_permissions_are_kept(tmp_path):
    (tmp_path / "real.privet").touch(mode=0o600)
    (tmp_path / "link.privet").symlink_to(tmp_path / "real.privet")
    a_model().save(tmp_path / "link.privet")
    assert (tmp_path / "link.privet").is_symlink()
    assert (tmp_path / "real.privet").stat().st_mode & 0o777 == 0o600
    assert privet.load(tmp_path / "real.privet").n_trees == 3


def test_a_small_file_that_unfolds_to_millions_of_lists_is_not_opened(tmp_path):
    (tmp_path / "m.privet").write_bytes(gzip.compress(b'{"a": [' + b"[]," * 1_000_001 + b"1]}"))
    with pytest.raises(ModelFileError, match="holds more parts than any model privet writes; it is not opened"):
        privet.load(tmp_path / "m.privet")


def test_an_unfitted_model_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted yet"):
        PrivateRDTClassifier(SCHEMA).save(tmp_path / "m.privet")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is not a model file, or it is damaged"),
        (b"\x80\x04\x95", "is not a model file, or it is damaged"),
        (b"[" * 100_000, "is not a model file, or it is damaged"),
        (b"[1, 2]", "is not a privet model file"),
        (b'{"format": "other"}', "is not a privet model file"),
        (
            b'{"format": "privet-model", "version": 9}',
            "format version that this privet does not know; update privet",
        ),
        (b'{"format": "privet-model", "version": 1}', "its checksum does not fit"),
        (b"\x1f\x8b broken", "does not unpack"),
        (gzip.compress(b"{}", mtime=0)[:-6], "does not unpack"),
    ],
)
def test_a_file_that_is_no_model_is_refused(tmp_path, content, sentence):
    (tmp_path / "m.privet").write_bytes(content)
    with pytest.raises(ModelFileError, match=sentence):
        privet.load(tmp_path / "m.privet")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(ModelFileError, match="cannot read the model .*check the path"):
        privet.load(tmp_path / "m.privet")


def test_a_changed_number_does_not_fit_the_checksum(tmp_path):
    a_model().save(tmp_path / "m.privet")
    document = json.loads((tmp_path / "m.privet").read_text())
    document["released"]["counts"][0] += 1
    (tmp_path / "m.privet").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="its checksum does not fit"):
        privet.load(tmp_path / "m.privet")


def replaced(document: dict, path: tuple, value: object) -> dict:
    """Return a copy of the document with one part replaced."""
    copy = json.loads(json.dumps(document))
    part = copy
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    return copy


@pytest.mark.parametrize(
    ("path", "value", "sentence"),
    [
        (("method",), "Magic", "a method that this privet does not know"),
        (("method",), ["private-rdt"], "a method that this privet does not know"),
        (("schema", "classes"), ["no"], "the model's schema is damaged"),
        (("schema", "attributes", 0, "bins"), 1, "cut lies outside its attribute's cells"),
        (("schema", "attributes", 1, "categories"), ["u"], "too many or too few nodes"),
        (("schema", "classes"), ["no", "perhaps", "yes"], "the released counts do not fit the trees and classes"),
        (("structure",), [], "the structure lacks a part"),
        (("structure", "n_trees"), 1e3, "structure.n_trees must hold whole numbers"),
        (("structure", "n_trees"), 10**9, "hold no root"),
        (("structure", "attribute", 0), 10**6, "tests an attribute that the schema lacks"),
        (("structure", "attribute", 0), 10**30, "structure.attribute must hold whole numbers"),
        (("structure", "attribute", 0), True, "structure.attribute must hold whole numbers"),
        (("structure", "cut", 0), "0", "structure.cut must hold whole numbers"),
        (("released",), {"counts": [], "exact": []}, "this method releases counts and nothing else"),
        (("released", "counts"), [], "the released counts do not fit the trees and classes"),
        (("released", "counts"), {}, "released.counts must hold whole numbers"),
        (("released", "counts", 0), [1], "released.counts must hold whole numbers"),
        (("released", "counts", 0), 2**60, "released.counts must hold whole numbers"),
        (("released", "counts", 0), True, "released.counts must hold whole numbers"),
        (("released", "counts", 0), 0.5, "released.counts must hold whole numbers"),
        (("guarantee", "epsilon"), 0.001, "does not follow from its receipts"),
        (("guarantee", "event", "epsilon"), 10**400, "a receipt's epsilon is not what privet writes"),
        (("guarantee", "leaks"), ["bounds of 'x'"], "does not follow from its receipts"),
        (("schema", "classes"), ["yes", "no"], "the model's schema is not as privet writes it"),
    ],
)
def test_a_stranger_who_computes_the_checksum_still_cannot_pass_a_broken_model(tmp_path, path, value, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        privet.load(written(tmp_path / "m.privet", replaced(a_document(), path, value)))


def test_a_receipt_for_fewer_trees_than_there_are_is_refused(tmp_path):
    document = a_document()
    event = DiscreteLaplace("class counts of leaves", 0.1, 1, Fraction(10))
    cheap = Guarantee.from_event(event, public=document["guarantee"]["public"])
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        privet.load(written(tmp_path / "m.privet", {**document, "guarantee": cheap.to_json()}))


@pytest.mark.parametrize(
    "event",
    [
        Sequential((Parallel((DiscreteLaplace("rows", 1.0, 1, Fraction(1)),), because="x"), LEAVES)),
        Sequential((LEAVES, LEAVES, LEAVES)),
        Parallel((LEAVES,) * 10_001, because="no row is in more than one batch"),
    ],
)
def test_receipts_that_no_fit_writes_are_refused(tmp_path, event):
    document = a_document()
    assumptions = ["no row is in more than one batch"] if isinstance(event, Parallel) else []
    strange = Guarantee.from_event(event, public=document["guarantee"]["public"], assumptions=assumptions)
    with pytest.raises(ModelFileError, match="the guarantee is not that of this schema and these trees"):
        privet.load(written(tmp_path / "m.privet", {**document, "guarantee": strange.to_json()}))


def test_counts_that_would_overflow_when_added_up_are_refused(tmp_path):
    document = a_document()
    leaves = [-1] * 10_000
    document["structure"] = {"n_trees": 10_000, "attribute": leaves, "cut": leaves}
    document["schema"]["classes"] = [f"c{i:02}" for i in range(64)]
    document["released"]["counts"] = [2**45] * 640_000
    with pytest.raises(ModelFileError, match="too large to be added up"):
        privet.load(written(tmp_path / "m.privet", document))


@pytest.mark.parametrize(
    "attributes",
    [
        [{"name": f"x{i}", "type": "continuous", "bounds": [0, 1], "bins": 65_534} for i in range(200)],
        [{"name": "c", "type": "categorical", "categories": ["a" * 100_000]}],
    ],
)
def test_a_schema_that_would_exhaust_the_memory_is_refused(tmp_path, attributes):
    document = replaced(a_document(), ("schema", "attributes"), attributes)
    with pytest.raises(
        ModelFileError, match="the model's schema is damaged: .*(more than 8,388,608 values|1,000 characters)"
    ):
        privet.load(written(tmp_path / "m.privet", document))


# A file of every method, small enough that parts other than counts are often hit.
DOCUMENTS = {
    name: {
        "format": "privet-model",
        "version": 2,
        **estimator(schema_for(name, SCHEMA), epsilon=9.0, random_state=3)
        .fit(ROWS, labels_for(name, SCHEMA, ["no", "yes", "yes", "no"]))
        .to_document(),
    }
    for name, estimator in sorted(METHODS.items())
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats() | st.text(max_size=3) | st.just(2**70),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=5,
)


def every_path(part: object, here: tuple = ()) -> list[tuple]:
    items = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    return [path for key, inner in items for path in ((*here, key), *every_path(inner, (*here, key)))]


@pytest.mark.parametrize("method", sorted(METHODS))
@given(data=st.data(), value=JSON)
@settings(max_examples=100, deadline=None)
def test_any_part_replaced_by_anything_is_refused_or_still_predicts(method, data, value, tmp_path_factory):
    document = DOCUMENTS[method]
    # Any of the document's branches first, so that its many counts do not take all the attempts.
    branch = data.draw(st.sampled_from([key for key in document if key not in {"format", "version"}]))
    path = data.draw(st.sampled_from([path for path in every_path(document) if path[0] == branch]))
    file = written(tmp_path_factory.mktemp("m") / "m.privet", replaced(document, path, value))
    try:
        model = privet.load(file)
    except PrivetError:
        return
    rows_that_fit_any_schema = np.full((2, model.n_features_in_), None)
    assert np.isfinite(answers(model, rows_that_fit_any_schema)).all()
