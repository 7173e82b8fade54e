"""Rehearsed accuracy rises with rows and epsilon, keeps to what can be known, and reads nobody's rows."""

import math

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema, rehearse
from privet.errors import DataError, ParameterError
from privet.rehearsal.populations import MadeUpPeople, PublicRows

SCHEMA = Schema(
    [Numeric("age", 16, 100, bins=6), Categorical("job", ["a", "b", "c"]), Categorical("sex", ["f", "m"])],
    classes=["no", "yes"], target="smoker",
)  # fmt: skip


def public_table(n=400):
    rng = np.random.default_rng(4)
    smokes = rng.random(n) < 0.3
    job = np.where(smokes, "a", rng.choice(["b", "c"], n))
    return pd.DataFrame(
        {"age": rng.integers(16, 100, n), "job": job, "sex": rng.choice(["f", "m"], n),
         "smoker": np.where(smokes, "yes", "no"), "name": "not in the schema"}
    )  # fmt: skip


def accuracies(found):
    return {(score.method, score.rows, score.epsilon): score.accuracy for score in found.scores}


def test_more_rows_and_more_epsilon_help_and_nothing_is_better_than_what_can_be_known():
    found = rehearse(SCHEMA, 1_000, epsilons=[0.1, 2.0], strength="strong", class_shares={"yes": 0.4}, draws=4)
    known = accuracies(found)
    assert list(known) == [("private-forest", n, e) for n in (250, 1_000, 4_000) for e in (0.1, 2.0, math.inf)]
    assert found.majority == pytest.approx(0.6, abs=0.02)
    assert max(known.values()) <= found.best
    assert known["private-forest", 4_000, 2.0] == pytest.approx(found.best, abs=0.03)
    assert known["private-forest", 4_000, 2.0] > known["private-forest", 250, 0.1] + 0.05


def test_the_same_random_state_gives_the_same_figures_and_another_others():
    def once(seed):
        return rehearse(SCHEMA, [200], epsilons=[1.0], draws=2, random_state=seed)

    assert once(3) == once(3)
    assert once(3) != once(4)


def test_people_are_as_easily_guessed_as_stated_whichever_attribute_tells_more():
    for strength in ("weak", {"sex": "strong"}):
        found = rehearse(SCHEMA, [100], epsilons=[1.0], class_shares={"yes": 0.3}, strength=strength, best=0.8, draws=3)
        assert found.best == pytest.approx(0.8, abs=0.02)
        assert "80 % can be guessed right at most" in found.basis


def test_a_rule_in_a_public_table_is_found_and_a_table_without_it_gives_no_more_than_guessing():
    rule, none = public_table(), public_table().assign(job="b")
    found, lost = (rehearse(SCHEMA, [400], epsilons=[4.0], like=table, draws=2) for table in (rule, none))
    assert found.best is None
    assert found.scores[0].accuracy > 0.95
    assert lost.scores[0].accuracy <= lost.majority + 0.05


def test_a_public_file_gives_what_its_rows_in_memory_give(tmp_path):
    public_table().to_csv(tmp_path / "public.csv", index=False)
    of_file = rehearse(SCHEMA, [100], epsilons=[1.0], like=tmp_path / "public.csv", draws=2)
    assert of_file == rehearse(SCHEMA, [100], epsilons=[1.0], like=public_table(), draws=2)


def test_no_public_row_is_both_trained_and_tested_on_although_training_rows_repeat():
    table = public_table(40).assign(age=np.arange(40) + 16)
    draw = PublicRows.of(SCHEMA, table).draw(np.random.default_rng(1))
    rows, labels = draw.rows(500)
    assert len(labels) == 500
    assert len(draw.test) == 10
    assert not set(rows["age"].to_pylist()) & set(draw.test["age"].to_pylist())


