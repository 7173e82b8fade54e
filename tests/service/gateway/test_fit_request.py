"""What may be asked for: a white list that no method widens by itself."""

import pytest

from privet import Categorical, Schema
from privet.privacy.unit import EACH_ROW
from privet.registry import METHODS
from privet.service.gateway.analyst_requests import OFFERED, FitRequest, offered_parameters
from privet.service.requests import Refusal

# What the constructors take beside what changes how a paid fit is made.
KEPT = {"schema", "epsilon", "delta", "unit", "max_rows", "ledger", "random_state", "n_jobs", "verbose",
        "unsafe_seeded_noise", "variant"}  # fmt: skip


@pytest.mark.parametrize("method", OFFERED)
def test_no_parameter_is_offered_that_the_server_keeps(method):
    offered = set(offered_parameters(method))
    assert not offered & KEPT
    assert offered | KEPT >= set(METHODS[method]().get_params())


@pytest.mark.parametrize("method", OFFERED)
def test_every_method_that_is_offered_is_sound(method):
    model = FitRequest.of({"method": method, "epsilon": 1.0}).estimator(None, EACH_ROW)
    assert model._is_sound()
    assert model.unsafe_seeded_noise is False
    assert model.ledger is None


def test_trees_that_are_too_large_are_refused_before_they_are_paid_for():
    wide = Schema([Categorical(f"c{i}", [f"{j}" for j in range(50)]) for i in range(9)], classes=["no", "yes"])
    asked = FitRequest.of({"method": "private-rdt", "epsilon": 1.0, "parameters": {"n_trees": 100, "height": 9}})
    with pytest.raises(Refusal, match="leaf class counts; lower height"):
        asked.plan(wide, EACH_ROW)


def test_what_a_method_needs_of_the_schema_is_refused_before_it_is_paid_for():
    unsized = Schema([Categorical("sex", ["female", "male"])], classes=["no", "yes"])
    asked = FitRequest.of({"method": "dpdf", "epsilon": 1.0, "parameters": {"criterion": "entropy"}})
    with pytest.raises(Refusal) as refused:
        asked.plan(unsized, EACH_ROW)
    assert refused.value.status == 422


def test_classes_may_be_weighed_by_their_released_balance():
    asked = FitRequest.of({"method": "private-forest", "epsilon": 1.0, "parameters": {"class_weight": "balanced"}})
    assert asked.estimator(None, EACH_ROW).class_weight == "balanced"
    with pytest.raises(Refusal, match="class_weight is not known; choose from balanced"):
        FitRequest.of({"method": "private-forest", "epsilon": 1.0, "parameters": {"class_weight": {"yes": 2}}})
