"""An audit of estimators and callables: what it shows, what it catches, what it refuses."""

import json

import numpy as np
import pytest

from privet import Categorical, DPDFClassifier, Numeric, PrivateForestClassifier, PrivateRDTClassifier, Schema
from privet.attack import audit, audit_in_one_run
from privet.attack.evidence import Evidence
from privet.attack.neighbours import worst_cases
from privet.attack.picture import draw_audit
from privet.errors import ParameterError

SCHEMA = Schema([Categorical("a", [5, 9]), Categorical("b", ["u", "v"])], classes=["no", "yes"], rows=40)
TWO_TABLES = np.zeros(3), np.ones(3)


def laplace(table, scale=1.0):
    return table.max() + np.random.default_rng().laplace(0, scale)


def test_a_callable_with_the_noise_it_claims_is_within_its_claim_and_near_it():
    found = audit(laplace, TWO_TABLES, epsilon=1.0, runs=4_000, n_jobs=1)
    assert 0.6 < found.epsilon_shown < 1.1
    assert found.runs == 8_000


def test_half_the_noise_is_caught():
    found = audit(lambda table: laplace(table, 0.5), TWO_TABLES, epsilon=1.0, runs=2_000, n_jobs=1)
    assert found.contradicts
    assert "more than is claimed: the claim is wrong (epsilon = 1)" in found.sentence


def test_no_noise_at_all_is_caught():
    found = audit(lambda table: table.max(), TWO_TABLES, epsilon=3.0, runs=200, n_jobs=1)
    assert found.epsilon_shown > 3.0


def test_what_does_not_look_at_the_table_shows_nothing():
    found = audit(lambda table: np.random.default_rng().normal(size=3), TWO_TABLES, epsilon=1.0, runs=1_000, n_jobs=1)
    assert found.epsilon_shown < 0.2


def test_a_part_of_what_is_returned_can_be_read():
    found = audit(
        lambda table: {"mean": laplace(table), "junk": "text"}, TWO_TABLES,
        epsilon=1.0, read=lambda out: out["mean"], runs=1_000, n_jobs=1,
    )  # fmt: skip
    assert 0.3 < found.epsilon_shown < 1.2


def test_processes_find_what_one_process_does():
    found = audit(laplace, TWO_TABLES, epsilon=1.0, runs=1_000, n_jobs=2)
    assert 0.3 < found.epsilon_shown < 1.2


def test_an_estimator_is_attacked_on_every_worst_case_of_its_schema():
    told = []
    model = PrivateRDTClassifier(SCHEMA, epsilon=20.0, n_trees=1, height=1)
    found = audit(model, runs=60, n_jobs=1, watch=lambda *progress: told.append(progress))
    assert list(found.attacks) == [case.name for case in worst_cases(SCHEMA)]
    assert (found.epsilon, found.delta) == (20.0, 0.0)
    # Hardly any noise is left; 30 runs in which every guess is right show 1.69.
    assert 1.0 < found.epsilon_shown < 1.7
    assert told[-1] == ("a second row, which one attribute tells from the first", 120, 120)


def test_the_audit_is_told_in_words_and_as_json(tmp_path):
    model = PrivateRDTClassifier(SCHEMA, epsilon=2.0, n_trees=1, height=1)
    found = audit(model, worst_cases(SCHEMA)[:1], runs=100, n_jobs=1)
    assert found.sentence.startswith("An attacker who knows every row but one and sees the whole model got at least")
    assert found.sentence.endswith("A lower bound proves no privacy: another attacker may get more.")
    shown = json.loads(json.dumps(found.to_json()))
    assert shown["claimed"] == {"epsilon": 2.0, "delta": 0.0}
    assert shown["cases"][0]["name"] == "a row, or an empty table"
    draw_audit(found, tmp_path / "audit.png")
    assert (tmp_path / "audit.png").read_bytes().startswith(b"\x89PNG")


