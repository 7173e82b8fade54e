"""The picture of a plan: a line an epsilon, a dot where it was planned."""

from itertools import pairwise

import numpy as np
import pytest

from privet import Categorical, FieldSampling, Schema
from privet.errors import ParameterError
from privet.local import plan_answers
from privet.local.planning.answers_plan import NORMAL_95
from privet.report import plot_answers_plan

SCHEMA = Schema([Categorical("job", ["cook", "clerk"])], classes=["no", "yes"])


@pytest.fixture(autouse=True)
def closed():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def test_the_dot_is_the_plan_and_lines_fall_with_people_and_with_epsilon():
    plan = plan_answers(FieldSampling(SCHEMA, epsilon=2.0).channel, 10_000)
    ax = plot_answers_plan(plan)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        f"epsilon {epsilon}" for epsilon in ("0.5", "1", "2", "4", "8")
    ]
    lines = [line.get_ydata() for line in ax.lines if len(line.get_xdata()) > 2]
    assert all(np.all(np.diff(points) <= 0) for points in lines)
    assert all(np.all(higher >= lower) for higher, lower in pairwise(lines))
    [dot] = [line for line in ax.lines if len(line.get_xdata()) == 1]
    assert dot.get_xdata() == [10_000]
    assert dot.get_ydata()[0] == pytest.approx(100 * NORMAL_95 * plan.least_known.value_error, rel=1e-3)


def test_what_is_no_plan_is_refused():
    with pytest.raises(ParameterError, match="draws what plan_answers returns"):
        plot_answers_plan("plan")
