"""Secrets: words that nobody foresees and that never change, files for their owner alone, one channel a field."""

import errno
import functools
import hashlib
import hmac
import json
import stat
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.stats import chi2_contingency, chisquare, kstest
from sklearn.base import clone

from privet.errors import ChannelError, ParameterError
from privet.local import Secret
from privet.local.channels.secret import CLEAR, fingerprint_of, persons_in_json

KEY = bytes(range(32))
MARK, OTHER = fingerprint_of(["one"]), fingerprint_of(["other"])
N = 40_000


@functools.cache
def everybody():
    return persons_in_json(range(N))


def words_of(secret=None, mark=MARK, people=None, code=3):
    people = everybody() if people is None else people
    secret = Secret.of_key(KEY) if secret is None else secret
    return secret.words(mark, people, np.full(len(people), code))


@pytest.fixture(scope="module")
def words():
    return words_of()


def test_a_word_is_hmac_of_person_and_value_under_a_key_of_the_channel():
    own_key = hmac.new(KEY, MARK.encode(), hashlib.sha256).digest()
    expected = [
        int.from_bytes(hmac.new(own_key, message, hashlib.sha256).digest()[:8], "big")
        for message in (b'["ann",0]', b'["b\\"ob",12]')
    ]
    assert Secret.of_key(KEY).words(MARK, persons_in_json(["ann", 'b"ob']), np.array([0, 12])).tolist() == expected


def test_names_cannot_imitate_each_other():
    assert persons_in_json(["a", 'a",1', 1, "1"]) == ['"a"', '"a\\",1"', '"1"', '"1"']


def test_asking_twice_gives_the_same_word(words):
    assert words_of().tolist() == words.tolist()
    assert words_of(people=everybody()[::-1]).tolist() == words[::-1].tolist()


@pytest.mark.parametrize(
    "other",
    [{"secret": Secret.of_key(bytes(32))}, {"mark": OTHER}, {"code": 4}, {"people": persons_in_json(range(N, 2 * N))}],
    ids=["secret", "channel", "value", "person"],
)
def test_another_secret_channel_value_or_person_has_independent_words(words, other):
    others = words_of(**other)
    assert not (others == words).any()
    table = np.histogram2d(words / 2.0**64, others / 2.0**64, bins=8, range=[[0, 1], [0, 1]])[0]
    assert chi2_contingency(table).pvalue > 1e-6
    differing_bits = np.bitwise_count(words ^ others)
    assert differing_bits.mean() == pytest.approx(32, abs=6 * 4 / np.sqrt(N))  # each bit with a chance of 1/2


def test_words_are_uniform(words):
    assert len(np.unique(words)) == N
    assert kstest(words / 2.0**64, "uniform").pvalue > 1e-6
    for byte in range(8):
        counts = np.bincount((words >> np.uint64(8 * byte)).astype(np.uint8), minlength=256)
        assert chisquare(counts).pvalue > 1e-6


def test_the_test_of_uniform_words_would_see_a_little_less(words):
    assert kstest(words / 2.0**64 * 0.95, "uniform").pvalue < 1e-6


def test_neighbours_in_a_table_are_independent(words):
    table = np.histogram2d(words[:-1] / 2.0**64, words[1:] / 2.0**64, bins=8)[0]
    assert chi2_contingency(table).pvalue > 1e-6


def test_new_secrets_differ():
    assert words_of(Secret(), people=everybody()[:1]).tolist() != words_of(Secret(), people=everybody()[:1]).tolist()


def test_a_secret_in_a_file_is_the_same_when_it_is_opened_again(tmp_path):
    first = Secret(tmp_path / "secret.json")
    again = Secret(tmp_path / "secret.json")
    assert words_of(first, people=everybody()[:9]).tolist() == words_of(again, people=everybody()[:9]).tolist()


