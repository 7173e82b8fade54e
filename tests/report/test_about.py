"""about.toml: what the owner states, and what is refused."""

import os
import threading

import pytest

from privet.errors import ParameterError
from privet.report.about import MOST_BYTES, TEMPLATE, About

STATED = """
owner = "City Hospital"
purpose = "To find smokers."
period = "2023 to 2026"
contact = "privacy@hospital.example"
"""


def test_four_fields_will_do():
    about = About.from_toml(STATED)
    assert (about.owner, about.contact, about.region) == ("City Hospital", "privacy@hospital.example", None)
    assert set(about.to_json()) == {"owner", "purpose", "period", "contact"}


def test_the_template_is_refused_until_it_is_filled_in_and_has_every_field():
    with pytest.raises(ParameterError, match="does not state owner or purpose or period or contact; fill it in"):
        About.from_toml(TEMPLATE)
    lines = [line.removeprefix("# ") for line in TEMPLATE.splitlines()]
    filled = "\n".join(line.replace('""', '"Government"', 1) for line in lines if " = " in line and ": `" not in line)
    about = About.from_toml(filled)
    assert about.published == "2026-12-31"
    assert about.authors == ("Government",)
    assert None not in vars(about).values()


FOUR = ["owner=City Hospital", "purpose=a = b", "period=2025", "contact=a@hospital.example"]


def test_what_is_typed_is_read_like_the_file():
    about = About.from_pairs([*FOUR, "authors=Ann", "authors=Ben", "published=2026-12-31"])
    assert (about.owner, about.purpose, about.period) == ("City Hospital", "a = b", "2025")
    assert (about.authors, about.published) == (("Ann", "Ben"), "2026-12-31")


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        (FOUR[:2], "--state does not state period or contact; fill it in"),
        ([*FOUR, "region"], "--state 'region' is not NAME=TEXT; write --state owner='City Hospital'"),
        ([*FOUR, "owner=B"], "--state has 'owner' twice; leave one out"),
        ([*FOUR, "Region=B"], "--state has a field 'Region', which no report shows; it is spelled 'region'"),
        ([*FOUR, "published=soon"], "published in --state must be a day without quotes, as 2026-12-31"),
    ],
)
def test_what_is_wrong_in_what_is_typed_is_said_with_the_way_out(pairs, sentence):
    with pytest.raises(ParameterError, match=f"^{sentence}$"):
        About.from_pairs(pairs)


def test_lines_of_a_long_text_become_one():
    assert About.from_toml(STATED + 'people = """One\nrow  each."""').people == "One row each."


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ("owners = 'x'", "has a field 'owners', which no report shows; there are owner, purpose"),
        ("Region = 'x'", "has a field 'Region', which no report shows; it is spelled 'region'"),
        ("region = 5", "region in about.toml must be text in quotes"),
        ("region = ' '", "region in about.toml must be text in quotes; fill it in, or leave it out"),
        (f"region = '{'x' * 2001}'", "region in about.toml is longer than 2,000 characters"),
        ("sector = 'Magic'", "sector in about.toml is not one of Technology, Healthcare"),
        ("owner_kind = 'industry'", "owner_kind in about.toml is not one of Government, Industry, Nonprofit"),
        ("published = '2026-12-31'", "published in about.toml must be a day without quotes, as 2026-12-31"),
        ("published = 2026-12-31T10:00:00", "published in about.toml must be a day without quotes"),
        ("authors = 'A'", "authors in about.toml must be a list of names"),
        ("authors = []", "authors in about.toml must be a list of names"),
        ("authors = [5]", "authors in about.toml must be text in quotes"),
        ("region", "about.toml is not TOML: .*begin with `privet report --about-template > about.toml`"),
        ("region = 'a'\nregion = 'b'", "about.toml is not TOML"),
        (f"region = {'[' * 20_000}", "about.toml is not TOML: it nests too deep|about.toml is not TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_way_out(more, sentence):
    with pytest.raises(ParameterError, match=sentence):
        About.from_toml(f"{STATED}{more}\n")


def test_a_file_that_cannot_be_read_says_how_to_begin_one(tmp_path):
    with pytest.raises(
        ParameterError, match="cannot read .*; `privet report --about-template > about.toml` begins one"
    ):
        About.load(tmp_path / "about.toml")


def test_a_huge_file_is_not_parsed(tmp_path):
    (tmp_path / "about.toml").write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(ParameterError, match="is longer than 65,536 bytes; shorten it"):
        About.load(tmp_path / "about.toml")


def test_what_is_no_text_is_refused(tmp_path):
    (tmp_path / "about.toml").write_bytes(b"owner = '\xff'")
    with pytest.raises(ParameterError, match="is not text in UTF-8; save it as such"):
        About.load(tmp_path / "about.toml")


def test_a_pipe_that_nobody_writes_to_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "about.toml")
    refused = []

    def read():
        with pytest.raises(ParameterError, match="does not state owner"):
            About.load(tmp_path / "about.toml")
        refused.append(True)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    thread.join(30)
    assert refused
