"""The family: a line for each method, with what it promises and how it is fitted to a split of a table."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeAlias

import numpy as np

from benchmarks.utility import local
from benchmarks.utility.fitting import predictions
from benchmarks.utility.methods import MAJORITY, METHODS, RANDOM_FOREST, of_privet
from benchmarks.utility.scores import Predictions
from benchmarks.utility.splits import Split
from papers.szucs2013.mirror_attack import recovered_share
from privet import (
    Channel,
    Coding,
    GaussianNoise,
    Numeric,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    RecordComplement,
    Schema,
    Secret,
    UniformNoise,
    perturb,
)
from privet.local.measures.filtering import attack
from privet.schema.encoding import Encoder

Trust: TypeAlias = Literal["a curator", "nobody", "bound"]
EPSILONS = (0.1, 0.5, 1.0, 4.0)
# In place of an epsilon, where a member has none.
NO_EPSILON = math.inf
DELTA = 1e-6
# The chance that a flipped record was not flipped.
THETA = 0.8
PURE, LOCALLY, NOT_PROVEN, NO_SUCH = "epsilon", "a local epsilon", "none proven", "no epsilon"
NOT_PRIVATE = "not private"

FOREST, FOREST_DELTA = "private forest", "private forest, delta 1e-6"
DPDF, DPDF_PAPER = "DPDF", "DPDF, the paper's form"
ID3, ID3_PAPER = "private ID3", "private ID3, the paper's form"
RESPONSE_FOREST, RECONSTRUCTION = "response forest", "reconstruction tree"
GAUSSIAN, UNIFORM, FLIPPED = "Gaussian noise", "uniform noise", "flipped records"
# What an attacker finds: of how many records the true one, or how far off a number is on average.
RECORDS, ERROR = "records found", "mean error"
# The answers that they were made from: without them, taken as they are, and after the attack.
Recovery: TypeAlias = tuple[str, float, float, float]


@dataclass(frozen=True)
class Member:
    """One line of the page.

    Parameters
    ----------
    name
        As it stands in the results.
    trust
        Who sees the rows; "bound" for what has no privacy and bounds the others.
    promise
        What its models promise.
    setting
        How it is called, for the page.
    fit
        Fits to a split at an epsilon, and says what it predicts.
    ours
        For a paper's form, the member that has privet's own.
    recover
        For answers without an epsilon: what an attacker makes of those of a split.
    needs_numbers
        Whether it disturbs numbers only.
    """

    name: str
    trust: Trust
    promise: str
    setting: str
    fit: Callable[[Split, float | None], Predictions]
    ours: str = ""
    recover: Callable[[Split], Recovery] | None = None
    needs_numbers: bool = False

    @property
    def epsilons(self) -> tuple[float, ...]:
        """At which epsilons it is measured."""
        has_none = self.trust == "bound" or self.recover is not None
        return (NO_EPSILON,) if has_none else EPSILONS


def of_curator(label: str, name: str, promise: str = PURE, ours: str = "", **parameters: Any) -> Member:
    """Return a member that is fitted to clear rows."""
    words = ", ".join(f"{key}={value!r}".replace("e-0", "e-") for key, value in parameters.items())
    fit = partial(of_privet, name=name, parameters=parameters)
    return Member(label, "a curator", promise, f"{name}({words})", fit, ours)


def of_answers(label: str, method: type) -> Member:
    """Return a member that is grown from random answers to every field, the label among them."""
    fit = partial(local.from_random_answers, method=method)
    return Member(label, "nobody", LOCALLY, f"RandomizedResponse(label=True), {method.__name__}()", fit)


def of_noise(label: str, noise: type) -> Member:
    """Return a member that is grown from numbers with Agrawal and Srikant's noise; other attributes are left out."""
    setting = f"{noise.__name__}(privacy=1.0) on numbers alone, ReconstructionTreeClassifier(); labels clear"
    return Member(
        label, "nobody", NO_SUCH, setting, partial(fit_noisy_numbers, noise=noise),
        recover=partial(filtered_numbers, noise=noise), needs_numbers=True,
    )  # fmt: skip


def bound(name: str) -> Member:
    """Return what has no privacy, as the other benchmark has it."""
    method = METHODS[name]
    return Member(name, "bound", NOT_PRIVATE, method.setting, method.fit)


