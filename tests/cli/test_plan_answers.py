"""privet plan for methods of disturbed answers."""

import json
from pathlib import Path

import pytest

from privet import FieldSampling, RandomizedResponse, Schema
from privet.cli.support.output import EXIT_USAGE
from privet.local import plan_answers, simulate_answers

PLAN = "plan --schema schema.json --method sampled-forest --rows 20000"


def row_of(lines, name):
    """The figures in the line of the first table that begins with a name."""
    return next(line for line in lines if line.startswith(f"{name} ")).removeprefix(name).split()


def test_it_says_who_is_asked_what_it_costs_and_how_far_off_the_answers_are(privet):
    lines = privet(f"{PLAN} --epsilon 1").stdout.splitlines()
    assert lines[0] == "sampled-forest at local epsilon=1, planned for 20,000 people"
    assert lines[2].startswith(
        "All that a person sends costs local epsilon 1: whoever sees it and guesses between any two"
    )
    assert "right at most 74 times of 100" in lines[2]
    question = plan_answers(FieldSampling(Schema.load("schema.json"), epsilon=1).channel, 20_000).questions[1]
    reach, seen = 195.9964 * question.value_error, 100 * question.seen_from
    assert row_of(lines, "sex")[:7] == ["5,000", "6", "2", "57.6", "%", "1", "±"]
    assert float(row_of(lines, "sex")[7]) == pytest.approx(reach, rel=0.01)
    assert float(row_of(lines, "sex")[-2]) == pytest.approx(seen, rel=0.01)
    assert any(line.startswith("epsilon for ± 2 points with 20,000 people") for line in lines)


def test_json_is_the_python_plan(privet):
    asked = "--epsilon 2 --ask 2 --bins 5 --pair age,sex --field-epsilon children=0.5"
    line = f"{PLAN} {asked} --error 0.05 --class-share 0.2"
    schema = Schema.load("schema.json")
    channel = FieldSampling(
        schema, epsilon=2.0, ask=2, bins=5, pairs=[("age", "sex")], epsilons={"children": 0.5}
    ).channel
    plan = plan_answers(channel, 20_000, error=0.05, class_share=0.2)
    data = json.loads(privet(f"{line} --json").stdout)
    assert data.pop("plot") is None
    assert data == json.loads(json.dumps(plan.to_json()).replace("Infinity", '"inf"'))
    text = privet(line).stdout
    assert "Where they differ in one field only, at most 63 (children)." in text
    assert "Hidden more strongly, at its own epsilon throughout: children." in text


def test_a_published_channel_says_it_all(privet, refused):
    FieldSampling(Schema.load("schema.json"), epsilon=1.0).channel.save("c.json")
    line = "plan --channel c.json --method sampled-forest --rows 20000"
    assert privet(line).stdout == privet(f"{PLAN} --epsilon 1").stdout
    assert "--epsilon does not go with --channel" in refused(f"{line} --epsilon 2", EXIT_USAGE)
    assert "--field-epsilon does not go with --channel" in refused(f"{line} --field-epsilon age=1", EXIT_USAGE)
    assert "choose --method sampled-forest" in refused(f"{line} --method reconstruction-tree", EXIT_USAGE)


@pytest.mark.parametrize("method", ["random-response-forest", "reconstruction-tree"])
def test_random_answers_to_every_field_are_planned_for_too(privet, method):
    schema = Schema.load("schema.json")
    plan = plan_answers(RandomizedResponse(schema, epsilon=4, label=True, covers_missing=True).channel)
    lines = privet(f"plan --schema schema.json --method {method} --epsilon 4").stdout.splitlines()
    assert lines[0].startswith(f"{method} at local epsilon=4, planned for 300 people")
    assert "seen from" not in "\n".join(lines)
    assert float(row_of(lines, "sex")[7]) == pytest.approx(195.9964 * plan.questions[1].value_error, rel=0.01)
    assert row_of(lines, "class")[:4] == ["300", "2", "1", "73.1"]


def test_models_of_made_up_people_are_shown_beside_the_largest_class(privet):
    line = f"{PLAN} --rows 400 --epsilon 8 --bins 3 --simulate --strength 0.4"
    lines = privet(line).stdout.splitlines()
    found = simulate_answers(FieldSampling(Schema.load("schema.json"), epsilon=8.0, bins=3).channel, 400, strength=0.4)
    start = next(i for i, own in enumerate(lines) if own.startswith("Made-up people"))
    assert "by Cohen's w = 0.4, strong: largest class 50.0 %" in lines[start]
    assert lines[start + 1].split("  ")[0] == "people"
    assert lines[start + 3].split()[:2] == ["400", f"{100 * found.accuracy[1][0]:.1f}"]
    assert "real ones repeat each other" in lines[-1]
    [simulated] = json.loads(privet(f"{line} --json").stdout)["simulated"]
    assert simulated == json.loads(json.dumps(vars(found)))


def test_a_picture_is_written_and_not_replaced_unasked(privet, refused):
    assert "picture: plan.svg" in privet(f"{PLAN} --plot plan.svg").stdout
    assert Path("plan.svg").read_text().startswith("<?xml")
    assert "--force" in refused(f"{PLAN} --plot plan.svg", EXIT_USAGE)
    assert json.loads(privet(f"{PLAN} --plot plan.svg --force --json").stdout)["plot"] == "plan.svg"
    assert "a picture is written as" in refused(f"{PLAN} --plot plan.txt", EXIT_USAGE)


def test_no_row_is_read(privet):
    before = privet(f"{PLAN} --epsilon 1").stdout
    Path("rows.csv").unlink()
    assert privet(f"{PLAN} --epsilon 1").stdout == before


def test_mistakes_are_told_in_one_line(refused):
    curators = "plan --schema schema.json"
    assert "--ask does not apply to private-forest; leave it out, or choose --method sampled-forest" in refused(
        f"{curators} --ask 1", EXIT_USAGE
    )
    assert "--pair does not apply to private-forest" in refused(f"{curators} --pair age,sex", EXIT_USAGE)
    FieldSampling(Schema.load("schema.json"), epsilon=1.0).channel.save("c.json")
    assert "takes no --channel; fit disturbed answers with --method sampled-forest" in refused(
        f"{curators} --channel c.json", EXIT_USAGE
    )
    assert "--loss does not apply to sampled-forest: it costs nothing further" in refused(
        f"{PLAN} --loss 0.1", EXIT_USAGE
    )
    assert "--max-rows does not apply to sampled-forest" in refused(f"{PLAN} --max-rows 2", EXIT_USAGE)
    assert "add --simulate" in refused(f"{PLAN} --strength weak", EXIT_USAGE)
    assert "strength='huge' must be weak" in refused(f"{PLAN} --simulate --strength huge", EXIT_USAGE)
    assert "error=1.5 must be a share" in refused(f"{PLAN} --error 1.5", EXIT_USAGE)
    assert "draft one with `privet schema init" in refused("plan --method sampled-forest", EXIT_USAGE)
    random = "plan --schema schema.json --method random-response-forest"
    for option in ("--ask 1", "--field-epsilon age=1", "--simulate"):
        name = option.split()[0]
        assert f"{name} does not apply to random-response-forest; leave it out, or choose --method sampled" in refused(
            f"{random} {option}", EXIT_USAGE
        )
