import json

import pytest

from privet import Categorical, Numeric, Schema
from privet.errors import SchemaError

VALID = {
    "target": "class",
    "classes": ["no", "yes"],
    "attributes": [{"name": "x", "type": "continuous", "bounds": [0, 1]}],
}


def written(path, text):
    (path / "schema.json").write_text(text)
    return path / "schema.json"


def test_a_number_of_more_digits_than_python_reads_is_refused(tmp_path):
    path = written(tmp_path, json.dumps(VALID).replace("[0, 1]", f"[0, {'9' * 5_000}]"))
    with pytest.raises(SchemaError, match="is not valid JSON, or nested too deep; check its commas and brackets"):
        Schema.load(path)


def test_a_key_that_is_there_twice_is_refused(tmp_path):
    path = written(tmp_path, json.dumps(VALID).replace('"target": "class"', '"target": "class", "target": "x"'))
    with pytest.raises(SchemaError, match="no key is there twice"):
        Schema.load(path)


@pytest.mark.parametrize("make", [lambda n: Numeric(n, 0, 1), lambda n: Categorical(n, ["u"])])
def test_half_a_surrogate_pair_is_no_name_of_a_column(make):
    with pytest.raises(
        SchemaError, match="holds half a surrogate pair, which cannot be written to a file; rename the column"
    ):
        make("age \ud800")


def test_half_a_surrogate_pair_is_no_name_of_the_target():
    with pytest.raises(
        SchemaError, match="holds half a surrogate pair, which cannot be written to a file; rename the column"
    ):
        Schema([Numeric("x", 0, 1)], classes=["no", "yes"], target="\udfff")


def test_cells_are_added_up_before_all_of_them_are_made(monkeypatch):
    """Ten thousand attributes of 65,534 cells took seconds to refuse."""
    made = []
    before = Numeric.__post_init__
    monkeypatch.setattr(Numeric, "__post_init__", lambda self: (made.append(self.name), before(self))[1])
    wide = [{"name": f"x{i}", "type": "continuous", "bounds": [0, 1], "bins": 65_534} for i in range(10_000)]
    with pytest.raises(SchemaError, match="all attributes together have more than 8,388,608 values"):
        Schema.from_json({**VALID, "attributes": wide})
    assert len(made) == 129