def fit_noisy_numbers(split: Split, _epsilon: float | None, *, noise: Any) -> Predictions:
    """Grow a tree from numbers with noise, and clear labels."""
    channel = noise_channel(split.schema, noise)
    train, test = (rows[list(channel.schema.names)] for rows in split.frames())
    answers = perturb(train.reset_index(drop=True), channel, Secret())
    return predictions(ReconstructionTreeClassifier(channel=channel, n_jobs=1), split, answers, split.labels, test)


def noise_channel(schema: Schema, noise: Any) -> Channel:
    """Return the channel of "100 % privacy" for a table's numbers, of which the new schema is made."""
    numbers = [a for a in schema.attributes if isinstance(a, Numeric)]
    channel: Channel = noise(schema.with_attributes(numbers), privacy=1.0).channel
    return channel


def filtered_numbers(split: Split, *, noise: Any) -> Recovery:
    """Return how far off a number is, as a share of its range: by the median, the answer, and the better filter."""
    channel = noise_channel(split.schema, noise)
    rows = split.frames()[0][list(channel.schema.names)].reset_index(drop=True)
    found = attack(rows, channel).values()

    def mean(errors: Sequence[float]) -> float:
        return round(float(np.mean(errors)), 5)

    filtered = [min(each.linear, each.spectral) for each in found]
    return ERROR, mean([each.naive for each in found]), mean([each.answer for each in found]), mean(filtered)


def fit_flipped_records(split: Split, _epsilon: float | None) -> Predictions:
    """Grow a forest from records that are as they were or have every bit flipped, and clear labels."""
    channel = complement_channel(split)
    train, test = split.frames()
    answers = perturb(train.reset_index(drop=True), channel, Secret())
    return predictions(RandomResponseForestClassifier(channel=channel, n_jobs=1), split, answers, split.labels, test)


def complement_channel(split: Split) -> Channel:
    """Return the channel of Szűcs, with codes from the clear rows as in the paper, which is a leak of its own."""
    coding = Coding.from_rows(split.frames()[0], split.schema)
    return RecordComplement(split.schema, theta=THETA, coding=coding).channel


def unflipped_records(split: Split) -> Recovery:
    """Return of how many records the true one is found: by the most frequent, by belief, and with the test rows."""
    channel = complement_channel(split)
    assert channel.flips is not None
    coding = channel.flips.coding
    train, test = split.frames()
    true, reference = (coding.bits(Encoder(coding.schema).encode(rows)) for rows in (train, test))
    answers = perturb(train.reset_index(drop=True), channel, Secret())
    seen = answers[list(coding.bit_names)].to_numpy(np.uint8)
    most_frequent = np.unique(true, axis=0, return_counts=True)[1].max() / len(true)
    believed = float((seen == true).all(axis=1).mean())
    found = recovered_share(true, seen, reference, coding, THETA)
    return RECORDS, round(float(most_frequent), 5), round(believed, 5), round(found, 5)


_ALL = (
    of_curator(FOREST, "PrivateForestClassifier"),
    of_curator(FOREST_DELTA, "PrivateForestClassifier", "epsilon, delta 1e-6", delta=DELTA),
    of_curator("Private-RDT", "PrivateRDTClassifier"),
    of_curator("DP-RF", "DPRFClassifier"),
    of_curator(DPDF, "DPDFClassifier"),
    of_curator(DPDF_PAPER, "DPDFClassifier", NOT_PROVEN, ours=DPDF, variant="paper"),
    of_curator("DiffPID3", "DiffPID3Classifier", criterion="n_gini"),
    of_curator(ID3, "PrivateID3Classifier"),
    of_curator(ID3_PAPER, "PrivateID3Classifier", ours=ID3, variant="paper"),
    of_answers(RESPONSE_FOREST, RandomResponseForestClassifier),
    of_answers(RECONSTRUCTION, ReconstructionTreeClassifier),
    of_noise(GAUSSIAN, GaussianNoise),
    of_noise(UNIFORM, UniformNoise),
    Member(
        FLIPPED, "nobody", NO_SUCH, f"RecordComplement(theta={THETA}), RandomResponseForestClassifier(); labels clear",
        fit_flipped_records, recover=unflipped_records,
    ),
    bound(MAJORITY),
    bound(RANDOM_FOREST),
)  # fmt: skip
MEMBERS = {member.name: member for member in _ALL}
