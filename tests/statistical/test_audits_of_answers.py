"""Whole answers to sampled questions, attacked: what is shown is near its epsilon and below; planted faults are caught.

The attacker reads all that a person sends, as text, and learns from half of the people which answers speak for which
record. The bound comes from the other half. Secrets are fixed, so every figure comes out the same again. ``make audit``
prints what was shown.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from privet import Categorical, Schema
from privet.attack.claim import epsilon_shown
from privet.local import FieldSampling, Secret, perturb
from privet.local.channels.channel import RECORD
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.channels.sampling.subset_selection import Lots, SubsetSelection
from tests.statistical.audited import told

SCHEMA = Schema(
    [Categorical("a", ["u", "v"], never_missing=True), Categorical("b", [5, 9], never_missing=True)],
    classes=["no", "yes"],
)
KEYS = [bytes([i]) * 32 for i in (1, 2)]
QUICK, MANY = 40_000, 400_000
CONFIDENCE = 1 - 1e-6
# Two records that differ in everything, and two that differ in one thing each.
ALL = {"a": "u", "b": 5, "class": "no"}, {"a": "v", "b": 9, "class": "yes"}
ONE_FIELD = ALL[0], {**ALL[0], "a": "v"}
LABEL = ALL[0], {**ALL[0], "class": "yes"}


def table_of(record, n_people):
    return pd.DataFrame([record]).loc[[0] * n_people].assign(name=[f"p{i}" for i in range(n_people)])


def sent(secret, channel, record, n_people):
    """Return all that as many people with this record send, a text each."""
    return as_texts(perturb(table_of(record, n_people), channel, secret, person="name"))


def as_texts(columns):
    names = [name for name in columns if name != "name"]
    texts = [np.asarray(columns[name]).astype(str) for name in names]
    return np.array(["|".join(line) for line in zip(*texts, strict=True)])


def together(*answers):
    return np.array([";".join(line) for line in zip(*answers, strict=True)])


def shown(answers_of, records, n_people):
    """Return a lower bound on epsilon from what people with either record send."""
    seen = [answers_of(Secret.of_key(key), record, n_people) for key, record in zip(KEYS, records, strict=True)]
    places = np.unique(np.concatenate(seen), return_inverse=True)[1].reshape(2, n_people)
    half, size = n_people // 2, places.max() + 1
    learnt, judged = (np.array([np.bincount(own[part], minlength=size) for own in places])
                      for part in (slice(half), slice(half, None)))  # fmt: skip
    likeliest = np.argsort(-(learnt[0] + 0.5) / (learnt[1] + 0.5), kind="stable")
    hits, tried = (np.cumsum(own[:, likeliest], axis=1) for own in (learnt, judged))
    most_certain = 1 - (1 - CONFIDENCE) / size
    best = max(range(size), key=lambda i: epsilon_shown(*map(int, hits[:, i]), half, confidence=most_certain))
    return epsilon_shown(*map(int, tried[:, best]), n_people - half, confidence=CONFIDENCE)


def through(*channels):
    """Return what people answer who are asked through all of these channels."""
    return lambda secret, record, n: together(*(sent(secret, channel, record, n) for channel in channels))


def channel_of(epsilon=1.0, **options):
    return FieldSampling(SCHEMA, epsilon=epsilon, **options).channel


OWN = {"epsilon": 6.0, "ask": 2, "pairs": [("a", "b")], "epsilons": {"a": 2.0}}


def history(first, second):
    """Return what people answer whose record changes, asked before and after."""

    def answers(secret, record, n):
        channel, (start, end) = channel_of(), (first, second) if record == first else (second, first)
        return together(sent(secret, channel, start, n), sent(secret, channel, end, n))

    return answers


# What is asked, the records told apart, and what is claimed.
SOUND = {
    "one question": (through(channel_of()), ALL, 1.0),
    "one question, little": (through(channel_of(0.5)), ALL, 0.5),
    "one question, much": (through(channel_of(2.0)), ALL, 2.0),
    "one question, the label": (through(channel_of()), LABEL, 1.0),
    "two questions": (through(channel_of(ask=2)), ALL, 1.0),
    "one of a pair too": (through(channel_of(pairs=[("a", "b")])), ALL, 1.0),
    "two of a pair too": (through(channel_of(2.0, ask=2, pairs=[("a", "b")])), ALL, 2.0),
    "a field's own epsilon": (through(channel_of(4.0, ask=2, epsilons={"a": 1.0})), ONE_FIELD, 1.0),
    "a field's own, in two answers": (through(channel_of(**OWN)), ONE_FIELD, 2.0),
    "a field's own, all together": (through(channel_of(**OWN)), ALL, channel_of(**OWN).total_epsilon()),
    "two waves": (through(channel_of(0.5, wave="one"), channel_of(0.5, wave="two")), ALL, 1.0),
    "asked the same again": (through(channel_of(), channel_of()), ALL, 1.0),
    "asked again, changed": (history(*ALL), ALL, 2.0),
}
# The least share of the claim that is shown.
NEAR = {QUICK: 0.7, MANY: 0.85}


@pytest.mark.parametrize("n_people", [QUICK, pytest.param(MANY, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", SOUND)
def test_an_attack_on_whole_answers_shows_most_of_the_claim_and_no_more(name, n_people):
    answers, records, claimed = SOUND[name]
    found = shown(answers, records, n_people)
    told(name, claimed, found, 2 * n_people, f"{100 * found / claimed:.0f} % of its claim")
    assert NEAR[n_people] * claimed < found <= claimed


class KeepsMore(SubsetSelection):
    """A planted fault: the true cell is sent a fifth more often than the epsilon says."""

    def draw(self, true, words):
        return SubsetSelection(self.cells, self.size, 1.2 * self.keep).draw(true, words)


class NextOnes(SubsetSelection):
    """A planted fault: the cells beside the true one are those after it."""

    def draw(self, true, words):
        is_kept = words(1)[:, 0] < np.uint64(self._kept)
        first = true + np.where(is_kept, 0, 1)
        return np.sort((first[:, None] + np.arange(self.size)) % self.cells, axis=1)


class TruthFirst(SubsetSelection):
    """A planted fault: the true cell, where it is sent, is the first."""

    def draw(self, true, words):
        cells = super().draw(true, words)
        return np.take_along_axis(cells, np.argsort(cells != true[:, None], axis=1, kind="stable"), axis=1)


class FewerLots(SubsetSelection):
    """A planted fault: the others are drawn from all but the last, which is sent only where it is true."""

    def draw(self, true, words):
        others = Lots(self.cells - 2, self.size).draw(lambda n: words(1 + n)[:, 1:])
        cells = others + (others >= true[:, None])
        is_kept = words(1)[:, 0] < np.uint64(self._kept)
        cells[:, -1] = np.where(is_kept, true, cells[:, -1])
        return np.sort(cells, axis=1)


def with_selection(kind, epsilon=0.5):
    """Return a channel whose pair is answered by another lottery, under the epsilon of the right one."""
    channel = channel_of(epsilon, pairs=[("a", "b")], label_alone=False)
    *others, pair = channel.record.questions
    drawn = replace(pair, selection=kind(pair.selection.cells, pair.selection.size, pair.selection.keep))
    return replace(channel, record=replace(channel.record, questions=(*others, drawn)))


class PickedByTheRecord(SampledFields):
    """A planted fault: who has the second value of the first attribute is asked about it more often."""

    def answer(self, codes, labels, persons, draw):
        honest = super().answer(codes, labels, persons, draw)
        again = self._answers(np.zeros(len(codes), np.int64), codes, labels, persons, draw)
        changed = (codes[:, 0] == 1) & (draw([f'{person},"again"' for person in persons], 1)[:, 0] < np.uint64(2**63))
        return {
            "question_1": np.where(changed, 0, honest["question_1"]),
            "answer_1": np.where(changed, again, honest["answer_1"]),
        }


def picked_by_the_record():
    channel = channel_of()
    return replace(channel, record=PickedByTheRecord(channel.schema, channel.record.questions))


def label_beside(secret, record, n_people):
    """A planted fault: the label is sent as well, and no part of the epsilon."""
    return together(sent(secret, channel_of(), record, n_people), np.full(n_people, record["class"]))


def asked_anew(secret, record, n_people):
    """A planted fault: the same wave is answered with new noise, and paid once."""
    other = Secret.of_key(secret.many_words("other", ["1"], 4).tobytes())
    return together(sent(secret, channel_of(), record, n_people), sent(other, channel_of(), record, n_people))


def waves_of_the_same_noise(secret, record, n_people):
    """A planted fault: a second wave, at another price, is drawn from the words of the first."""
    first, second = (channel_of(epsilon, pairs=[("a", "b")], wave=f"{epsilon}") for epsilon in (0.4, 0.6))
    table = table_of(record, n_people)
    codes = np.tile([[0, 0], [1, 1]][record["a"] == "v"], (n_people, 1))
    labels = np.full(n_people, SCHEMA.classes.index(record["class"]))
    persons = [f'"{name}"' for name in table["name"]]
    mark = first.fingerprints[RECORD]
    draw = lambda told, n: secret.many_words(mark, told, n)  # noqa: E731
    return together(*(as_texts(own.record.answer(codes, labels, persons, draw)) for own in (first, second)))


def each_answer_at_a_fields_own_epsilon():
    """A planted fault: of a field's two answers each has the whole of its own epsilon."""
    channel, whole = channel_of(**OWN), channel_of(**{**OWN, "epsilons": {"a": 4.0}})
    return replace(channel, record=replace(channel.record, questions=whole.record.questions))


FAULTS = {
    "the true cell kept more often": (through(with_selection(KeepsMore, 1.0)), ALL, 1.0),
    "the next cells are sent": (through(with_selection(NextOnes)), ALL, 0.5),
    "the truth first": (through(with_selection(TruthFirst)), ALL, 0.5),
    "sets that are not uniform": (through(with_selection(FewerLots)), ALL, 0.5),
    "the pick by the record": (through(picked_by_the_record()), ALL, 1.0),
    "the label beside": (label_beside, LABEL, 1.0),
    "the same wave with new noise": (asked_anew, ALL, 1.0),
    "waves of the same noise": (waves_of_the_same_noise, ALL, 1.0),
    "a field's own epsilon paid twice": (through(each_answer_at_a_fields_own_epsilon()), ONE_FIELD, 2.0),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_caught(name):
    answers, records, claimed = FAULTS[name]
    found = shown(answers, records, QUICK)
    told(name, claimed, found, 2 * QUICK, "caught" if found > claimed else "nothing found")
    assert found > claimed
