"""``privet rehearse``: accuracy over epsilon from made-up or public rows, as a table, as JSON and as a picture."""

import json
from pathlib import Path

import pytest

from privet import Schema, rehearse

ASKED = "rehearse --schema schema.json --rows 200,400 --epsilon 0.5,2 --draws 2"


def test_it_prints_what_the_library_finds_for_each_method_and_size(privet):
    done = privet(f"{ASKED} --method private-forest,private-rdt --strength sex=strong --class-share yes=0.3")
    found = rehearse(
        Schema.load("schema.json"), [200, 400], epsilons=[0.5, 2], methods=["private-forest", "private-rdt"],
        strength={"sex": 0.4}, class_shares={"yes": 0.3}, draws=2,
    )  # fmt: skip
    assert done.exit_code == 0
    for score in found.scores:
        assert f"{100 * score.accuracy:.1f} ± {100 * score.deviation:.1f}" in done.stdout
    assert "no noise" in done.stdout
    assert "w = 0.2 to 0.4" in done.stdout
    assert "what can be known at most" in done.stdout
    assert "made-up rows are no rows of yours" in done.stderr


def test_json_has_every_score_and_the_picture_is_drawn(privet):
    data = json.loads(privet(f"{ASKED} --json --plot rehearsal.svg").stdout)
    assert [(own["rows"], own["epsilon"]) for own in data["scores"]] == [
        (200, 0.5), (200, 2.0), (200, "inf"), (400, 0.5), (400, 2.0), (400, "inf")
    ]  # fmt: skip
    assert data["plot"] == "rehearsal.svg"
    assert "<svg" in Path("rehearsal.svg").read_text()


def test_a_public_table_is_taken_in_place_of_made_up_rows(privet):
    done = privet(f"{ASKED} --like rows.csv")
    assert done.exit_code == 0
    assert "rows of a public table, which has 300" in done.stdout
    assert "what can be known" not in done.stdout
    assert "declares this table public" in done.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--rows many", "--rows 'many' is not a whole number"),
        ("--class-share 0.3", "must be a name and a value, such as yes=0.1"),
        ("--class-share yes=few", "--class-share 'few' is not a number"),
        ("--strength age=huge", "strength='huge' must be weak"),
        ("--method magic", "--method 'magic' is not known"),
        ("--plot rehearsal.txt", "a picture is written as .png"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(refused, options, message):
    assert message in refused(f"{ASKED} {options}", code=2)


def test_a_missing_public_table_is_named(refused):
    assert "nowhere.csv" in refused(f"{ASKED} --like nowhere.csv", code=3)