def test_its_owner_alone_can_read_the_file_before_and_after_answering(tmp_path):
    secret = Secret(tmp_path / "secret.json")
    assert stat.S_IMODE(secret.path.stat().st_mode) == 0o600
    secret.pin({"age": MARK})
    assert stat.S_IMODE(secret.path.stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret.json"]


def test_the_key_shows_nowhere(tmp_path):
    secret = Secret.of_key(KEY)
    assert KEY.hex() not in repr(secret)
    assert repr(Secret(tmp_path / "s")) == f"Secret({str(tmp_path / 's')!r})"


def test_a_field_is_answered_through_one_channel_only(tmp_path):
    for secret in (Secret(), Secret(tmp_path / "secret.json")):
        secret.pin({"age": MARK})
        secret.pin({"age": MARK, "job": OTHER})
        with pytest.raises(ChannelError, match="'age' was answered through another channel with this secret"):
            secret.pin({"wage": MARK, "age": OTHER})
        secret.pin({"wage": OTHER})  # a refused channel leaves no trace


def test_what_was_disturbed_is_not_given_clear_later(tmp_path):
    for secret in (Secret(), Secret(tmp_path / "secret.json")):
        secret.pin({"age": MARK, "job": CLEAR})
        with pytest.raises(
            ChannelError, match="'age' was disturbed with this secret before, and this channel gives it as"
        ):
            secret.pin({"age": CLEAR, "job": MARK})
        secret.pin({"age": MARK, "job": MARK})  # what was given clear may be disturbed


def test_a_file_remembers_and_no_copy_of_it_in_memory_is_older(tmp_path):
    early, late = Secret(tmp_path / "secret.json"), Secret(tmp_path / "secret.json")
    late.pin({"age": MARK})
    with pytest.raises(ChannelError, match="another channel"):
        early.pin({"age": OTHER})
    early.pin({"job": MARK})
    with pytest.raises(ChannelError, match="another channel"):
        Secret(tmp_path / "secret.json").pin({"age": OTHER})


def test_clones_share_the_secret():
    secret = Secret()
    assert clone(secret) is secret


@pytest.mark.parametrize("key", [b"short", "x" * 32, bytes(33), None])
def test_a_key_of_another_size_is_refused(key):
    with pytest.raises(ParameterError, match="a key has 32 bytes"):
        Secret.of_key(key)


def damaged(document):
    """Yield files with every key removed or changed; how often it was used may be missing, and any whole number."""
    for key in document.keys() - {"uses"}:
        yield {k: v for k, v in document.items() if k != key}
        for value in (None, 7, [], "other"):
            if key != "people":  # any text is a way to tell people apart
                yield {**document, key: value}
    for value in (None, 1.0, True, "7"):
        yield {**document, "uses": value}
    yield {**document, "key": document["key"][:-2]}
    yield [document]


def test_a_damaged_file_is_refused_without_its_key(tmp_path):
    path = tmp_path / "secret.json"
    Secret(path).pin({"age": MARK})
    document = json.loads(path.read_text())
    for text in [*map(json.dumps, damaged(document)), "", "{", "\xff", "[" * 100_000]:
        path.write_text(text, encoding="latin-1")
        with pytest.raises(ChannelError, match="holds no secret of privet's, or a damaged one") as error:
            Secret(path)
        assert document["key"][:8] not in str(error.value)


def test_a_secret_that_nobody_else_has_used_can_be_taken_back(tmp_path):
    path = tmp_path / "secret.json"
    secret = Secret(path)
    secret.pin({"age": MARK})
    secret.pin_people("by place")
    secret.pin({"age": MARK})
    assert secret.remove_if_unused()
    assert not path.exists()
    assert not secret.remove_if_unused()


@pytest.mark.parametrize("other_first", [False, True])
@pytest.mark.parametrize("use", [lambda own: own.pin({"age": MARK}), lambda own: own.pin_people("by place")])
def test_a_secret_that_another_has_used_is_not_taken_back_though_it_says_the_same(tmp_path, use, other_first):
    path = tmp_path / "secret.json"
    made, other = Secret(path), Secret(path)
    for secret in (other, made) if other_first else (made, other):
        use(secret)
    assert not made.remove_if_unused()
    assert not other.remove_if_unused()
    assert path.exists()


@pytest.mark.parametrize(("number", "is_refused"), [(errno.ENOSPC, True), (errno.EIO, True), (errno.EROFS, False)])
def test_a_use_that_can_leave_no_trace_is_refused_unless_nobody_could_remove_the_file(
    tmp_path, monkeypatch, number, is_refused
):
    secret = Secret(tmp_path / "secret.json")
    secret.pin({"age": MARK})

    def failing(*_):
        raise OSError(number, "no")

    monkeypatch.setattr("os.fsync", failing)
    other = Secret(tmp_path / "secret.json")
    with pytest.raises(ParameterError, match="cannot write to") if is_refused else nullcontext():
        other.pin({"age": MARK})


def test_a_secret_that_was_there_before_is_not_taken_back(tmp_path):
    path = tmp_path / "secret.json"
    Secret(path)
    secret = Secret(path)
    secret.pin({"age": MARK})
    assert not secret.remove_if_unused()
    assert not Secret().remove_if_unused()


def test_whoever_opened_a_secret_that_was_taken_back_answers_nothing_with_it(tmp_path):
    path = tmp_path / "secret.json"
    made, other = Secret(path), Secret(path)
    assert made.remove_if_unused()
    with pytest.raises(ChannelError, match="cannot read the secret .*; check the path"):
        other.pin({"age": MARK})


def test_a_path_that_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(ChannelError, match="cannot write the secret .*; check the path"):
        Secret(tmp_path / "nowhere" / "secret.json")
    with pytest.raises(ChannelError, match="cannot read the secret .*; check the path"):
        Secret(tmp_path)


def test_a_fingerprint_tells_content_and_not_spelling():
    by_hand = hashlib.sha256(b'{"a":{"":"3ff0000000000000"},"b":[true,null,"\xc3\xa9"]}').hexdigest()
    assert fingerprint_of({"b": [True, None, "é"], "a": 1}) == by_hand
    assert fingerprint_of({"a": 1.0, "b": (True, None, "é")}) == by_hand
    different = [
        {"a": 1},
        {"a": "1"},
        {"a": True},
        {"a": None},
        {"a": [1]},
        {"a": 1 + 2.0**-52},
        ["a", 1],
        {"a": "3ff0000000000000"},
    ]
    assert len({fingerprint_of(document) for document in different}) == len(different)
