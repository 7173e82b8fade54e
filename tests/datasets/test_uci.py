"""The UCI tables: real ones, small ones made by hand, damaged ones, and a stand-in for OpenML."""

import gzip
import json
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from privet.datasets import UCI_NAMES, uci, uci_folder
from privet.errors import DataError, DatasetUnavailable, ParameterError

PEOPLE = "age,city,class\n41,NA,yes\n,,no\n17.5,007,no\n"
DOMAINS = {
    "title": "Three people",
    "rows": 3,
    "attributes": [
        {"name": "age", "type": "continuous", "bounds": [0, 100]},
        {"name": "city", "type": "categorical", "categories": ["NA", "007", "7"]},
    ],
    "classes": ["no", "yes"],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Three people under the name of a table that privet knows."""
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))
    write(tmp_path)
    return tmp_path


def write(folder, text=PEOPLE, domains=DOMAINS):
    (folder / "adult.csv.gz").write_bytes(gzip.compress(text.encode()))
    (folder / "adult.json").write_text(json.dumps(domains))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path))


@pytest.fixture
def offline(nowhere, monkeypatch):
    def fail(**options):
        raise URLError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fail)


@pytest.mark.real_data
@pytest.mark.parametrize("name", UCI_NAMES)
def test_a_table_is_what_its_description_says(name, uci_table):
    said = json.loads((uci_folder() / f"{name}.json").read_text(encoding="utf-8"))
    data = uci_table(name)
    assert data.X.shape == (said["rows"], len(said["attributes"]))
    assert Counter(data.y.tolist()) == said["class_counts"]
    assert data.X.isna().sum().sum() == said["missing_cells"]
    assert data.schema.rows == said["rows"]


@pytest.mark.real_data
@pytest.mark.parametrize("name", UCI_NAMES)
def test_every_value_lies_in_its_public_domain(name, uci_table):
    data = uci_table(name)
    for attribute in data.schema.attributes:
        known = data.X[attribute.name].dropna()
        if attribute.kind == "categorical":
            assert set(known.unique()) <= set(attribute.categories)
        else:
            assert data.X[attribute.name].dtype == np.float64
            assert known.between(attribute.low, attribute.high).all()


@pytest.mark.real_data
def test_na_is_a_genuine_value_of_the_census(uci_table):
    assert (uci_table("census-income-kdd").X["hispanic origin"] == "NA").any()


def test_only_an_empty_field_is_missing_and_text_stays_as_written(folder):
    data = uci("adult")
    assert data.X["city"].tolist() == ["NA", None, "007"]
    assert data.X["age"].tolist() == pytest.approx([41.0, np.nan, 17.5], nan_ok=True)
    assert data.y.tolist() == ["yes", "no", "no"]
    assert repr(data) == "Dataset('adult', 3 rows, 2 attributes, 2 classes)"


def test_an_unknown_name_is_refused_with_the_known_ones():
    with pytest.raises(ParameterError, match=r"name='iris' is not a table privet knows; choose from adult, .*nursery"):
        uci("iris")
    with pytest.raises(ParameterError, match="choose from adult"):
        uci(["adult"])


def test_a_file_that_is_not_gzip_is_called_damaged(folder):
    (folder / "adult.csv.gz").write_text(PEOPLE)
    with pytest.raises(DatasetUnavailable, match=r"adult.csv.gz is missing or damaged; replace it by an intact copy"):
        uci("adult")


def test_a_file_cut_off_anywhere_is_refused(folder):
    whole = (folder / "adult.csv.gz").read_bytes()
    for size in range(len(whole)):
        (folder / "adult.csv.gz").write_bytes(whole[:size])
        with pytest.raises((DatasetUnavailable, DataError), match=r"intact cop|are not those of its json"):
            uci("adult")


def test_a_file_with_a_flipped_byte_is_refused(folder):
    whole = (folder / "adult.csv.gz").read_bytes()
    for position in range(10, len(whole)):
        broken = bytearray(whole)
        broken[position] ^= 0xFF
        (folder / "adult.csv.gz").write_bytes(broken)
        with pytest.raises((DatasetUnavailable, DataError), match="adult"):
            uci("adult")


def test_a_missing_or_broken_description_is_called_damaged(folder):
    for content in ["", "{", "[]", json.dumps(DOMAINS | {"classes": []})]:
        (folder / "adult.json").write_text(content)
        with pytest.raises(DatasetUnavailable, match=r"adult.json is missing or damaged"):
            uci("adult")
    (folder / "adult.json").unlink()
    with pytest.raises(DatasetUnavailable, match=r"adult.json is missing or damaged"):
        uci("adult")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (PEOPLE.replace("17.5", "young"), "text in a numeric column"),
        (PEOPLE.replace("007", "0,07"), "a line that does not fit its header"),
        (PEOPLE.replace(",007", ""), "a line that does not fit its header"),
        (PEOPLE.replace("city", "town"), "the columns of adult.csv.gz are not those of its json"),
        (PEOPLE.replace("age,city,class", "city,age,class"), "text in a numeric column"),
        (PEOPLE.replace("41,NA,yes\n", ""), "does not have as many rows as adult.json says"),
        (PEOPLE.splitlines(keepends=True)[0], "does not have as many rows as adult.json says"),
        ("", "a line that does not fit its header"),
        (PEOPLE.replace("yes", "perhaps"), "has labels that are not in adult.json"),
        (PEOPLE.replace("yes", ""), "has labels that are not in adult.json"),
    ],
)
def test_a_table_that_does_not_fit_its_description_is_refused_without_quoting_it(folder, text, sentence):
    write(folder, text)
    with pytest.raises(DataError, match=sentence) as caught:
        uci("adult")
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert not any(value in str(caught.value) for value in ("young", "41", "17.5", "007", "perhaps"))


def test_the_variable_comes_before_the_folder_beside_the_project(folder):
    assert uci_folder() == folder


def test_a_variable_that_names_no_folder_is_an_error_and_not_passed_over(monkeypatch, tmp_path):
    monkeypatch.setenv("PRIVET_DATA", str(tmp_path / "typo"))
    with pytest.raises(DatasetUnavailable, match="PRIVET_DATA is set but names no folder; correct it or unset it"):
        uci("adult")


def test_the_folder_is_looked_for_beside_the_checkout_then_beside_the_current_directory(monkeypatch, tmp_path):
    monkeypatch.delenv("PRIVET_DATA", raising=False)
    module = tmp_path / "checkout" / "src" / "privet" / "datasets" / "uci.py"
    monkeypatch.setattr(sys.modules[uci.__module__], "__file__", str(module))
    (tmp_path / "elsewhere" / "work").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "elsewhere" / "work")
    assert uci_folder() is None

    (tmp_path / "elsewhere" / "shared" / "datasets").mkdir(parents=True)
    assert uci_folder().samefile(tmp_path / "elsewhere" / "shared" / "datasets")

    module.parent.mkdir(parents=True)
    (tmp_path / "checkout" / "pyproject.toml").touch()
    (tmp_path / "shared" / "datasets").mkdir(parents=True)
    assert uci_folder().samefile(tmp_path / "shared" / "datasets")


def test_offline_the_error_says_how_to_get_the_table(offline):
    sentence = "set PRIVET_DATA to a folder with nursery.csv.gz and nursery.json"
    with pytest.raises(DatasetUnavailable, match=sentence):
        uci("nursery")


def test_a_table_that_openml_lacks_is_not_asked_for(nowhere, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: pytest.fail("asked"))
    with pytest.raises(DatasetUnavailable, match=r"compas.csv.gz and compas.json"):
        uci("compas")


def openml_stand_in(n_rows):
    """Return voters as OpenML would send them: categories, a missing value, an index that is not 0..n-1."""
    index = pd.RangeIndex(5, 5 + n_rows)
    votes = pd.Categorical(["y", "n", None] + ["y"] * (n_rows - 3), categories=["n", "y"])
    target = pd.Series(pd.Categorical(["democrat", "republican", "democrat"] + ["democrat"] * (n_rows - 3)))
    data = pd.DataFrame({"vote": votes, "year": np.arange(n_rows)}, index=index)
    return SimpleNamespace(data=data, target=target.set_axis(index).rename("Class"))


def test_a_table_from_openml_has_its_domains_read_from_its_rows(nowhere, monkeypatch):
    asked = {}
    monkeypatch.setattr(
        sklearn.datasets, "fetch_openml", lambda **options: asked.update(options) or openml_stand_in(435)
    )
    data = uci("congressional-voting")
    assert asked["data_id"] == 56
    assert data.X["vote"].tolist()[:4] == ["y", "n", None, "y"]
    assert data.X["year"].dtype == np.float64
    assert data.y.tolist()[:3] == ["democrat", "republican", "democrat"]
    assert data.schema.target == "Class"
    assert sorted(data.schema.classes) == ["democrat", "republican"]
    vote, year = data.schema.attributes
    assert sorted(vote.categories) == ["n", "y"]
    assert (year.low, year.high) == (0, 434)


def test_another_version_of_the_table_on_openml_is_refused(nowhere, monkeypatch):
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda **options: openml_stand_in(232))
    with pytest.raises(DatasetUnavailable, match="could not be fetched from OpenML"):
        uci("congressional-voting")


@pytest.mark.real_data
def test_the_names_are_those_of_the_folder():
    found = {Path(path.stem).stem for path in uci_folder().glob("*.csv.gz")}
    assert found == set(UCI_NAMES)
