"""Models of made-up people: as strong as asked, and better with more people and more epsilon."""

import numpy as np
import pytest

from privet import Categorical, FieldSampling, Numeric, RandomizedResponse, Schema
from privet.errors import ParameterError
from privet.local import simulate_answers

SCHEMA = Schema(
    [Numeric("age", 16, 100, bins=6), Categorical("job", ["a", "b", "c"]), Categorical("sex", ["f", "m"])],
    classes=["no", "yes"], target="smoker",
)  # fmt: skip


def test_more_people_and_more_epsilon_help_and_nothing_is_better_than_what_can_be_known():
    channel = FieldSampling(SCHEMA, epsilon=1.0).channel
    found = simulate_answers(channel, 4_000, strength="strong", draws=2)
    accuracy = np.array(found.accuracy)
    assert (found.people, found.epsilons) == ((1_000, 4_000, 16_000), (0.5, 1.0, 2.0, 4.0, 8.0))
    assert accuracy.max() <= found.without_noise + 0.001
    assert accuracy[2, -1] == pytest.approx(found.without_noise, abs=0.02)
    assert accuracy[2, -1] > accuracy[0, 0] + 0.05
    assert found == simulate_answers(channel, 4_000, strength=0.4, draws=2)


def test_where_hardly_anything_is_told_models_guess_the_largest_class():
    found = simulate_answers(
        FieldSampling(SCHEMA, epsilon=0.25).channel, 4_000, strength="weak", class_share=0.9, draws=2
    )
    assert found.epsilons[0] == pytest.approx(0.25)
    assert found.accuracy[0][0] == pytest.approx(found.majority, abs=0.02)


def test_what_cannot_be_simulated_is_refused_with_the_way_out():
    channel = FieldSampling(SCHEMA, epsilon=1.0).channel
    with pytest.raises(ParameterError, match="make the channel with FieldSampling"):
        simulate_answers(RandomizedResponse(SCHEMA, epsilon=1.0).channel, 100)
    with pytest.raises(ParameterError, match="strength='huge' must be weak, medium, strong"):
        simulate_answers(channel, 100, strength="huge")
    with pytest.raises(ParameterError, match="draws=1 must be a whole number"):
        simulate_answers(channel, 100, draws=1)
