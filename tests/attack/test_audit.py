"""An audit of estimators and callables: what it shows, what it catches, what it refuses."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from privet import (
    Categorical,
    DPDFClassifier,
    Ledger,
    Numeric,
    PrivateForestClassifier,
    PrivateRDTClassifier,
    ReconstructionTreeClassifier,
    Schema,
)
from privet.attack import audit, audit_in_one_run
from privet.attack.audit import draw_audit
from privet.attack.evidence import Evidence
from privet.attack.neighbours import worst_cases
from privet.errors import ParameterError
from privet.rng import public_generator

SCHEMA = Schema([Categorical("a", [5, 9]), Categorical("b", ["u", "v"])], classes=["no", "yes"], rows=40)
TWO_TABLES = np.zeros(3), np.ones(3)


def laplace(table, scale=1.0):
    return table.max() + public_generator(None).laplace(0, scale)


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
    found = audit(lambda table: public_generator(None).normal(size=3), TWO_TABLES, epsilon=1.0, runs=1_000, n_jobs=1)
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
    assert found.sentence.startswith(
        "An attacker who knows every row but one and sees all that is released got at least"
    )
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
    assert "by too few runs to contradict the claim (epsilon = 10)" in str(found)
    assert f"In 40 releases at most {found.most:.3g} could have been shown, with 95% confidence." in str(found)
    assert found.to_json()["could_show_at_most"] == found.most < 10.0


def test_of_an_unproven_variant_it_is_said_once_that_nothing_is_proven(recwarn):
    model = DPDFClassifier(SCHEMA, epsilon=0.5, variant="paper", height=1)
    found = audit(model, worst_cases(SCHEMA)[:1], runs=100, n_jobs=1)
    assert not found.proven
    assert not recwarn.list
    assert found.contradicts or "within what was requested, which is not proven" in found.sentence


def test_what_claims_nothing_or_is_no_release_is_refused():
    with pytest.raises(ParameterError, match="epsilon=inf claims nothing that an audit could contradict"):
        audit(PrivateRDTClassifier(SCHEMA, epsilon=np.inf))
    with pytest.raises(ParameterError, match="those answers are the release; audit one answer: pass a function"):
        audit(ReconstructionTreeClassifier(SCHEMA))
    for claim in (-1.0, math.nan, "much", True):
        with pytest.raises(ParameterError, match="is no claim; pass a number that is not negative"):
            audit(laplace, TWO_TABLES, epsilon=claim)
    with pytest.raises(ParameterError, match="delta=2 is no probability below 1"):
        audit(laplace, TWO_TABLES, epsilon=1.0, delta=2)
    for neighbours in (TWO_TABLES, []):
        with pytest.raises(ParameterError, match="neighbours of an estimator are a list of Neighbours"):
            audit(PrivateRDTClassifier(SCHEMA), neighbours)
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
        "could have been shown, with 99.99% confidence. A lower bound proves no privacy: another attacker may get more."
    )
    assert found.sentence.startswith("An attacker who saw one fit guessed of 3,000 planted rows")


def test_one_fit_shows_little_where_little_is_spent():
    found = audit_in_one_run(PrivateRDTClassifier(epsilon=0.01, n_trees=1), n_canaries=1_000)
    assert found.epsilon_shown < 0.3


def test_one_run_refuses_what_it_cannot_be_held_against():
    with pytest.raises(ParameterError, match="one run can test an epsilon with delta 0 only; audit by many runs"):
        audit_in_one_run(PrivateForestClassifier(epsilon=1.0, delta=1e-6))
    with pytest.raises(ParameterError, match="plants single rows, and this estimator protects people"):
        audit_in_one_run(PrivateRDTClassifier(unit="pid", max_rows=2))
    with pytest.raises(ParameterError, match="epsilon=inf claims nothing"):
        audit_in_one_run(PrivateRDTClassifier(epsilon=math.inf))
    with pytest.raises(ParameterError, match="one run takes a classifier of privet"):
        audit_in_one_run(laplace)


def test_too_few_canaries_are_called_canaries():
    found = audit_in_one_run(PrivateRDTClassifier(epsilon=50.0, n_trees=1), n_canaries=10)
    assert "by too few canaries to contradict the claim (epsilon = 50)" in found.sentence
    assert f"By so many guesses at most {found.most:.3g} could have been shown" in found.sentence


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e308])
@pytest.mark.parametrize("released", [lambda seen: seen, lambda seen: [public_generator(None).normal(), seen]])
def test_a_leak_through_nan_or_infinity_is_seen_by_the_attacker(odd, released):
    found = audit(lambda table: released(odd if table.any() else 0.0), TWO_TABLES, epsilon=1.0, runs=100)
    assert found.epsilon_shown == found.most > 2.0


def test_what_is_always_nan_or_always_empty_shows_nothing():
    for released in (math.nan, []):
        found = audit(lambda table, released=released: released, TWO_TABLES, epsilon=1.0, runs=20)
        assert found.epsilon_shown == 0.0


@pytest.mark.parametrize("released", ["text", {"mean": 1.0}, [[1], [1, 2]], 1j, 10**400])
def test_what_is_no_line_of_numbers_is_refused_with_the_way_out(released):
    with pytest.raises(ParameterError, match="the attacker needs numbers; pass read=, a function that turns it into"):
        audit(lambda table: released, TWO_TABLES, epsilon=1.0, runs=20)


def test_releases_of_different_lengths_are_refused_with_the_way_out():
    with pytest.raises(ParameterError, match="releases differ in how many numbers they hold.*pass read="):
        audit(lambda table: np.zeros(int(table.sum())), TWO_TABLES, epsilon=1.0, runs=20)


def test_what_cannot_be_sent_to_other_processes_is_refused_with_the_way_out():
    with pytest.raises(ParameterError, match="cannot be sent to other processes; pass n_jobs=1"):
        audit(lambda table: 1.0, TWO_TABLES, epsilon=1.0, runs=20, n_jobs=2)


KEPT = np.random.default_rng(7)


def noise_of_a_kept_generator(table):
    return KEPT.random()


def test_a_callable_that_keeps_a_generator_never_repeats_a_draw():
    found = audit(noise_of_a_kept_generator, TWO_TABLES, epsilon=1.0, runs=400)
    (attack,) = found.attacks.values()
    assert len(np.unique([*attack.scores_without, *attack.scores_with])) == 400


def test_no_word_of_proof_is_said_of_a_function_of_ones_own():
    found = audit(laplace, TWO_TABLES, epsilon=1.0, runs=20)
    assert found.proven is None
    assert found.to_json()["proven"] is None
    assert found.subject == "laplace"
    assert "nothing is proven" not in found.sentence
    assert audit(PrivateRDTClassifier(SCHEMA, n_trees=1), worst_cases(SCHEMA)[:1], runs=20, n_jobs=1).proven is True


def test_an_audit_does_not_touch_the_ledger_of_what_it_audits(tmp_path):
    ledger = Ledger(tmp_path / "ledger.db", dataset="people", epsilon=1.0)
    model = PrivateRDTClassifier(SCHEMA, epsilon=0.5, n_trees=1, height=1, ledger=ledger)
    before = (tmp_path / "ledger.db").read_bytes()
    audit(model, worst_cases(SCHEMA)[:1], runs=20, n_jobs=1)
    audit_in_one_run(model, n_canaries=10)
    assert (tmp_path / "ledger.db").read_bytes() == before
    assert ledger.left == 1.0
    assert model.ledger is ledger


def test_fits_without_noise_can_be_held_against_a_claim_as_a_control():
    exact = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=1, height=1)
    found = audit(exact, worst_cases(SCHEMA)[:1], epsilon=1.0, runs=60, n_jobs=1)
    assert found.epsilon_shown == found.most
    assert found.contradicts
    assert found.proven is False
    assert audit_in_one_run(exact, epsilon=1.0, n_canaries=100).right == 100


def test_a_promise_to_people_is_audited_with_people_who_have_more_rows_than_are_used():
    exact = PrivateRDTClassifier(SCHEMA, epsilon=math.inf, n_trees=1, height=1, unit="pid", max_rows=3)
    case = worst_cases(SCHEMA, exact._unit())[1]
    people = case.with_people(case.with_row, list(SCHEMA.names), "pid")
    # Twenty people with a row each, and one with six, of which three are used.
    assert list(people["pid"]) == [*range(20), *[20] * 6]
    exact.fit(people, case.with_row.y)
    assert exact.noisy_counts_.sum() == 23
    # The attacker's reading of the file is that of three rows: they lie in one leaf.
    assert Evidence(case)(exact)[2:10].sum() == 3.0


def test_all_cases_of_people_are_fitted_and_the_sentence_speaks_of_them():
    model = PrivateRDTClassifier(SCHEMA, epsilon=2.0, n_trees=1, height=1, unit="pid", max_rows=3)
    found = audit(model, runs=20, n_jobs=1)
    assert len(found.attacks) == 5
    assert found.sentence.startswith("An attacker who knows all rows but those of one 'pid' and sees all")
    assert found.to_json()["unit"] == "pid"


def test_the_example_in_the_documentation_is_caught():
    page = Path(__file__).parents[2] / "docs" / "assurance.md"
    (block,) = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    given = {}
    exec(compile(block, page.name, "exec"), given)  # noqa: S102 - our own page
    assert given["found"].contradicts
    assert 2 < given["found"].epsilon_shown < 3.6
