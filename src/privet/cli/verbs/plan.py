"""``privet plan``: what a fit would do with its budget, before anything is spent."""

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli.support import options, output, perturb_options
from privet.cli.support.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.support.local_methods import is_local, refuse_what_is_not_local
from privet.cli.support.local_plan import LocalPlan, refuse_options
from privet.cli.support.option_values import given_options
from privet.errors import ParameterError

_DOUBTFUL = 0.9
# A loss of accuracy, as a share of all rows.
_COSTLY = 0.05
_ONLY_BALANCE = (
    "for so few rows at this epsilon only the class balance would be released, and every row given the same guess; a "
    "larger epsilon or more rows would help"
)
_NO_ACCURACY = (
    "the loss is that of other tables as large as this, from public quantities; `privet evaluate` measures "
    "how accurate the model is. Categorical attributes are grouped again by each fit; --random-state fixes the groups"
)
_NO_LOSS = "--loss is for {best}, whose loss was measured; leave it out, or ask {method} for --reliability"
_ANSWERS = "Answers that are disturbed before they leave their owner"
_MORE = "if rows spread evenly, noise outweighs the rows of many leaves; a larger epsilon or more rows would help"
_ADVICE = (
    "if rows spread evenly, noise decides many votes; fewer or lower trees (--trees, --height), a larger epsilon or "
    "more rows would help"
)


