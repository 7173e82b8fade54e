"""``privet plan`` for methods of disturbed answers: what they would tell, what they cost, models of made-up people."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.cli.support import options, output
from privet.cli.support.channel_request import ChannelRequest
from privet.cli.support.files import check_picture, write_picture
from privet.cli.support.local_methods import check_fits, refuse_curator_options
from privet.cli.support.option_values import Given, number_or_word, refuse_given
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.local import Channel
    from privet.local.planning.answers_plan import AnswersPlan
    from privet.local.planning.simulation import Simulation

# Parameters of `privet plan` that only one of the two kinds of methods takes.
_CURATORS = (
    "loss", "reliability", "delta", "trees", "height", "variant", "unit", "max_rows", "ledger", "dataset", "part",
)  # fmt: skip
_LOCAL = (
    "channel", "ask", "bins", "pairs", "field_epsilons", "error", "class_share", "simulate", "strength", "plot",
    "force",
)  # fmt: skip
# What only questions to some have.
_SAMPLED, _OF_QUESTIONS = "sampled-forest", ("ask", "pairs", "field_epsilons", "simulate")
# What a published channel says itself.
_IN_CHANNEL = ("schema", "epsilon", "ask", "bins", "pairs", "field_epsilons")
_HEADINGS = ["question", "people asked", "cells", "sent", "true one sent", "epsilon", "value's share", "takes people"]
_OF_CLASS = ["class's share", "seen from"]
_VALUE = (
    "Each ± holds 95 times of 100, if values are equally frequent{classes}. A value's share is the one among {whom}; "
    "it takes so many people to be known to ± {points} points."
)
_CLASS = (
    "The class's share is the one among people with one value. Where it lies as far from its share among all as \"seen "
    'from" says, it is told apart from noise 8 times of 10.'
)
_CAUTION = (
    "Accuracies are percent, mean ± standard deviation of five draws. "
    "Attributes of made-up people are independent in each class; real ones repeat each other, and some say nothing. "
    "It is the trend over people and epsilon that carries over, not the figure. Questions and cells are the same "
    "at every epsilon."
)


def refuse_options(method: str, given: Given, others: Sequence[str] = _LOCAL) -> None:
    """Refuse what other methods take; by default what only methods of disturbed answers do."""
    refuse_given(given, others, f"does not apply to {method}; leave it out, or choose --method {_SAMPLED}")


@dataclass(frozen=True)
class LocalPlan:
    """What was asked for; an option that was not given is None, empty or False."""

    method: str
    schema: Path | None
    people: int | None
    epsilon: float
    channel: Path | None = None
    ask: int | None = None
    bins: int | None = None
    pairs: Sequence[str] = ()
    field_epsilons: Sequence[str] = ()
    error: float = 0.02
    class_share: float | None = None
    simulate: bool = False
    strength: str | None = None
    plot: Path | None = None
    random_state: int | None = None

    def show(self, given: Given, *, force: bool, as_json: bool) -> None:
        """Print the plan, and the models of made-up people where they are asked for."""
        from privet.local import plan_answers

        refuse_curator_options(self.method, given, _CURATORS)
        if self.strength is not None and not self.simulate:
            raise ParameterError("--strength is how made-up people are drawn; add --simulate, or leave it out")
        if self.plot is not None:
            inputs = tuple(path for path in (self.schema, self.channel) if path is not None)
            check_picture(self.plot, force=force, inputs=inputs, option="--plot")
        channel = self._channel(given)
        planned = plan_answers(channel, self.people, error=self.error, class_share=self.class_share)
        planned = replace(planned, method=self.method)
        made_up = self._simulated(channel) if self.simulate else []
        if self.plot is not None:
            from privet.report.plots.plans import plot_answers_plan

            write_picture(self.plot, partial(plot_answers_plan, planned))
        if as_json:
            simulated = {"simulated": [vars(own) for own in made_up]} if self.simulate else {}
            output.print_json({**planned.to_json(), **simulated, "plot": None if self.plot is None else str(self.plot)})
            return
        _print_plan(planned)
        for own in made_up:
            _print_simulation(own)
        if made_up:
            output.print_text()
            output.print_text(_CAUTION)
        if self.plot is not None:
            output.print_text()
            output.print_text(f"picture: {self.plot}")

    def _channel(self, given: Given) -> "Channel":
        """Return the published channel, or the one that the options ask for."""
        from privet.local import Channel

        if self.channel is not None:
            refuse_given(given, _IN_CHANNEL, "does not go with --channel, which says all of it; leave one of them out")
            published = Channel.load(self.channel)
            check_fits(self.method, published)
            return published
        sampled = self.method == _SAMPLED
        if not sampled:
            refuse_options(self.method, given, _OF_QUESTIONS)
        asked = ChannelRequest(
            "field-sampling" if sampled else "randomized-response", epsilon=self.epsilon, bins=self.bins,
            label=not sampled, covers_missing=not sampled, ask=self.ask, pairs=self.pairs,
            field_epsilons=self.field_epsilons,
        )  # fmt: skip
        return asked.channel(options.load_schema(self.schema).for_answers(), None)

    def _simulated(self, channel: "Channel") -> "list[Simulation]":
        from privet.datasets.stand_in import STRENGTHS
        from privet.local import simulate_answers

        chosen: list[float | str] = list(STRENGTHS) if self.strength is None else [number_or_word(self.strength)]
        seed = 0 if self.random_state is None else self.random_state
        with output.working("fitting models of made-up people"):
            return [
                simulate_answers(channel, self.people, strength=own, class_share=self.class_share, random_state=seed)
                for own in chosen
            ]


def _print_plan(planned: "AnswersPlan") -> None:
    from privet.local.planning.answers_plan import people_in_words

    output.print_text(planned.title, style="bold")
    output.print_text()
    output.print_text(planned.price)
    output.print_text()
    of_class = any(own.class_error is not None for own in planned.questions)
    headings = [*_HEADINGS, *(_OF_CLASS if of_class else [])]
    lines = [_cells(own)[: len(headings)] for own in planned.questions]
    output.print_table(headings, lines, right=range(1, len(headings)))
    output.print_text()
    points = f"{100 * planned.error:.4g}"
    classes = f" and the class has {output.percent(planned.class_share)} of the people" if of_class else ""
    whom = "people of the class" if of_class else "all people"
    output.print_text(_VALUE.format(classes=classes, whom=whom, points=points))
    if of_class:
        output.print_text(_CLASS)
    output.print_text()
    output.print_table(["", ""], list(planned.facts().items()))
    output.print_text()
    needs = [[f"{own.epsilon:.6g}", people_in_words(own.people)] for own in planned.needs]
    output.print_table(["epsilon", f"people for ± {points} points"], needs, right=[0, 1])
    kept = [" and ".join(own.fields) for own in planned.questions if own.keeps_epsilon]
    if kept:
        output.print_text(f"Hidden more strongly, at its own epsilon throughout: {', '.join(kept)}.")


def _cells(question: Any) -> list[str]:
    from privet.local.planning.answers_plan import people_in_words, reach
    from privet.report.page.formats import epsilon_up

    of_class = ["", ""]
    if question.class_error is not None:
        seen = f"{100 * question.seen_from:.3g} points" if question.seen_from < 1 else "not seen"
        of_class = [f"± {reach(question.class_error)}", seen]
    return [
        " and ".join(question.fields), f"{question.asked:,.0f}", f"{question.cells:,}", f"{question.sent:,}",
        output.percent(question.keep), epsilon_up(question.local_epsilon), f"± {reach(question.value_error)}",
        people_in_words(question.people_needed), *of_class,
    ]  # fmt: skip


def _print_simulation(found: "Simulation") -> None:
    from privet.datasets.stand_in import STRENGTHS

    output.print_text()
    known = {own: f", {name}" for name, own in STRENGTHS.items()}
    output.print_text(
        f"Made-up people whose attributes go with the class by Cohen's w = {found.strength:g}"
        f"{known.get(found.strength, '')}: largest class {output.percent(found.majority)}, without noise "
        f"{output.percent(found.without_noise)}",
        style="bold",
    )
    lines = [
        [f"{people:,}", *(f"{100 * mean:.1f} ± {100 * off:.1f}" for mean, off in zip(means, deviations, strict=True))]
        for people, means, deviations in zip(found.people, found.accuracy, found.deviation, strict=True)
    ]
    headings = ["people", *(f"epsilon {epsilon:.6g}" for epsilon in found.epsilons)]
    output.print_table(headings, lines, right=range(len(headings)))
