"""Bytes changed or cut off, ten thousand times, in a model file and a schema file: an error, or a model that works."""

import json

import numpy as np
import pytest

import privet
from privet import Schema
from privet.datasets import tic_tac_toe
from privet.errors import PrivetError, SchemaError
from privet.model_file import VERSION, checksum
from privet.registry import METHODS
from tests.contracts.tasks import answers, data_for

CASES = 10_000


# Small trees, so that most damage hits what is not a count.
SMALL = {
    "private-rdt": {"n_trees": 2, "height": 2},
    "dp-rf": {"n_trees": 2, "epsilon": 0.1},
    "dpdf": {"n_trees": 2, "height": 2, "epsilon": 10.0},
    "diffpid3": {"height": 2, "epsilon": 20.0},
    "private-id3": {"height": 2, "epsilon": 10.0},
}


@pytest.fixture(scope="module", params=sorted(METHODS))
def model(request):
    data = data_for(request.param, tic_tac_toe())
    options = {"random_state": 0, **SMALL.get(request.param, {})}
    return METHODS[request.param](data.schema, **options).fit(data.X, data.y)


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut ``content`` short, or change one to four of its bytes."""
    if rng.random() < 0.2:
        return content[: rng.integers(0, len(content))]
    changed = bytearray(content)
    for position in rng.integers(0, len(changed), rng.integers(1, 5)):
        changed[position] = rng.integers(0, 256)
    return bytes(changed)


def with_other_digits(content: bytes, rng: np.random.Generator) -> bytes:
    """Replace one to four digits, so that most of what comes out is still JSON."""
    changed = bytearray(content)
    digits = np.flatnonzero(np.char.isdigit(np.frombuffer(content, dtype="S1")))
    for position in rng.choice(digits, rng.integers(1, 5)):
        changed[position] = rng.choice(np.frombuffer(b"0123456789-", dtype=np.uint8))
    return bytes(changed)


def predicts(model) -> bool:
    rows = np.array([[None] * model.n_features_in_, ["x"] * model.n_features_in_], dtype=object)
    return bool(np.isfinite(answers(model, rows)).all())


def outcomes_of_damage(model, path, predicts, *, n_cases):
    """Damage the model's document, give it a checksum that fits, and say how often it is refused or predicts."""
    body = {"format": "privet-model", "version": VERSION, **model.to_document()}
    content, rng = json.dumps(body).encode(), np.random.default_rng(2)
    outcomes = {"refused": 0, "predicts": 0, "no JSON": 0}
    for _ in range(n_cases):
        try:
            changed = json.loads((damaged if rng.random() < 0.3 else with_other_digits)(content, rng))
            document = {**changed, "checksum": checksum(changed)}
        except (ValueError, TypeError, RecursionError):
            outcomes["no JSON"] += 1
            continue
        path.write_text(json.dumps(document))
        try:
            assert predicts(privet.load(path))
            outcomes["predicts"] += 1
        except PrivetError:
            outcomes["refused"] += 1
    return outcomes


@pytest.mark.parametrize("name", ["model.privet", "model.privet.gz"])
def test_a_damaged_model_file_is_refused_or_predicts(model, tmp_path, name):
    model.save(tmp_path / name)
    content, rng = (tmp_path / name).read_bytes(), np.random.default_rng(1)
    refused = 0
    for _ in range(CASES // 2 // len(METHODS)):
        (tmp_path / name).write_bytes(damaged(content, rng))
        try:
            assert predicts(privet.load(tmp_path / name))
        except PrivetError:
            refused += 1
    assert refused > 0.9 * CASES / 2 / len(METHODS)


def test_a_damaged_document_whose_checksum_fits_is_refused_or_predicts(model, tmp_path):
    """The checksum stops accidents; this is what stops a stranger."""
    outcomes = outcomes_of_damage(model, tmp_path / "m.privet", predicts, n_cases=CASES // len(METHODS))
    assert min(outcomes.values()) > CASES / len(METHODS) / 100, outcomes


def test_a_damaged_schema_file_is_refused_or_is_a_schema(tmp_path):
    tic_tac_toe().schema.save(tmp_path / "s.json")
    content, rng = (tmp_path / "s.json").read_bytes(), np.random.default_rng(3)
    outcomes = {"refused": 0, "read": 0}
    for _ in range(CASES):
        (tmp_path / "s.json").write_bytes(damaged(content, rng))
        try:
            schema = Schema.load(tmp_path / "s.json")
            assert Schema.from_json(schema.to_json()) == schema
            outcomes["read"] += 1
        except SchemaError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > CASES / 100, outcomes
