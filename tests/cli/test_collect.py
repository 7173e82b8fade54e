"""privet collect."""

import csv
import hashlib
import json
import re
import stat
from pathlib import Path

import pytest

from privet import Categorical, Numeric, RandomizedResponse, Schema
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE
from privet.service.collect.folder import CollectFolder
from privet.service.collect.tokens import token_hash

INIT = "collect init smokers --channel channel.json --title Smoking --people 100 --batch 2"


@pytest.fixture(autouse=True)
def channel(folder):
    attributes = [Numeric("age", 0, 100, bins=5), Categorical("sex", ["female", "male"])]
    schema = Schema(attributes, classes=["no", "yes"], target="smoker", rows=100)
    made = RandomizedResponse(schema, epsilon=6.0, label=True).channel
    made.save("channel.json")
    return made


def tokens_in(path):
    with Path(path).open() as file:
        return [line["link"].partition("#")[2] for line in csv.DictReader(file)]


def put(n):
    """Have people answer by their links, without a server."""
    store = CollectFolder(Path("smokers")).open_store()
    for i, token in enumerate(tokens_in("links.csv")[:n]):
        store.put(
            token_hash(token), bytes([i]), json.dumps([10.0 if i % 2 else 90.0, "male", "no" if i % 2 else "yes"])
        )
    store.release(2)
    store.close()


def test_a_collection_is_made_with_one_command_and_its_password_is_shown_once(privet):
    told = privet(INIT)
    assert told.exit_code == 0, told.output
    password = told.stdout.split()[-1]
    files = {path.name for path in Path("smokers").iterdir()}
    assert files == {"settings.json", "channel.json", "server.key", "answers.db"}
    assert password not in Path("smokers/settings.json").read_text()
    assert stat.S_IMODE(Path("smokers").stat().st_mode) == 0o700
    assert Path("smokers/channel.json").read_bytes() == Path("channel.json").read_bytes()


def test_links_are_one_time_tokens_of_which_the_folder_has_hashes_only(privet):
    privet(INIT)
    told = privet("collect links smokers --number 3 --base-url https://ask.example/ --qr sheet.html")
    assert told.exit_code == 0, told.output
    tokens = tokens_in("links.csv")
    assert len(set(tokens)) == 3
    assert Path("links.csv").read_text().splitlines()[1] == f"https://ask.example/#{tokens[0]}"
    kept = Path("smokers/answers.db").read_bytes()
    assert all(token.encode() not in kept and token_hash(token) in kept for token in tokens)
    sheet = Path("sheet.html").read_text()
    assert sheet.count("<svg") == 3
    assert not re.search(r"<script|src=", sheet)


def test_the_export_is_a_table_that_fit_takes(privet):
    privet(INIT)
    privet("collect links smokers --number 41 --base-url https://ask.example")
    put(41)
    assert privet("collect export smokers").stdout == "38 answers written to 'answers.csv'\n"
    told = privet("fit answers.csv --channel smokers/channel.json --method random-response-forest")
    assert told.exit_code == 0, told.output


def test_a_backup_brings_back_tokens_and_answers(privet):
    privet(INIT)
    privet("collect links smokers --number 4 --base-url https://ask.example")
    put(4)
    assert privet("collect backup smokers").exit_code == 0
    assert stat.S_IMODE(Path("backup.tar").stat().st_mode) == 0o600
    assert privet("collect restore backup.tar again").exit_code == 0
    privet("collect export smokers -o one.csv")
    privet("collect export again -o other.csv")
    assert Path("one.csv").read_text() == Path("other.csv").read_text()


def test_a_schema_and_an_epsilon_are_enough_and_the_wave_is_the_channel_s(privet, channel):
    channel.schema.save("schema.json")
    words = "--schema schema.json --epsilon 2 --title Smoking --people 100"
    assert privet(f"collect init smokers {words} --wave spring").exit_code == 0
    folder = CollectFolder(Path("smokers"))
    assert (folder.settings.wave, folder.channel.record.wave) == ("spring", "spring")
    assert folder.channel.total_epsilon() == pytest.approx(2.0)


@pytest.mark.parametrize("words", ["", "--schema s.json", "--epsilon 2", "--channel c.json --epsilon 2"])
def test_what_is_asked_is_said_in_one_of_two_ways(refused, words):
    told = refused(f"collect init smokers --title Smoking --people 100 {words}", EXIT_USAGE)
    assert "--schema with --epsilon, or a --channel" in told


