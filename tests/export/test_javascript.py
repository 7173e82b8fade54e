"""The JavaScript predictor: how it is loaded, what it takes for missing, what it refuses."""

import json
import shutil

import pytest

from privet import Categorical, Numeric
from privet.export import export_model, portable_document
from tests.export.models import fitted, schema_of
from tests.export.node import MISSING, run_node

SCHEMA = schema_of(
    [Numeric("age", 0, 100, bins=4), Categorical("colour", ["red", "blue"]), Categorical("floor", [1, 2.5]),
     Categorical("owner", [False, True])],
    ["no", "yes"],
)  # fmt: skip
KNOWN = '{ age: 50, colour: "red", floor: 1, owner: true }'


@pytest.fixture(scope="module")
def model():
    return fitted(SCHEMA, n_trees=20, height=3)


@pytest.fixture
def folder(model, tmp_path):
    export_model(model, tmp_path / "model.js", format="js")
    return tmp_path


def test_node_requires_it(folder, model):
    told = run_node('console.log(JSON.stringify(require("./model.js")))', folder)
    document = portable_document(model)
    assert told == {key: document[key] for key in ("classes", "attributes", "target", "guarantee")}


def test_node_imports_it_by_name(folder):
    script = f'import {{ predict, classes }} from "./model.js"; console.log(classes.includes(predict({KNOWN})))'
    assert run_node(script, folder, module=True) is True


def test_a_module_sets_the_global(folder):
    shutil.copy(folder / "model.js", folder / "model.mjs")
    script = f'import "./model.mjs"; console.log(JSON.stringify(privet.predictProba({KNOWN})))'
    assert sum(run_node(script, folder, module=True)) == pytest.approx(1)


def test_a_plain_script_sets_the_global_and_nothing_else(folder):
    script = """
    const vm = require("vm");
    const page = vm.createContext({ module: { id: "an element of the page" } });
    vm.runInContext(require("fs").readFileSync("model.js", "utf8"), page);
    console.log(JSON.stringify([Object.keys(page), typeof page.privet.predict]));
    """
    assert run_node(script, folder) == [["module", "privet"], "function"]


def test_every_way_to_be_missing_is_the_same(folder):
    script = f"""
    const {{ predictProba }} = require("./model.js");
    const row = {KNOWN};
    const answers = {{}};
    for (const name of Object.keys(row)) {{
      const ways = [null, undefined, NaN, ""].map((missing) => predictProba({{ ...row, [name]: missing }}).join());
      answers[name] = new Set(ways).size;
    }}
    console.log(JSON.stringify(answers));
    """
    assert run_node(script, folder) == {"age": 1, "colour": 1, "floor": 1, "owner": 1}


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ("null", "a row is an object by column name, or an array in the order of attributes"),
        ('"age"', "a row is an object by column name, or an array in the order of attributes"),
        ("[1, 2]", "a row needs one value per attribute, 4 in all"),
        ("{ age: 50 }", 'the row lacks "colour"; pass null where it is missing'),
        (f'{{ ...{KNOWN}, age: "73519" }}', '"age" needs a number; convert it first, such as by Number()'),
        (f"{{ ...{KNOWN}, colour: 73519 }}", '"colour" needs a string, as its categories are; convert it first'),
        (f'{{ ...{KNOWN}, floor: "73519" }}', '"floor" needs a number, as its categories are; convert it first'),
        (f"{{ ...{KNOWN}, owner: 73519 }}", '"owner" needs a boolean, as its categories are; convert it first'),
    ],
)
def test_a_row_that_cannot_be_read_is_refused_and_not_quoted(folder, row, sentence):
    script = f"""
    try {{ require("./model.js").predict({row}); }} catch (error) {{ console.log(JSON.stringify(error.message)); }}
    """
    assert run_node(script, folder) == sentence


def test_typed_arrays_are_rows_too(tmp_path):
    numbers = fitted(schema_of([Numeric("a", 0, 1), Numeric("b", 0, 1)], [5, 9]))
    export_model(numbers, tmp_path / "model.js", format="js")
    script = """
    const { predictProba } = require("./model.js");
    console.log(JSON.stringify([predictProba(Float64Array.of(0.3, NaN)), predictProba([0.3, null])]));
    """
    typed, plain = run_node(script, tmp_path)
    assert typed == plain == numbers.predict_proba([[0.3, None]])[0].tolist()


def test_an_answer_may_be_changed_without_harm(model, folder):
    script = f"""
    const {{ predictProba }} = require("./model.js");
    predictProba({KNOWN}).fill(7);
    console.log(JSON.stringify(predictProba({KNOWN})));
    """
    import pandas as pd

    row = pd.DataFrame([{"age": 50, "colour": "red", "floor": 1, "owner": True}])
    assert run_node(script, folder) == json.loads(json.dumps(model.predict_proba(row)[0].tolist()))


@pytest.mark.parametrize(("ci", "outcome"), [("", pytest.skip.Exception), ("true", pytest.fail.Exception)])
def test_without_node_these_tests_are_skipped_but_not_in_ci(monkeypatch, tmp_path, ci, outcome):
    monkeypatch.setenv("CI", ci)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(outcome, match=MISSING):
        run_node("1", tmp_path)
