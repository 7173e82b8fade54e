"""What answers would tell, and what they cost, from public quantities alone. planning.md has the argument."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from privet.checks import check_whole, is_number
from privet.errors import ParameterError
from privet.local.channels.channel import DIGITS, Channel
from privet.local.channels.sampling.sampled_fields import SampledFields
from privet.local.guarantee import LocalGuarantee, price_in_words
from privet.local.planning.question_design import QuestionDesign, largest_epsilon, questions_of
from privet.local.sampled_forest.class_tables import NORMAL_95
from privet.plan import three_digits_up
from privet.privacy import guarantee
from privet.privacy.guarantee import few, of_hundred, right_guesses

# A plan says what others than its own epsilon would need.
EPSILONS = (0.5, 1.0, 2.0, 4.0, 8.0)
# With so many standard errors a difference is told apart from noise, at 5 percent, 8 times of 10.
_SEEN = NORMAL_95 + 0.841621
_MOST_PEOPLE = 10**12
_LEAST_EPSILON = 1e-3
# So many fields are named in a sentence.
_SHOWN = 6


@dataclass(frozen=True)
class Price:
    """What a person's answers give away of one field: its epsilon, and how often a guess is right at most."""

    field: str
    local_epsilon: float
    right_guesses: float


@dataclass(frozen=True)
class PlannedQuestion:
    """One question, and how far what it tells is off.

    Attributes
    ----------
    fields : tuple of str
        What it is about.
    asked : float
        How many people are asked it, on average.
    cells, sent, keep
        How many cells it has, how many of them are sent, and the chance that the true one is among them.
    local_epsilon : float
        What an answer costs.
    value_error : float
        The standard error of a value's share of a class; of all people, where the label is not asked for with it.
    class_error : float, optional
        The standard error of the class's share among people with one value.
    seen_from : float, optional
        How far that share must lie from the one among all, to be told apart from noise 8 times of 10.
    people_needed : float
        How many people the plan takes for the value's share to be as near as asked.
    keeps_epsilon : bool
        Whether it costs less than others, and no more where they do.
    """

    fields: tuple[str, ...]
    asked: float
    cells: int
    sent: int
    keep: float
    local_epsilon: float
    value_error: float
    class_error: float | None
    seen_from: float | None
    people_needed: float
    keeps_epsilon: bool


@dataclass(frozen=True)
class Need:
    """How many people are needed where all that a person sends costs this epsilon; infinitely many where none help."""

    epsilon: float
    people: float