def test_a_wave_that_the_channel_does_not_have_is_refused(refused):
    assert "the channel has no wave" in refused(f"{INIT} --wave spring", EXIT_USAGE)


def test_a_store_s_url_is_kept_without_a_password(refused):
    told = refused(f"{INIT} --store postgresql://me:sesame@db/answers", EXIT_USAGE)
    assert "PRIVET_STORE_URL" in told
    assert "sesame" not in told
    assert not Path("smokers").exists()


def test_a_collection_is_closed_and_its_model_published_from_the_command_line(privet):
    privet(f"{INIT} --minimum 41")
    privet("collect links smokers --number 41 --base-url https://ask.example")
    put(41)
    refused = privet("collect train smokers")
    assert refused.exit_code == EXIT_USAGE
    assert "too few answers" in refused.stderr
    assert privet("collect close smokers").stdout == "collection closed; 41 answers are released\n"
    assert not CollectFolder(Path("smokers")).settings.open
    told = privet("collect train smokers --publish --json")
    assert told.exit_code == 0, told.output
    assert json.loads(told.stdout)["published"] is True
    assert "globalThis" in Path("smokers/published.js").read_text()


def test_what_is_wrong_is_said_in_one_sentence(privet, refused):
    assert "is no folder of a collection" in refused("collect export nowhere", EXIT_DATA)
    privet(INIT)
    assert "'smokers' exists" in refused(INIT, EXIT_USAGE)
    assert "secure pages only" in refused("collect links smokers --number 1 --base-url http://ask.example", EXIT_USAGE)
    Path("other.tar").write_text("no archive")
    assert "cannot be read" in refused("collect restore other.tar again", EXIT_DATA)


def test_other_machines_are_served_with_tls_or_by_name_without(privet):
    privet(INIT)
    told = privet("collect run smokers --host 0.0.0.0")
    assert told.exit_code == EXIT_USAGE
    assert "without TLS" in told.stderr


def test_the_offline_page_is_one_file_and_its_fingerprint_is_told(privet):
    privet(INIT)
    told = privet("collect offline smokers -o answer.html")
    assert told.exit_code == 0, told.output
    page = Path("answer.html").read_bytes()
    assert told.stdout.split()[-1] == hashlib.sha256(page).hexdigest()
    assert not re.search(rb"""(?:src|href)=["'](?!data:)""", page.partition(b"<body>")[0])
    assert b"connect-src" not in page
    assert b"default-src 'none'" in page


def test_texts_that_were_handed_over_are_added_and_count_once(privet, channel):
    privet(INIT)
    privet("collect links smokers --number 3 --base-url https://ask.example/")
    answers = {"age": 10.0, "sex": "male", "smoker": "no"}
    for i, token in enumerate(tokens_in("links.csv")[:2]):
        text = {"token": token, "report_id": f"{i:032x}", "answers": answers}
        Path(f"text-{i}.json").write_text(json.dumps(text))
    assert privet("collect add smokers text-0.json text-1.json").stdout == "2 added; 0 were there before\n"
    Path("text-2.json").write_text(json.dumps({"report_id": "f" * 32, "answers": answers}))
    told = privet("collect add smokers text-2.json")
    assert (told.exit_code, "names no link" in told.output) == (EXIT_DATA, True)
    link = f"https://ask.example/#{tokens_in('links.csv')[2]}"
    assert json.loads(privet(f"collect add smokers text-2.json --token {link} --json").stdout)["added"] == 1
    told = privet(f"collect add smokers text-1.json text-2.json --token {link}")
    assert (told.exit_code, "--token is for one report" in told.output) == (EXIT_USAGE, True)
    privet("collect close smokers")
    privet("collect export smokers -o answers.csv")
    assert len(Path("answers.csv").read_text().splitlines()) == 4


def test_a_file_of_texts_is_checked_and_kept(privet):
    Path("texts.json").write_text('{"nl": {"name": "Nederlands", "fields": {"age": "Leeftijd"}}}')
    assert privet(f"{INIT} --texts texts.json").exit_code == 0
    assert CollectFolder(Path("smokers")).settings.texts["nl"]["fields"] == {"age": "Leeftijd"}
    Path("texts.json").write_text('{"nl": {"name": "Nederlands", "fields": {"weight": "Gewicht"}}}')
    told = privet("collect init others --channel channel.json --title Smoking --people 100 --texts texts.json")
    assert (told.exit_code, "the channel has no field 'weight'" in told.output) == (EXIT_USAGE, True)
    assert not Path("others").exists()
