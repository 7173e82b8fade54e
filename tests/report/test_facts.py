"""All that the report says, as plain values."""

import json
import math

import pytest
from sklearn.exceptions import NotFittedError

from privet import PrivateRDTClassifier, load, model_file
from privet.model_file import read_document
from privet.report.page import promise
from privet.report.page.page import Report
from tests.report.pages import page_of
from tests.report.people import SCHEMA, exact, fitted, leaking, of_batches, of_method, of_visits, paper


def told(model):
    return Report.of(model).facts


def test_a_file_and_its_model_have_the_checksum_that_is_in_the_file(tmp_path):
    path = tmp_path / "people.privet"
    fitted().save(path)
    assert told(path)["checksum"] == told(load(path))["checksum"] == read_document(path)["checksum"]
    assert told(path)["file"] == "people.privet"


def test_a_model_file_is_read_once(tmp_path, monkeypatch):
    read, count = model_file._read_bytes, []
    monkeypatch.setattr(model_file, "_read_bytes", lambda path: count.append(path) or read(path))
    fitted().save(tmp_path / "people.privet")
    told(tmp_path / "people.privet")
    assert len(count) == 1


def test_the_shape_of_the_model():
    shape = told(exact())["model"]
    forest = exact().forest_
    assert (shape["method"], shape["trees"], shape["height"]) == ("private-rdt", 3, 3)
    assert shape["leaves"] == len(forest.leaves)
    assert shape["classes"] == ["no", "yes"]
    assert shape["attributes"] == ["age", "country"]


def test_class_weights_are_told_where_there_are_some():
    assert "class_weights" not in told(exact())["model"]
    assert "classes count for more or less" not in page_of(exact())
    weighted = exact().with_class_weight({"yes": 4})
    assert told(weighted)["model"]["class_weights"] == [
        {"class": "no", "weight": 1.0},
        {"class": "yes", "weight": 4.0},
    ]
    shown = page_of(weighted)
    assert "<bdi>no</bdi> 1 times, <bdi>yes</bdi> 4 times. All else on this page is without" in shown


def test_released_values_and_their_noise():
    model = fitted(epsilon=2.0)
    said = told(model)
    assert said["released_values"] == model.noisy_counts_.size
    assert said["smallest_noise_standard_deviation"] == pytest.approx(model.noise_std_)
    assert said["noise"]["growth"] == [pytest.approx(model.noise_std_)]
    (release,) = said["releases"]
    assert (release["mechanism"], release["sensitivity"], release["epsilon"]) == ("DiscreteLaplace", 3, 2.0)
    assert said["composition"]["event"] == "DiscreteLaplace"


def test_batches_are_composed_and_their_noise_grows():
    said = told(fitted(batches=3))
    assert said["composition"]["event"] == "Parallel"
    assert len(said["releases"]) == len(said["noise"]["growth"]) == 3
    assert said["noise"]["growth"] == sorted(said["noise"]["growth"])


def test_odds_are_those_of_the_guarantee():
    assert told(fitted(epsilon=math.log(3)))["odds"]["right_guesses"] == pytest.approx(0.75)
    assert told(exact())["odds"]["right_guesses"] == 1.0


def test_every_question_of_nist_is_answered_or_handed_over():
    answers = {each["question"]: each for each in told(fitted())["nist_sp_800_226"]}
    assert answers["Privacy parameter"]["answer"].startswith("epsilon = 1, pure differential privacy")
    assert "one row more or less" in answers["Unit of privacy"]["answer"]
    assert answers["Data collection exposure"]["answered_by"] == "you"
    assert answers["Trust model"]["answered_by"] == "the model file"
    assert all(each["answer"] for each in answers.values())


def answer(model, question):
    return {each["question"]: each["answer"] for each in told(model)["nist_sp_800_226"]}[question]


def test_a_model_of_batches_is_not_said_to_be_one_release():
    assert answer(fitted(), "Query model").startswith("One release, not interactive")
    words = answer(of_batches(1.0, 1.0), "Query model")
    assert words.startswith("2 releases, one for each batch of new rows, not interactive")
    assert "The largest epsilon counts, provided that no row is in more than one batch." in words
    assert "provided that no row is in more than one batch" in answer(of_batches(1.0, 1.0), "Privacy parameter")


def test_a_greedy_model_is_said_to_have_asked_more_than_once():
    n_questions = len(of_method("dpdf").guarantee_.event.parts)
    assert f"its {n_questions} questions were asked once" in answer(of_method("dpdf"), "Query model")


def test_a_unit_says_to_nist_who_is_protected_less():
    assert "Somebody with several rows is protected less" in answer(fitted(), "Unit of privacy")
    assert "Somebody with several values of 'visit_id' is protected less" in answer(of_visits(), "Unit of privacy")
    assert "protected less" not in answer(exact(), "Unit of privacy")


def test_a_paper_says_to_nist_that_nothing_is_proven():
    assert answer(paper(), "Privacy parameter").startswith("None is proven: split attributes are chosen")
    assert "permute-and-flip selection, epsilon not proven" in answer(paper(), "Algorithms and correctness")


def test_odds_say_whom_they_are_about_and_what_they_leave_out():
    assert (told(fitted())["odds"]["unit"], told(of_visits())["odds"]["unit"]) == ("row", "visit_id")
    assert [(group["size"], group["unit"]) for group in told(of_visits())["odds"]["groups"]] == [
        (1, "visit_id"), (2, "visit_id"), (4, "visit_id"), (10, "visit_id"),
    ]  # fmt: skip
    assert told(fitted())["odds"]["not_covered"] == []
    assert "bounds of 'age'" in told(leaking())["odds"]["not_covered"]
    assert told(of_batches(1.0, 1.0))["odds"]["provided_that"] == ["no row is in more than one batch"]


def test_batches_tell_what_each_cost():
    assert told(of_batches(0.5, 2.0, 1.0))["noise"]["epsilon_of_batches"] == [0.5, 2.0, 1.0]
    assert told(fitted(epsilon=2.0))["noise"]["epsilon_of_batches"] == [2.0]


@pytest.mark.parametrize(
    ("n_leaks", "words"), [(1, "apart from the leak listed"), (2, "apart from the 2 leaks listed")]
)
def test_leaks_are_counted_in_words_to_nist(n_leaks, words):
    guarantee = {**fitted().guarantee_.to_json(), "leaks": ["bounds of 'age'"] * n_leaks}
    (parameter, *_) = promise.answers(None, guarantee, [])
    assert words in parameter.answer


def test_a_model_without_privacy_says_so_to_nist():
    (parameter, *_) = told(exact())["nist_sp_800_226"]
    assert parameter["answer"].startswith("None: it was fitted with epsilon=inf")


def test_only_plain_values_are_told():
    assert json.loads(json.dumps(told(fitted()), allow_nan=False))["released_values"] > 0


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError, match="not fitted yet"):
        told(PrivateRDTClassifier(SCHEMA))
