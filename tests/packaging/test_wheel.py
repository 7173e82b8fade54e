"""What is in the wheel, and that it works where nothing else is installed."""

import tomllib
import zipfile
from email import message_from_string
from pathlib import Path

import pytest
from flit_core import buildapi

from privet import __version__, load
from tests.packaging.clean import Clean, Seconds, pythons

ROOT = Path(__file__).parents[2]
LIGHT = {"numpy", "scikit-learn", "scipy", "numba", "pandas", "pyarrow", "typer", "rich", "jinja2", "filelock"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel as pip does."""
    folder = tmp_path_factory.mktemp("wheel")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        return folder / buildapi.build_wheel(str(folder))


@pytest.fixture(scope="module")
def names(wheel):
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(names):
    package = ROOT / "src" / "privet"
    there = {path.relative_to(ROOT / "src").as_posix() for path in package.rglob("*") if path.is_file()}
    about = {name for name in names if name.startswith(f"privet-{__version__}.dist-info/")}
    assert names - about == {name for name in there if "__pycache__" not in name}
    assert {Path(name).name for name in about} == {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "LICENSE"}


def test_templates_scripts_and_arguments_are_in_it_and_no_tests(names):
    for name in (
        "report/page/templates/page.html", "export/predictor.js", "local/channels/respondent.js", "py.typed",
        "central/private_forest.md",
    ):  # fmt: skip
        assert f"privet/{name}" in names, name
    assert not [name for name in names if "test" in name or name.endswith((".pyc", ".nbi", ".nbc", ".csv", ".privet"))]


def test_the_wheel_says_its_version_its_extras_and_what_it_needs(wheel):
    with zipfile.ZipFile(wheel) as archive:
        about = message_from_string(archive.read(f"privet-{__version__}.dist-info/METADATA").decode())
        scripts = archive.read(f"privet-{__version__}.dist-info/entry_points.txt").decode()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert (about["Version"], about["Requires-Python"]) == (__version__, ">=3.11")
    assert set(about.get_all("Provides-Extra")) == set(extras)
    needed = [line for line in about.get_all("Requires-Dist") if "extra ==" not in line]
    assert {line.split(">=")[0].strip() for line in needed} == LIGHT | {"threadpoolctl"}
    assert "privet=privet.cli.app:main" in scripts.replace(" ", "")


@pytest.mark.wheel
def test_the_wheel_works_in_a_clean_environment_of_each_python_that_is_here(wheel, tmp_path):
    here = pythons()
    assert here
    for version, python in here.items():
        clean = Clean.of(python, tmp_path / version, wheel)
        assert clean.packages >= LIGHT | {"privet"}
        assert "matplotlib" not in clean.packages
        print(f"\nPython {version}: {told(clean)}", flush=True)
        check_demo(clean)
        check_missing(clean)


def told(clean):
    """Fit twice, check what it predicts, and say how large the environment is and how long all of it took."""
    size, right = clean.megabytes, []
    first = Seconds.of(lambda: right.append(clean.fit()))
    second = Seconds.of(lambda: right.append(clean.fit()))
    assert min(right) > 0.7
    return (
        f"{len(clean.packages)} packages, {size} MB; installed in {clean.seconds}, a first fit in {first}, a second in "
        f"{second}"
    )


def check_demo(clean):
    done = clean.run("privet", "demo", "--rows", "20000")
    assert done.returncode == 0, done.stderr
    assert "Who can repay a loan?" in done.stdout
    work = clean.folder / "work"
    assert load(work / "privet-demo.privet").guarantee_.versions["privet"] == __version__
    assert (work / "privet-demo.html").read_text(encoding="utf-8").rstrip().endswith("</html>")


def check_missing(clean):
    for words, extra in (
        (["audit", "--method", "private-rdt", "--picture", "a.png"], "plot"),
        (["export", "privet-demo.privet", "--format", "onnx"], "onnx"),
    ):
        done = clean.run("privet", *words)
        assert done.returncode == 2
        assert f"install it with `pip install 'privet[{extra}]'`" in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
