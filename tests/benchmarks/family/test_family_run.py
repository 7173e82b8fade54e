import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from benchmarks.family import audits, page, run
from benchmarks.family.members import DPDF, DPDF_PAPER, MEMBERS, NO_EPSILON
from benchmarks.utility import splits
from benchmarks.utility.methods import MAJORITY
from privet import Categorical, Numeric, Schema
from privet.datasets import Dataset


@pytest.fixture
def toy(monkeypatch):
    """Stand in for the UCI tables: 200 rows of two numbers and a category, labels that follow the first number."""
    rng = np.random.default_rng(5)
    age, hours = rng.uniform(0, 100, (2, 200))
    sex = pd.Categorical(rng.choice(["female", "male"], 200))
    y = np.where(age > 40, "yes", "no")
    schema = Schema(
        [Numeric("age", 0, 100), Numeric("hours", 0, 100), Categorical("sex", ["female", "male"])],
        classes=["no", "yes"],
    )
    data = Dataset(pd.DataFrame({"age": age, "hours": hours, "sex": sex}), y, schema, "toy")
    monkeypatch.setattr(splits, "loaded", lambda _: data)
    monkeypatch.setitem(splits.TABLES, "toy", splits.Facts(200, 3, 2))
    monkeypatch.setitem(run.TABLES, "quick", ("toy",))
    monkeypatch.setattr(run, "WITH_NUMBERS", ("toy",))
    monkeypatch.setattr(run, "QUICK_RELEASES", 20)
    # Forests of weights take longest.
    monkeypatch.setattr(run, "ATTACKS", {name: own for name, own in run.ATTACKS.items() if "forest" not in name})
    kept = (splits.numbers_of, splits.class_numbers, run._split)
    for function in kept:
        function.cache_clear()
    yield data
    for function in kept:
        function.cache_clear()


def test_the_quick_form_measures_everything_and_goes_on_where_it_stopped(toy, tmp_path, capsys):
    run.measure(tmp_path, "quick", jobs=1)
    kept = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    run.measure(tmp_path, "quick", jobs=1)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == kept
    n_cells = run.RUNS["quick"] * sum(len(own.epsilons) for own in MEMBERS.values())
    assert f"accuracy: {n_cells}/{n_cells}, 0.0 min" in capsys.readouterr().err

    page.write(tmp_path, "quick", tmp_path / "docs")
    text = (tmp_path / "docs" / "family.md").read_text()
    assert "nan" not in text
    assert "The run is not at its end" not in text
    for name in MEMBERS:
        assert f"\n| {name} |" in text
    assert (tmp_path / "docs" / "images" / "family.png").read_bytes().startswith(b"\x89PNG")
    summary = pd.read_csv(tmp_path / "summary.csv")
    assert len(summary) == sum(len(own.epsilons) for own in MEMBERS.values())


def test_the_schema_of_a_split_declares_what_no_row_of_the_table_lacks(toy):
    toy.X.loc[3, "hours"] = np.nan
    declared = {a.name: a.never_missing for a in run.CompleteSplit("toy", 0).schema.attributes}
    assert declared == {"age": True, "hours": False, "sex": True}


def test_noise_leaves_out_tables_without_numbers():
    fitted = set(run._places("full"))
    assert ("adult", "uniform noise") in fitted
    assert ("nursery", "uniform noise") not in fitted
    assert ("nursery", "flipped records") in fitted


def test_believing_flipped_records_finds_those_that_were_kept_and_an_attack_finds_more(toy, monkeypatch):
    # Of three values in two bits, one has a mirror image that is no value's code, and so is never taken for true.
    words = pd.Categorical(np.tile(["u", "v", "w"], 67)[:200])
    schema = Schema([Categorical("word", ["u", "v", "w"])], classes=["no", "yes"])
    data = replace(toy, X=pd.DataFrame({"word": words}), schema=schema)
    monkeypatch.setattr(splits, "loaded", lambda _: data)
    measure, without, answer, attack = MEMBERS["flipped records"].recover(run.CompleteSplit("toy", 0))
    assert measure == "records found"
    assert without == pytest.approx(1 / 3, abs=0.05)
    assert 0.6 < answer < 0.96  # 4 in 5 of 160 are kept; five standard deviations to either side
    assert attack > answer


def test_every_member_is_attacked_but_guessing():
    assert set(MEMBERS) - set(audits.AUDITS) == {MAJORITY}
    assert {attack for attacks in audits.AUDITS.values() for attack in attacks} == set(audits.ATTACKS)


def test_bounds_of_a_member_with_two_attacks_hold_together():
    assert audits.confidence_of("Private-RDT") == pytest.approx(0.95)
    assert audits.confidence_of("DPDF, second row") == pytest.approx(0.975)


def test_answers_without_an_epsilon_are_told_apart_whatever_their_noise():
    # Six answers in seven, or all: an attacker who is always right shows `most`.
    for name in ("Gaussian noise", "uniform noise", "flipped records"):
        found = audits.ATTACKS[name].audit(NO_EPSILON, 200, 0.95)
        assert found.epsilon_shown > 1.5, name
    assert math.isinf(NO_EPSILON)


@pytest.mark.slow
@pytest.mark.parametrize(("member", "caught"), [(DPDF_PAPER, True), (DPDF, False)])
def test_of_dpdf_the_papers_form_is_contradicted_and_the_sound_one_is_not(member, caught):
    attack = next(audits.ATTACKS[name] for name in audits.AUDITS[member] if "second row" in name)
    found = attack.audit(0.1, 1_000, 1 - 1e-6)
    assert found.contradicts == caught
