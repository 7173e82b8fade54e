"""Digits and bytes changed in local models and in channels: an error, or something that works."""

import json

import numpy as np
import pytest

from privet import (
    Channel,
    FieldSampling,
    GaussianNoise,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    SampledForestClassifier,
    Secret,
    perturb,
)
from privet.datasets import agrawal
from privet.errors import ChannelError
from tests.contracts.test_damaged_files import damaged, outcomes_of_damage, with_other_digits

CASES = 400
DATA = agrawal(600, function=1, random_state=1)
CHANNELS = {
    "noise": GaussianNoise(DATA.schema, privacy=0.5).channel,
    "records": RecordComplement(DATA.schema, theta=0.9).channel,
    "answers": RandomizedResponse(DATA.schema, keep=0.95).channel,
    "questions": FieldSampling(DATA.schema, epsilon=4, pairs=[("age", "salary")], wave="spring").channel,
}
MODELS = {
    "noise": ReconstructionTreeClassifier(channel=CHANNELS["noise"], random_state=0, height=2),
    "records": RandomResponseForestClassifier(channel=CHANNELS["records"], n_trees=2, max_depth=2, random_state=0),
    "answers": RandomResponseForestClassifier(channel=CHANNELS["answers"], n_trees=2, max_depth=2, random_state=0),
    "questions": SampledForestClassifier(channel=CHANNELS["questions"]),
}


def predicts(model) -> bool:
    return bool(np.isfinite(model.predict_proba(DATA.X[:5])).all())


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    if request.param == "questions":  # of which the label is a part
        people = DATA.X.assign(**{DATA.schema.target: DATA.y})
        return MODELS["questions"].fit(perturb(people, CHANNELS["questions"], Secret()))
    answers = perturb(DATA.X, CHANNELS[request.param], Secret())
    return MODELS[request.param].fit(answers, DATA.y)


def test_a_damaged_document_whose_checksum_fits_is_refused_or_predicts(model, tmp_path):
    outcomes = outcomes_of_damage(model, tmp_path / "m.privet", predicts, n_cases=CASES)
    assert outcomes["refused"] > CASES / 10, outcomes
    assert outcomes["no JSON"], outcomes


@pytest.mark.parametrize("name", CHANNELS)
def test_a_damaged_channel_is_refused_or_is_a_channel(name, tmp_path):
    content, rng = json.dumps(CHANNELS[name].to_json()).encode(), np.random.default_rng(3)
    outcomes = {"refused": 0, "read": 0}
    for _ in range(CASES):
        (tmp_path / "c.json").write_bytes((damaged if rng.random() < 0.3 else with_other_digits)(content, rng))
        try:
            channel = Channel.load(tmp_path / "c.json")
            assert Channel.from_json(channel.to_json()) == channel
            outcomes["read"] += 1
        except ChannelError:
            outcomes["refused"] += 1
    assert min(outcomes.values()) > CASES / 100, outcomes
