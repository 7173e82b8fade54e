"""A plan of answers: stated errors by hand and by drawn answers, prices, people and epsilons that are needed."""

import math

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, FieldSampling, LaplaceNoise, Numeric, RandomizedResponse, Schema
from privet.errors import ParameterError
from privet.local import Channel, plan_answers
from privet.local.planning.answers_plan import NORMAL_95, people_in_words

ONE = Schema([Categorical("job", ["cook", "clerk"], never_missing=True)], classes=["no", "yes"], target="smoker")
THREE = Schema(
    [Categorical(name, ["a", "b", "c"], never_missing=True) for name in ("x", "y", "z")], classes=[5, 9], rows=1_500
)
MIXED = Schema(
    [Numeric("age", 0, 100), Categorical("sex", ["f", "m"]), Numeric("income", 0, 9)], classes=["no", "yes"], rows=9_000
)


def answers_of(channel, n, rng):
    """Answers of people whose values are equally frequent in every class, with what they would truly say."""
    attributes = channel.schema.attributes
    codes = np.column_stack([rng.integers(0, a.n_codes - a.never_missing, n) for a in attributes])
    labels = rng.integers(0, len(channel.schema.classes), n)

    def words(told, k):
        return rng.integers(0, 2**64, (len(told), k), dtype=np.uint64)

    return pd.DataFrame(channel.record.answer(codes, labels, [""] * n, words))


def test_by_hand_four_cells_at_three_to_one():
    # One of four cells is sent, the true one by 1/2 and each other by 1/6: all are sent equally often. The difference
    # of two cells has variance 1/2, over (1/3)^2; their sum 1/4, over the same.
    plan = plan_answers(FieldSampling(ONE, epsilon=math.log(3), label_alone=False).channel, 450)
    [question] = plan.questions
    assert (question.cells, question.sent, question.asked) == (4, 1, 450)
    assert question.keep == pytest.approx(0.5)
    assert question.value_error == pytest.approx(math.sqrt(4.5 / 450))
    assert question.class_error == pytest.approx(math.sqrt(4.5 / 450))
    assert question.seen_from == pytest.approx(0.1 * (1.959964 + 0.841621))
    assert plan.balance_error == pytest.approx(math.sqrt(2.25 / 450))
    assert plan.right_guesses == pytest.approx(3 / 4)
    assert plan.people_needed == pytest.approx(4.5 * (1.959964 / 0.02) ** 2, abs=2)


def test_by_hand_random_answers_to_a_coin():
    # Kept by 3/4, "f", "m" and the label are sent by 1/2 each: 1/4 over (1/2)^2 is 1.
    schema = Schema([Categorical("sex", ["f", "m"], never_missing=True)], classes=["no", "yes"], target="ill")
    plan = plan_answers(RandomizedResponse(schema, keep=0.75, label=True).channel, 400)
    assert [own.value_error for own in plan.questions] == pytest.approx([0.05, 0.05])
    assert [own.class_error for own in plan.questions] == [None, None]
    assert plan.balance_error == pytest.approx(0.05)
    assert plan.local_epsilon == pytest.approx(2 * math.log(3))
    assert [own.local_epsilon for own in plan.prices] == pytest.approx([math.log(3)] * 2)
    clear = plan_answers(RandomizedResponse(schema, keep=0.75).channel, 400, class_share=0.2)
    assert clear.balance_error == pytest.approx(math.sqrt(0.2 * 0.8 / 400))
    assert clear.given_clear == ("ill",)
    assert "guesses between two records that are alike in ill" in clear.price


@pytest.mark.parametrize("attribute", [0, 1])
def test_shares_are_off_by_more_than_stated_5_times_of_100_and_far_more_often_by_a_wrong_formula(attribute):
    rng, people = np.random.default_rng(attribute), 6_000
    channel = FieldSampling(MIXED, epsilon=2.0, bins=3).channel
    question = plan_answers(channel, people).questions[attribute]
    off_value, off_class = [], []
    for _ in range(250):
        support = channel.record.supports(answers_of(channel, people, rng))[attribute]
        shares = support.estimated_counts.reshape(-1, 2) / support.n
        off_value.append(shares[0, 0] / shares[:, 0].sum() - 1 / len(shares))
        off_class.append(shares[0, 0] / shares[0].sum() - 1 / 2)
    wrong = math.sqrt(question.asked / people)  # the planted fault: as if all people were asked every question
    for off, stated in ((off_value, question.value_error), (off_class, question.class_error)):
        held, held_by_wrong = (np.mean(np.abs(off) <= NORMAL_95 * own) for own in (stated, wrong * stated))
        assert 0.9 < held < 0.99
        assert held_by_wrong < 0.85


def test_the_class_balance_is_off_as_stated_where_the_same_people_answer_several_questions():
    rng, people = np.random.default_rng(2), 1_500
    channel = FieldSampling(THREE, epsilon=4.0, ask=2).channel
    stated = plan_answers(channel).balance_error
    found = []
    for _ in range(250):
        supports = channel.record.supports(answers_of(channel, people, rng))
        found.append(np.mean([own.estimated_counts.reshape(-1, 2)[:, 0].sum() / own.n for own in supports]))
    assert np.std(found) == pytest.approx(stated, rel=0.15)
    asked_once = math.sqrt(3) * stated  # the planted fault: as if only one table told of it
    assert np.std(found) != pytest.approx(asked_once, rel=0.15)