@dataclass(frozen=True)
class AnswersPlan:
    """What answers through a channel would tell, and what they cost.

    Attributes
    ----------
    method : str
        The method that fits the answers.
    people : int
        How many answer.
    ask : int
        How many of the questions each person is asked.
    class_share : float
        How frequent the class of interest is taken to be.
    local_epsilon, right_guesses : float
        What all that a person sends costs; how often a guess between any two records is right at most.
    given_clear : tuple of str
        The fields that are given as they are, which hides nothing.
    prices : tuple of Price
        The same for two records that differ in one field only.
    price : str
        Both in words.
    questions : tuple of PlannedQuestion
        Every question.
    balance_error : float
        The standard error of the share of the class of interest.
    error : float
        How far the estimates may be off, 95 times of 100.
    needs : tuple of Need
        How many people it takes for that, at several epsilons.
    epsilon_needed : float
        Which epsilon it takes with as many people as planned; infinite where none helps.
    """

    method: str
    people: int
    ask: int
    class_share: float
    local_epsilon: float
    right_guesses: float
    given_clear: tuple[str, ...]
    prices: tuple[Price, ...]
    price: str
    questions: tuple[PlannedQuestion, ...]
    balance_error: float
    error: float
    needs: tuple[Need, ...]
    epsilon_needed: float

    @property
    def title(self) -> str:
        """What is planned, in one line."""
        return f"{self.method} at local epsilon={self.local_epsilon:.6g}, planned for {self.people:,} people"

    @property
    def people_needed(self) -> float:
        """How many people it takes for the error at the planned epsilon."""
        return next(need.people for need in self.needs if need.epsilon == self.local_epsilon)

    @property
    def least_known(self) -> PlannedQuestion:
        """The question whose estimates are the farthest off."""
        return max(self.questions, key=lambda own: own.value_error)

    def facts(self) -> dict[str, str]:
        """Return the plan's figures about all questions in words; people and epsilon are for the least known."""
        far, points = self.least_known, f"{100 * self.error:.4g}"
        least = f"± {reach(far.value_error)}, the least known: {' and '.join(far.fields)}"
        of_class = any(own.class_error is not None for own in self.questions)
        known = "a value's share of a class" if of_class else "a value's share"
        epsilon = "none is enough" if math.isinf(self.epsilon_needed) else f"{self.epsilon_needed:g}"
        return {
            "class balance": f"± {reach(self.balance_error)}",
            known: least,
            f"people for ± {points} points": people_in_words(self.people_needed),
            f"epsilon for ± {points} points with {self.people:,} people": epsilon,
        }

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain values; of errors, the standard ones."""
        return {**asdict(self), "people_needed": self.people_needed}

    def __str__(self) -> str:
        lines = [f"  {name}: {value}" for name, value in self.facts().items()]
        return "\n".join([self.title, f"  {self.price}", *lines])


def plan_answers(
    channel: Channel, people: int | None = None, *, error: float = 0.02, class_share: float | None = None
) -> AnswersPlan:
    """Return what answers through a channel would tell, and what they cost: no row is read.

    Parameters
    ----------
    channel : Channel
        What people are asked: by `FieldSampling`, or by `RandomizedResponse` for all that is disturbed.
    people : int, optional
        How many answer, about; by default as many as the schema says.
    error : float
        How far the share of a value within a class may lie from the truth, 95 times of 100.
    class_share : float, optional
        How frequent the class of interest is taken to be; by default all are equally frequent.

    Returns
    -------
    AnswersPlan
        Values of an attribute are taken to be equally frequent.

    Examples
    --------
    >>> from privet import Categorical, FieldSampling, Schema
    >>> schema = Schema([Categorical("smoker", ["no", "yes"], never_missing=True)], classes=["ill", "well"])
    >>> plan = plan_answers(FieldSampling(schema, epsilon=1).channel, 20_000)
    >>> print(f"{plan.right_guesses:.3f} {plan.people_needed:,} people")
    0.731 106,361 people
    """
    n, shares = checked_people(channel, people), checked_class_shares(channel, class_share)
    if not (is_number(error) and 0 < error < 1):
        raise ParameterError(f"error={error!r} must be a share between 0 and 1; 0.02 is two points")
    questions, asked = questions_of(channel, shares), n_asked(channel)
    epsilon, prices = stated_epsilon(channel), tuple(_prices(channel, questions))
    return AnswersPlan(
        method=channel.fitted_by[0], people=n, ask=asked, class_share=shares[0], local_epsilon=epsilon,
        right_guesses=right_guesses(epsilon), given_clear=LocalGuarantee(channel).given_clear,
        price=_price(channel, prices), prices=prices, questions=tuple(_planned(own, n, error) for own in questions),
        balance_error=_balance_error(questions, asked, n, shares[0]), error=float(error),
        needs=tuple(_needs(questions, epsilon, error)), epsilon_needed=_epsilon_needed(questions, n, error),
    )  # fmt: skip


def stated_epsilon(channel: Channel) -> float:
    """Return the epsilon of all that a person sends, as promises state it."""
    return float(guarantee.rounded_up(channel.local_epsilon, DIGITS))


def n_asked(channel: Channel) -> int:
    """Return how many questions each person answers."""
    return channel.record.ask if isinstance(channel.record, SampledFields) else len(channel.fields)


def epsilons_beside(own: float, questions: Sequence[QuestionDesign]) -> list[float]:
    """Return the epsilons that a plan looks at, its own among them."""
    return sorted({own, *(each for each in EPSILONS if each <= largest_epsilon(questions))})


def checked_people(channel: Channel, people: int | None) -> int:
    """Return how many people a plan is made for."""
    known = channel.schema.rows if people is None else people
    if known is None:
        raise ParameterError("a plan needs to know roughly how many people answer; pass people, or rows in the schema")
    return check_whole("people", known, least=1, most=_MOST_PEOPLE)


def checked_class_shares(channel: Channel, class_share: float | None) -> list[float]:
    """Return how frequent the classes are taken to be, the one of interest first."""
    n_classes = len(channel.schema.classes)
    if class_share is None:
        return [1 / n_classes] * n_classes
    if n_classes < 2 or not (is_number(class_share) and 0 < class_share < 1):
        raise ParameterError(f"class_share={class_share!r} must be a share between 0 and 1, of one class of several")
    return [class_share, *[(1 - class_share) / (n_classes - 1)] * (n_classes - 1)]


def reach(error: float) -> str:
    """Return how far off an estimate is, 95 times of 100, from its standard error: 100 points at most."""
    points = 100 * NORMAL_95 * error
    return f"{points:.3g} points" if points < 100 else "100 points"


def people_in_words(people: float) -> str:
    """Return a number of people to three digits or to whole millions."""
    if people <= 1e6:
        return f"{math.ceil(three_digits_up(people)):,}"
    return f"{people / 1e6:,.3g} million" if people < 1e9 else f"{people / 1e6:,.0f} million"


def _planned(own: QuestionDesign, people: int, error: float) -> PlannedQuestion:
    asked, of_class = people * own.of_people, own.class_variance
    class_error = None if of_class is None else math.sqrt(of_class / asked)
    return PlannedQuestion(
        own.fields, asked, own.selection.cells, own.selection.size, own.selection.keep, own.selection.local_epsilon,
        math.sqrt(own.value_variance / asked), class_error, None if class_error is None else _SEEN * class_error,
        _needed([own], error), own.keeps_epsilon,
    )  # fmt: skip


def _prices(channel: Channel, questions: Sequence[QuestionDesign]) -> Iterator[Price]:
    """Yield what each disturbed field costs: the dearest questions that it has a part in, as many as are asked."""
    target = channel.schema.target
    about = [{*own.fields, *([target] if own.has_label else [])} for own in questions]
    for name in (*channel.schema.names, target):
        own = [q.selection.local_epsilon for q, names in zip(questions, about, strict=True) if name in names]
        if own:
            epsilon = math.fsum(sorted(own, reverse=True)[: n_asked(channel)])
            yield Price(name, epsilon, right_guesses(epsilon))


def _price(channel: Channel, prices: Sequence[Price]) -> str:
    """Return the price in words and odds, with the fields that cost less."""
    most = of_hundred(right_guesses(channel.local_epsilon))
    by_odds: dict[int, list[str]] = {}
    for own in prices:
        by_odds.setdefault(of_hundred(own.right_guesses), []).append(own.field)
    cheaper = [f"{right} ({few(fields, _SHOWN)})" for right, fields in sorted(by_odds.items()) if right < most]
    if not cheaper:
        return f"{price_in_words(channel)} That is so even where they differ in one field only."
    return f"{price_in_words(channel)} Where they differ in one field only, at most {', '.join(cheaper)}."


def _balance_error(questions: Sequence[QuestionDesign], asked: int, people: int, share: float) -> float:
    """Return the standard error of the class's share, from the margins of all questions by their precision."""
    of_label = [own for own in questions if own.has_label]
    if not of_label:  # it is given as it is
        return math.sqrt(share * (1 - share) / people)
    noise, drawn = zip(*(own.balance_variance for own in of_label), strict=True)
    precision = [1 / (by_channel + by_draw) for by_channel, by_draw in zip(noise, drawn, strict=True)]
    parts = [own / math.fsum(precision) for own in precision]
    squares = math.fsum(part**2 for part in parts)
    # Of the people who are asked one question, so many are asked another, too.
    both = (asked - 1) / (len(of_label) - 1) if len(of_label) > 1 else 0.0
    variance = math.fsum(part**2 * own for part, own in zip(parts, noise, strict=True))
    variance += drawn[0] * (squares + both * (1 - squares))
    return math.sqrt(variance / (people * of_label[0].of_people))


def _needed(questions: Sequence[QuestionDesign], error: float) -> float:
    """Return how many people it takes until no value's share of a class is farther off, 95 times of 100."""
    return math.ceil(max(own.value_variance / own.of_people for own in questions) * (NORMAL_95 / error) ** 2)


def _needs(questions: Sequence[QuestionDesign], epsilon: float, error: float) -> Iterator[Need]:
    for each in epsilons_beside(epsilon, questions):
        yield Need(each, _needed(questions if each == epsilon else [own.at(each) for own in questions], error))


def _epsilon_needed(questions: Sequence[QuestionDesign], people: int, error: float) -> float:
    """Return the least epsilon, to three digits and rounded up, with which so many people are enough."""
    low, high = math.log(_LEAST_EPSILON), math.log(largest_epsilon(questions))
    if _needed([own.at(math.exp(high)) for own in questions], error) > people:
        return math.inf
    while high - low > 1e-6:
        middle = (low + high) / 2
        enough = _needed([own.at(math.exp(middle)) for own in questions], error) <= people
        low, high = (low, middle) if enough else (middle, high)
    return three_digits_up(math.exp(high))
