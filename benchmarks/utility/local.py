"""Trees from answers that were disturbed before anyone saw them: another trust model, with an epsilon of its own.

A local epsilon protects each row from whoever collects it. It is the sum over the fields of a row, so that a field of a
table with k of them has epsilon / k. Test rows are clear: the model goes to the person.
"""

from benchmarks.utility.fitting import predictions
from benchmarks.utility.scores import Predictions
from benchmarks.utility.splits import Split
from privet import (
    FieldSampling,
    LaplaceNoise,
    Numeric,
    RandomizedResponse,
    RandomResponseForestClassifier,
    ReconstructionTreeClassifier,
    SampledForestClassifier,
    Secret,
    perturb,
)
from privet.local import Channel


def reconstruction_tree(split: Split, epsilon: float | None) -> Predictions:
    """Grow a tree from noisy numbers and random answers; labels come as they are, and are not covered."""
    channel = _noise_and_answers(split, epsilon)
    train, test = split.frames()
    answers = perturb(train.reset_index(drop=True), channel, Secret())
    return predictions(ReconstructionTreeClassifier(channel=channel, n_jobs=1), split, answers, split.labels, test)


def from_questions(split: Split, epsilon: float | None) -> Predictions:
    """Fit the forest of answers to one question of many, the label with each."""
    assert epsilon is not None
    channel = FieldSampling(split.schema, epsilon=epsilon).channel
    train, test = split.frames()
    people = train.reset_index(drop=True).assign(**{split.schema.target: split.labels})
    return predictions(SampledForestClassifier(channel=channel), split, perturb(people, channel, Secret()), None, test)


def from_random_answers(
    split: Split, epsilon: float | None, *, method: type = RandomResponseForestClassifier
) -> Predictions:
    """Grow a forest, or what else ``method`` grows, from random answers to every field, the label among them."""
    schema = split.schema
    channel = RandomizedResponse(schema, epsilon=epsilon, label=True, covers_missing=True).channel
    train, test = split.frames()
    answers = perturb(train.reset_index(drop=True).assign(**{schema.target: split.labels}), channel, Secret())
    labels = answers.pop(schema.target).to_numpy()
    return predictions(method(channel=channel, n_jobs=1), split, answers, labels, test)


def _noise_and_answers(split: Split, epsilon: float | None) -> Channel:
    """Return a channel in which every attribute has an equal share of epsilon."""
    assert epsilon is not None
    schema = split.schema
    numbers = [a.name for a in schema.attributes if isinstance(a, Numeric)]
    words = [name for name in schema.names if name not in numbers]
    share = epsilon / len(schema.names)
    channels = []
    if numbers:
        channels.append(LaplaceNoise(schema, epsilon=share * len(numbers), columns=numbers).channel)
    if words:
        answers = RandomizedResponse(schema, epsilon=share * len(words), columns=words, covers_missing=True)
        channels.append(answers.channel)
    return channels[0] if len(channels) == 1 else channels[0] | channels[1]


METHODS = (
    (
        "sampled forest",
        "SampledForestClassifier(); one question of many, or a few, each an attribute with the label",
        from_questions,
    ),
    (
        "reconstruction tree",
        "ReconstructionTreeClassifier(); numbers with Laplace noise, categories by randomized response, labels clear",
        reconstruction_tree,
    ),
    (
        "random response forest",
        "RandomResponseForestClassifier(); all fields and the label by randomized response",
        from_random_answers,
    ),
)