def test_four_times_the_people_are_half_as_far_off():
    channel = FieldSampling(MIXED, epsilon=1.0).channel
    one, four = plan_answers(channel, 5_000), plan_answers(channel, 20_000)
    assert four.balance_error == pytest.approx(one.balance_error / 2)
    for own, other in zip(one.questions, four.questions, strict=True):
        assert other.value_error == pytest.approx(own.value_error / 2)
    assert one.people_needed == four.people_needed
    assert one.questions[0].asked == pytest.approx(5_000 / 4)


def test_so_many_people_and_so_much_epsilon_reach_the_error_and_less_does_not():
    channel = FieldSampling(MIXED, epsilon=1.0).channel
    plan = plan_answers(channel, 40_000, error=0.05)
    reached = plan_answers(channel, int(plan.people_needed), error=0.05)
    assert NORMAL_95 * reached.least_known.value_error == pytest.approx(0.05, rel=1e-4)
    assert reached.epsilon_needed == pytest.approx(1.0, rel=0.01)
    enough = FieldSampling(MIXED, epsilon=plan.epsilon_needed, ask=1, bins=8).channel
    less = FieldSampling(MIXED, epsilon=0.97 * plan.epsilon_needed, ask=1, bins=8).channel
    assert plan_answers(enough, error=0.05).people_needed <= 40_000 < plan_answers(less, error=0.05).people_needed
    needs = {need.epsilon: need.people for need in plan.needs}
    assert list(needs) == [0.5, 1.0, 2.0, 4.0, 8.0]
    assert sorted(needs.values(), reverse=True) == list(needs.values())


def test_a_rare_class_is_known_less_well():
    channel = FieldSampling(MIXED, epsilon=2.0).channel
    even, rare = plan_answers(channel), plan_answers(channel, class_share=0.05)
    assert rare.questions[0].value_error > 5 * even.questions[0].value_error
    assert rare.to_json()["class_share"] == 0.05


def test_a_field_costs_the_questions_that_it_has_a_part_in():
    channel = FieldSampling(
        MIXED, epsilon=2.0, ask=2, pairs=[("age", "sex")], epsilons={"income": 0.25}
    ).channel  # each question costs 1, and income's a quarter
    plan = plan_answers(channel)
    assert {own.field: own.local_epsilon for own in plan.prices} == pytest.approx(
        {"age": 2.0, "sex": 2.0, "income": 0.25, "class": 2.0}
    )
    assert plan.price.endswith(
        "right at most 89 times of 100. Where they differ in one field only, at most 57 (income)."
    )
    assert [own.keeps_epsilon for own in plan.questions] == [False, False, True, False, False]
    assert plan.least_known.fields == ("income",)
    hidden = plan_answers(FieldSampling(MIXED, epsilon=1.0, epsilons={"income": 0.25}).channel)
    assert hidden.needs[-1].people == hidden.people_needed
    assert hidden.epsilon_needed == math.inf


def test_words_are_the_figures_and_json_is_plain():
    plan = plan_answers(FieldSampling(ONE, epsilon=1.0).channel, 20_000)
    assert str(plan).splitlines()[0] == "sampled-forest at local epsilon=1, planned for 20,000 people"
    assert "is right at most 74 times of 100. That is so even where they differ in one field only." in str(plan)
    assert f"people for ± 2 points: {people_in_words(plan.people_needed)}" in str(plan)
    data = plan.to_json()
    assert data["people_needed"] == plan.people_needed
    assert data["questions"][0]["fields"] == ("job",)


def test_numbers_of_people_are_told_to_three_digits_and_rounded_up():
    assert [people_in_words(n) for n in (12, 12_341, 999_001)] == ["12", "12,400", "1,000,000"]
    assert [people_in_words(n) for n in (7_581_234, 5_181_234_000)] == ["7.58 million", "5,181 million"]


def test_what_cannot_be_planned_is_refused_with_the_way_out():
    channel = FieldSampling(ONE, epsilon=1.0).channel
    with pytest.raises(ParameterError, match="pass people, or rows in the schema"):
        plan_answers(channel)
    with pytest.raises(ParameterError, match="people=0 must be a whole number"):
        plan_answers(channel, 0)
    with pytest.raises(ParameterError, match="error=2 must be a share between 0 and 1"):
        plan_answers(channel, 10, error=2)
    with pytest.raises(ParameterError, match="class_share=1 must be a share between 0 and 1"):
        plan_answers(channel, 10, class_share=1)
    for other in (LaplaceNoise(MIXED, epsilon=1.0).channel, Channel.clear(MIXED)):
        with pytest.raises(ParameterError, match="there is nothing to plan; see `privet perturb --explain`"):
            plan_answers(other)
