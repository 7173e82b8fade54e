"""Properties that hold for any file, with inputs that hypothesis makes and, where one fails, makes small."""

import json
from contextlib import suppress

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from privet import Categorical, Numeric, Schema
from privet.errors import PrivetError, SchemaError
from privet.files.documents import parse_json
from tests.hostile.case import VIOLATION, Case, hostile_room
from tests.hostile.choices import Choices

few = settings(max_examples=150, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
# Half a surrogate pair is no character; privet refuses it, which has a test of its own.
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)
FINITE = st.floats(-1e300, 1e300, allow_nan=False)
LABELS = st.lists(TEXTS, min_size=1, max_size=5, unique=True) | st.lists(st.integers(-9, 9), min_size=1, unique=True)


@st.composite
def schemas(draw):
    names = draw(st.lists(TEXTS.filter(bool), min_size=2, max_size=5, unique=True))
    attributes = []
    for name in names[1:]:
        if draw(st.booleans()):
            attributes.append(Categorical(name, draw(LABELS)))
            continue
        low, high = sorted(draw(st.tuples(FINITE, FINITE)))
        bins = draw(st.none() | st.integers(1, 300))
        try:
            attributes.append(Numeric(name, low, high, bins=bins))
        except SchemaError:  # bounds too close together
            attributes.append(Numeric(name, 0, 1, bins=bins))
    classes = draw(st.lists(TEXTS, min_size=2, max_size=4, unique=True))
    return Schema(attributes, classes=classes, target=names[0], rows=draw(st.none() | st.integers(1, 2**53)))


@given(schemas())
@few
def test_a_schema_comes_back_from_its_file_as_it_was(tmp_path_factory, schema):
    path = tmp_path_factory.mktemp("schema") / "schema.json"
    schema.save(path)
    assert Schema.load(path) == schema
    assert Schema.from_json(json.loads(json.dumps(schema.to_json()))) == schema


@given(JSON)
@few
def test_a_document_is_read_as_json_has_it(value):
    assert parse_json(json.dumps(value).encode()) == json.loads(json.dumps(value))
    assert parse_json(json.dumps(value, ensure_ascii=False).encode()) == json.loads(json.dumps(value))


@given(st.binary(max_size=300))
@few
def test_any_bytes_are_a_document_or_a_value_error(data):
    try:
        parse_json(data)
    except ValueError:
        return


@given(JSON)
@few
def test_any_json_is_a_schema_or_a_schema_error(value):
    with suppress(SchemaError):
        Schema.from_json(value)


@pytest.mark.parametrize("kind", ["schema", "model", "local model", "party model", "channel", "structure", "release"])
def test_any_tape_of_choices_makes_a_file_that_is_used_or_refused(kind):
    with hostile_room() as room:

        @given(st.binary(min_size=4, max_size=120))
        @settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
        def holds(tape):
            outcome = Case(kind, Choices(tape)).run(room, tape.hex())
            assert outcome.what != VIOLATION, outcome.told

        holds()


def test_an_error_is_one_line_whatever_the_names_in_a_file(tmp_path):
    (tmp_path / "schema.json").write_text('{"attributes": [], "classes": ["a"], "x\\n\\u001b[31m": 1}')
    with pytest.raises(PrivetError) as refused:
        Schema.load(tmp_path / "schema.json")
    assert "\n" not in str(refused.value)
    assert "\x1b" not in str(refused.value)
