"""Packages of extras: each is named by an extra, and missed in one sentence with the way out."""

import ast
import sys
import tomllib
from pathlib import Path

import pytest

from privet import Numeric, PrivateForestClassifier, Schema
from privet.errors import ParameterError
from privet.lazy import of_extra
from privet.report import plot_importances, plot_shapes

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MISSED = (
    r"^a picture needs the package matplotlib, which is not installed; install it with `pip install 'privet\[plot\]'`$"
)


def test_a_module_of_an_extra_is_imported():
    assert of_extra("json.decoder", "plot", "a picture") is sys.modules["json.decoder"]


def test_what_is_missing_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "dp_accounting", None)
    with pytest.raises(ParameterError) as caught:
        of_extra("dp_accounting.rdp", "delta", "a delta above 0", way_out=", or use delta=0")
    assert str(caught.value) == (
        "a delta above 0 needs the package dp-accounting, which is not installed; "
        "install it with `pip install 'privet[delta]'`, or use delta=0"
    )


def test_a_package_that_is_there_but_broken_fails_in_its_own_words(tmp_path, monkeypatch):
    (tmp_path / "broken_plots.py").write_text("import nowhere_to_be_found")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="nowhere_to_be_found"):
        of_extra("broken_plots", "plot", "a picture")


def test_every_package_that_is_asked_for_is_in_the_extra_that_the_sentence_names():
    asked = list(named_extras())
    assert {extra for _, extra in asked} >= {"plot", "onnx", "delta", "parties", "dask", "serve", "postgres"}
    for package, extra in asked:
        packages = [line.split(">=")[0].split("[")[0] for line in PROJECT["optional-dependencies"][extra]]
        assert package.replace("_", "-") in packages, (package, extra)


def named_extras():
    """Read the code: the package and the extra of every call that writes both out."""
    for path in (ROOT / "src" / "privet").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "of_extra":
                module, extra = node.args[:2]
                start = module.values[0] if isinstance(module, ast.JoinedStr) else module
                if isinstance(start, ast.Constant) and isinstance(extra, ast.Constant):
                    yield start.value.partition(".")[0], extra.value


@pytest.fixture
def without_matplotlib(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)


def test_pictures_of_a_model_miss_matplotlib_in_one_sentence(without_matplotlib):
    schema = Schema([Numeric("age", 0, 100)], classes=["no", "yes"], target="smoker", rows=300)
    ages = [[float(age % 100)] for age in range(300)]
    model = PrivateForestClassifier(schema, epsilon=50.0).fit(ages, ["yes" if age > 50 else "no" for [age] in ages])
    for plot in (plot_importances, plot_shapes):
        with pytest.raises(ParameterError, match=MISSED):
            plot(model)
