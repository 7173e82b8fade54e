"""The words of the pages, and those that a collector adds."""

import json
import re
from importlib.resources import files

import pytest

from privet.errors import ParameterError
from privet.service.collect.texts import page_texts, read_texts
from tests.service.collect.conftest import schema

GAP = re.compile(r"\{\w+\}")
OWN = {
    "en": {"title": "Smoke", "fields": {"age": "How old are you?"}, "values": {"smoker": {"no": "I do not smoke"}}},
    "nl": {"name": "Nederlands", "dir": "ltr", "withdraw": "Terugtrekken", "fields": {"sex": "Geslacht"}},
}


def read(tmp_path, document):
    (tmp_path / "texts.json").write_text(json.dumps(document))
    return read_texts(tmp_path / "texts.json", schema())


@pytest.mark.parametrize("language", [language for language in page_texts() if language != "en"])
def test_every_language_says_what_english_says_with_the_same_gaps(language):
    texts, english = page_texts()[language], page_texts()["en"]
    assert list(texts) == list(english)
    assert {key: set(GAP.findall(text)) for key, text in texts.items()} == {
        key: set(GAP.findall(text)) for key, text in english.items()
    }
    assert all(text.strip() for text in texts.values())


def test_the_pages_say_every_text_and_no_other():
    pages = files("privet.service.collect").joinpath("pages")
    source = "".join(own.read_text() for own in pages.iterdir() if own.name.endswith((".html", ".js")))
    english = set(page_texts()["en"]) - {"name", "dir"}
    assert [key for key in english if f'"{key}"' not in source] == []
    assert set(re.findall(r'(?:say\(|data-say=)"([\w.-]+)"', source)) <= english


def test_a_language_is_there_once_its_file_is(collection):
    told = collection.client.get("/study.json").json()
    assert told["languages"] == ["en", "de", "fr"]
    for language in told["languages"]:
        assert collection.client.get(f"/texts/{language}.json").json() == page_texts()[language]


def test_a_collector_s_texts_are_read_back_and_may_add_a_language(tmp_path):
    assert read(tmp_path, OWN) == OWN


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ([], "holds an object of texts for each language"),
        ({"en": "words"}, "holds an object of texts for each language"),
        ({"English": {}}, "'English' is no language; use its short name"),
        ({"de": {"withdraw": "Weg"}}, "have texts of their own for 'de'; leave 'withdraw' out"),
        ({"nl": {"title": "Roken"}}, "'nl' is a new language; give its name"),
        ({"nl": {"name": "Nederlands", "dir": "up"}}, "'nl' is a new language; give its name"),
        ({"nl": {"name": "Nederlands", "nothing": "x"}}, "the pages have no text 'nothing'"),
        ({"nl": {"name": "Nederlands", "withdraw": 5}}, "the pages have no text 'withdraw'"),
        ({"nl": {"name": "Nederlands", "price.odds": "Veilig."}}, "'price.odds' in 'nl' needs the gaps of the English"),
        ({"en": {"fields": []}}, '"fields" and "values" in \'en\' are objects'),
        ({"en": {"fields": {"weight": "Weight"}}}, "the channel has no field 'weight'"),
        ({"en": {"values": {"smoker": {"maybe": "x"}}}}, "the field 'smoker' has no value 'maybe'"),
        ({"en": {"values": {"sex": "x"}}}, "the field 'sex' has no value 'sex'"),
        ({"en": {"title": 5}}, "titles, fields and values in 'en' are texts"),
    ],
)
def test_texts_that_the_pages_cannot_use_are_refused(tmp_path, document, told):
    with pytest.raises(ParameterError, match=re.escape(told)):
        read(tmp_path, document)


def test_a_file_that_is_no_json_is_refused(tmp_path):
    (tmp_path / "texts.json").write_text("{")
    with pytest.raises(ParameterError, match="cannot be read as JSON; correct it"):
        read_texts(tmp_path / "texts.json", schema())