def plan(
    context: typer.Context,
    schema: options.SchemaFile = None,
    rows: Annotated[
        int | None, typer.Option("--rows", min=1, help="About how many, rows or people; by default as the schema says.")
    ] = None,
    epsilon: Annotated[
        float, typer.Option("--epsilon", help="What the fit may cost, or all that a person sends.")
    ] = 1.0,
    loss: Annotated[
        float | None,
        typer.Option("--loss", help="Also say which epsilon is expected to cost that much accuracy, by default 0.02."),
    ] = None,
    reliability: Annotated[
        float | None,
        typer.Option("--reliability", help="The same for votes that reliable, by default 0.95; of other methods."),
    ] = None,
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    unit: options.Unit = "row",
    max_rows: options.MaxRows = 1,
    ledger: Annotated[
        Path | None, typer.Option("--ledger", metavar="FILE", help="Also say what its budget has left.")
    ] = None,
    dataset: Dataset = None,
    part: options.Part = None,
    channel: perturb_options.ChannelFile = None,
    ask: perturb_options.Ask = None,
    pairs: perturb_options.Pairs = None,
    field_epsilons: perturb_options.FieldEpsilons = None,
    bins: perturb_options.Bins = None,
    error: Annotated[
        float,
        typer.Option(
            "--error", help="How far a value's share of a class may be off, 95 times of 100.", rich_help_panel=_ANSWERS
        ),
    ] = 0.02,
    class_share: Annotated[
        float | None,
        typer.Option(
            "--class-share", metavar="SHARE", help="How frequent the class of interest is; by default as the others.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    simulate: Annotated[
        bool,
        typer.Option(
            "--simulate", help="Also fit models of made-up people: how accurate they are.", rich_help_panel=_ANSWERS
        ),
    ] = False,
    strength: Annotated[
        str | None,
        typer.Option(
            "--strength", metavar="W", help="How strongly their attributes go with the class: weak, medium, strong, or "
            "Cohen's w; by default each of the three.", rich_help_panel=_ANSWERS,
        ),
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Also a picture of errors over people: .png, .svg or .pdf.",
            rich_help_panel=_ANSWERS,
        ),
    ] = None,
    random_state: options.RandomState = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:  # fmt: skip
    """Show how a fit would split its budget, how noisy leaves would be, and which epsilon is needed.

    For answers that are disturbed at the source (sampled-forest, random-response-forest, reconstruction-tree): what
    people would be asked and pay, how far off estimates would be, and how many people or which epsilon it takes.

    Reads the schema or the channel and no row, and costs nothing.

    Example:  privet plan --schema schema.json --rows 50000 --epsilon 1

    Example:  privet plan --schema schema.json --rows 20000 --method sampled-forest --epsilon 1 --error 0.02

    Example:  privet plan --channel channel.json --rows 20000 --method sampled-forest --simulate --strength medium
    """
    given = given_options(context)
    if is_local(method):
        asked = LocalPlan(
            method, schema, rows, epsilon, channel, ask, bins, pairs or (), field_epsilons or (), error, class_share,
            simulate, strength, plot, random_state,
        )  # fmt: skip
        asked.show(given, force=force, as_json=as_json)
        return
    refuse_what_is_not_local(method, channel, None, None)
    refuse_options(method, given)
    chosen = options.ModelOptions(
        method=method, jobs=1, trees=trees, height=height, unit=unit, max_rows=max_rows, variant=variant, delta=delta
    )
    model = chosen.estimator(options.load_schema(schema), epsilon=epsilon, random_state=random_state)
    planned = model.plan(rows)
    if model.schema.number is not None:
        target, needed = _no_target(loss, reliability), None
    else:
        target = _target(method, loss, reliability, states_loss=_states_loss(planned))
        needed = model.epsilon_needed(rows, **target)
    account = chosen_ledger(ledger, dataset, part)
    if as_json:
        data = {
            **planned.to_json(),
            **{f"asked_{name}": value for name, value in target.items()},
            **({} if needed is None else {"epsilon_needed": needed}),
        }
        output.print_json(data if account is None else {**data, "ledger": ledger_summary(account)})
        return
    _print_plan(planned)
    if "loss" in target:
        points = f"{100 * target['loss']:g}"
        points += " point" if points == "1" else " points"
        output.print_text(f"epsilon for an expected loss of {points} at {planned.n_rows:,} rows: {needed:g}")
    elif (
        chosen.has_height and needed is not None
    ):  # without, it is as reliable at any epsilon, with fewer trees at a smaller one
        votes = output.percent(target["reliability"])
        output.print_text(f"epsilon for {votes} reliable votes at {planned.n_rows:,} rows: {needed:g}")
    if not chosen.has_height and needed is not None:
        output.print_text(_NO_ACCURACY)
    if account is not None:
        output.print_text(ledger_sentence(account))
    advise(planned, has_height=chosen.has_height)


def _states_loss(planned: Any) -> bool:
    """Return whether a plan says what noise is expected to cost; the others say how reliable votes are."""
    return hasattr(planned, "expected_loss")


def advise(planned: Any, *, has_height: bool) -> None:
    """Say so where noise would decide much."""
    if planned.n_trees == 0:
        output.say(_ONLY_BALANCE)
    elif not _states_loss(planned):
        if planned.reliability < _DOUBTFUL:
            output.say(_ADVICE if has_height else _MORE)
    elif planned.expected_loss is not None and planned.expected_loss.mean > _COSTLY:
        output.say(f"noise is expected to cost {planned.expected_loss}; a larger epsilon or more rows would help")


def _target(method: str, loss: float | None, reliability: float | None, *, states_loss: bool) -> dict[str, float]:
    """Return the target: an expected loss for the recommended forest, reliable votes for the others."""
    if states_loss:
        return {"loss": 0.02 if loss is None else loss, **({} if reliability is None else {"reliability": reliability})}
    if loss is not None:
        raise ParameterError(_NO_LOSS.format(best=options.DEFAULT_METHOD, method=method))
    return {"reliability": 0.95 if reliability is None else reliability}


def _no_target(loss: float | None, reliability: float | None) -> dict[str, float]:
    """Refuse a target where a number is learnt: neither accuracy nor votes say how good that is."""
    if loss is not None or reliability is not None:
        raise ParameterError("--loss and --reliability are about classes, and this is a number; leave them out")
    return {}


def _print_plan(planned: Any) -> None:
    output.print_text(planned.title, style="bold")
    output.print_text()
    cells = [
        (s.what, f"{s.epsilon:.4g}", f"{s.sensitivity:,}", s.numbers, f"{s.noise_std:,.3g}" if s.n_values else "")
        for s in planned.steps
    ]
    headings = ["release", "epsilon", "sensitivity", "of what", "noise sd"]
    output.print_table(headings, cells, right=[1, 2, 3, 4])
    output.print_text()
    output.print_table(["", ""], list(planned.facts().items()))
    output.print_text()