def test_accuracy_by_hand_is_the_chance_of_the_guessed_class():
    people = MadeUpPeople(SCHEMA, np.array([0.5, 0.5]), (0.2, 0.2, 0.2)).draw(np.random.default_rng(0))
    guessed = np.zeros(len(people.chances), dtype=np.int64)
    assert people.accuracy(guessed) == pytest.approx(people.chances[:, 0].mean())
    assert people.accuracy(people.chances.argmax(axis=1)) == pytest.approx(people.best)


def test_settings_are_compared_by_names_of_ones_own_and_progress_counts_their_fits():
    seen = []
    models = {"low": PrivateRDTClassifier(height=1), "forest": PrivateForestClassifier()}
    found = rehearse(SCHEMA, [100], epsilons=[1.0, 1.0], methods=models, draws=2, watch=lambda *step: seen.append(step))
    assert [score.method for score in found.scores] == ["low", "low", "forest", "forest"]
    assert seen[0] == ("low", 0, 4)
    assert seen[-2:] == [("low", 4, 4), ("forest", 4, 4)]
    assert models["low"].epsilon == 1.0
    assert not hasattr(models["low"], "guarantee_")


def test_the_picture_has_a_line_for_each_method_and_number_of_rows():
    found = rehearse(SCHEMA, [100, 200], epsilons=[0.5, 1.0], draws=2)
    ax = found.plot()
    drawn = {line.get_label(): line.get_ydata() for line in ax.get_lines()}
    assert set(drawn) == {
        "private-forest, 100 rows", "private-forest, 200 rows", "the largest class", "what can be known at most"
    }  # fmt: skip
    expected = [100 * score.accuracy for score in found.scores[:2]]
    assert list(drawn["private-forest, 100 rows"]) == pytest.approx(expected)
    assert list(found.table().columns) == ["method", "rows", "epsilon", "accuracy", "deviation"]


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"n_rows": None}, "pass n_rows"),
        ({"n_rows": [0]}, "n_rows=0 must be a whole number"),
        ({"methods": ["magic"]}, "names 'magic'; choose from private-forest"),
        ({"methods": "dpdf"}, "must be a list of names"),
        ({"methods": {"mine": object()}}, "is no model of a curator"),
        ({"methods": {"mine": PrivateForestClassifier(unit="person")}}, "has a unit or a ledger"),
        ({"strength": {"height": 0.3}}, "names 'height', which is no attribute"),
        ({"strength": "huge"}, "must be weak, medium, strong"),
        ({"class_shares": {"maybe": 0.3}}, "which is no class"),
        ({"class_shares": {"yes": 0.3}, "like": public_table()}, "like has classes and rules of its own"),
        ({"class_shares": {"yes": 0.3}, "best": 0.6}, "above the largest class's share, 0.7"),
        ({"draws": 1}, "draws=1 must be a whole number"),
        ({"epsilons": [-1]}, "epsilon"),
    ],
)
def test_what_cannot_be_rehearsed_is_refused_with_the_way_out(asked, message):
    with pytest.raises(ParameterError, match=message):
        rehearse(SCHEMA, **{"n_rows": [100], **asked})


def test_a_public_table_that_is_too_small_is_refused():
    with pytest.raises(DataError, match="20 rows or more"):
        rehearse(SCHEMA, [100], like=public_table(5))


def test_half_of_a_real_table_tells_about_the_other_half(uci_table):
    data = uci_table("compas")
    own = data.X.assign(**{data.schema.target: data.y})
    public, rest = own.iloc[::2], own.iloc[1::2]
    train, test = rest.iloc[:2_000], rest.iloc[2_000:]
    found = rehearse(data.schema, [2_000], epsilons=[2.0], like=public, draws=2)
    names = list(data.schema.names)
    fitted = [
        PrivateForestClassifier(data.schema, epsilon=2.0).fit(train[names], train[data.schema.target]) for _ in range(3)
    ]
    real = np.mean([model.score(test[names], test[data.schema.target]) for model in fitted])
    assert found.scores[0].accuracy == pytest.approx(real, abs=0.05)
    assert found.scores[0].accuracy > found.majority + 0.05