def test_worst_cases_differ_in_the_row_alone_and_suit_mixed_schemas():
    schema = Schema([Numeric("age", 0, 100), Categorical("city", ["x", "y"])], classes=[5, 9])
    for case in worst_cases(schema):
        assert len(case.with_row.X) == len(case.without.X) + 1
        assert (case.with_row.X[:-1] == case.without.X).all()
        assert case.with_row.y[-1] == 9
    assert len(worst_cases(Schema([Categorical("a", [5, 9])], classes=[5, 9]))) == 3


def test_evidence_of_exact_counts_tells_the_row_without_error():
    case = worst_cases(SCHEMA)[1]
    exact = PrivateRDTClassifier(SCHEMA, epsilon=np.inf, n_trees=2, height=1)
    without = Evidence(case)(exact.fit(case.without.X, case.without.y))
    with_row = Evidence(case)(exact.fit(case.with_row.X, case.with_row.y))
    # Two trees, a row in one leaf of each: the counts are those of one table and not of the other.
    assert (without[2:10].sum(), with_row[2:10].sum()) == (-2.0, 2.0)


@pytest.mark.parametrize("kind", [DPDFClassifier, PrivateForestClassifier])
def test_every_kind_of_release_gives_evidence_of_one_length(kind):
    lengths = {
        Evidence(case)(kind(SCHEMA, epsilon=1.0).fit(table.X, table.y)).shape
        for case in worst_cases(SCHEMA)
        for table in (case.without, case.with_row)
    }
    assert len(lengths) == 1


def test_too_few_runs_to_contradict_a_claim_are_said_to_be_too_few():
    found = audit(lambda table: table.max(), TWO_TABLES, epsilon=10.0, runs=20, n_jobs=1)
    assert not found.contradicts
    assert f"where so few runs could have shown no more than {found.most:.3g}: too few" in str(found)
    assert found.to_json()["could_show_at_most"] == found.most < 10.0


def test_of_an_unproven_variant_it_is_said_once_that_nothing_is_proven(recwarn):
    model = DPDFClassifier(SCHEMA, epsilon=0.5, variant="paper", height=1)
    found = audit(model, worst_cases(SCHEMA)[:1], runs=100, n_jobs=1)
    assert not found.proven
    assert not recwarn.list
    assert found.contradicts or "within what was asked for, of which nothing is proven" in found.sentence


def test_what_claims_nothing_or_is_no_release_is_refused():
    with pytest.raises(ParameterError, match="epsilon=inf claims nothing that an audit could contradict"):
        audit(PrivateRDTClassifier(SCHEMA, epsilon=np.inf))
    with pytest.raises(ParameterError, match="makes tables by the schema, so it must be declared"):
        audit(PrivateRDTClassifier("infer"))
    with pytest.raises(ParameterError, match="of a callable needs the epsilon that it claims"):
        audit(laplace, TWO_TABLES)
    with pytest.raises(ParameterError, match="or of a callable and two tables: one without the row, one with"):
        audit(laplace, epsilon=1.0)
    with pytest.raises(ParameterError, match="runs=3 must be a whole number from 20"):
        audit(laplace, TWO_TABLES, epsilon=1.0, runs=3)


def test_one_fit_with_many_canaries_shows_most_of_epsilon():
    found = audit_in_one_run(PrivateRDTClassifier(epsilon=2.0, n_trees=1), n_canaries=3_000, confidence=0.9999)
    assert 1.2 < found.epsilon_shown < 2.2
    assert found.guesses == 3_000
    assert found.sentence.endswith(
        "(epsilon = 2; 99.99% confidence). A lower bound proves no privacy: another attacker may get more."
    )
    assert found.sentence.startswith("An attacker who saw one fit guessed of 3,000 planted rows")


def test_one_fit_shows_little_where_little_is_spent():
    found = audit_in_one_run(PrivateRDTClassifier(epsilon=0.01, n_trees=1), n_canaries=1_000)
    assert found.epsilon_shown < 0.3


def test_one_run_refuses_what_it_cannot_be_held_against():
    with pytest.raises(ParameterError, match="finite epsilon with delta 0 only"):
        audit_in_one_run(PrivateForestClassifier(epsilon=1.0, delta=1e-6))
