"""``privet plan``: what a fit would do with its budget, before anything is spent."""

from pathlib import Path
from typing import Annotated, Any

import typer

from privet.cli import options, output
from privet.cli.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.local_fit import COSTS_NOTHING, refuse_local

_DOUBTFUL = 0.9
_NOTHING_TO_PLAN = f"{COSTS_NOTHING}, and there is nothing to plan; see `privet perturb --explain`"
_ONLY_BALANCE = (
    "for so few rows at this epsilon only the class balance would be released, and every row given the same guess; a "
    "larger epsilon or more rows would help"
)
_NO_ACCURACY = (
    "reliable leaves are those whose rows outweigh the noise; how accurate the model is, `privet evaluate` tells. "
    "Categorical attributes are grouped anew by each fit; --random-state fixes how"
)
_MORE = "if rows spread evenly, noise outweighs the rows of many leaves; a larger epsilon or more rows would help"
_ADVICE = (
    "if rows spread evenly, noise decides many votes; fewer or lower trees (--trees, --height), a larger epsilon or "
    "more rows would help"
)


def plan(
    schema: options.SchemaFile = None,
    rows: Annotated[
        int | None,
        typer.Option("--rows", min=1, help="About how many; by default as the schema says.", show_default=False),
    ] = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the fit may cost.")] = 1.0,
    reliability: Annotated[
        float, typer.Option("--reliability", help="Also say which epsilon makes votes that reliable.")
    ] = 0.95,
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    unit: options.Unit = "row",
    max_rows: options.MaxRows = 1,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", metavar="FILE", help="Also say what its budget has left.", show_default=False),
    ] = None,
    dataset: Dataset = None,
    part: options.Part = None,
    random_state: options.RandomState = None,
    as_json: options.Json = False,
) -> None:
    """Show how a fit would split its budget, how noisy leaves would be, and which epsilon is needed.

    Reads the schema and no row, and costs nothing.
    """
    refuse_local(method, _NOTHING_TO_PLAN)
    chosen = options.ModelOptions(method, trees, height, 1, unit, max_rows, variant, delta)
    model = chosen.estimator(options.load_schema(schema), epsilon=epsilon, random_state=random_state)
    planned = model.plan(rows)
    needed = model.epsilon_needed(rows, reliability)
    book = chosen_ledger(ledger, dataset, part)
    if as_json:
        data = {**planned.to_json(), "asked_reliability": reliability, "epsilon_needed": needed}
        output.print_json(data if book is None else {**data, "ledger": ledger_summary(book)})
        return
    _print_plan(planned)
    if chosen.has_height:
        output.print_text(
            f"epsilon for {output.percent(reliability)} reliable votes at {planned.n_rows:,} rows: {needed:g}"
        )
    else:  # it is as reliable at any epsilon, with fewer trees at a smaller one
        output.print_text(_NO_ACCURACY)
    if book is not None:
        output.print_text(ledger_sentence(book))
    advise(planned, has_height=chosen.has_height)


def advise(planned: Any, *, has_height: bool) -> None:
    """Say so where noise would decide much."""
    if planned.n_trees == 0:
        output.say(_ONLY_BALANCE)
    elif planned.reliability < _DOUBTFUL:
        # The recommended forest has no height to lower: it settles trees and cells by itself.
        output.say(_ADVICE if has_height else _MORE)


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
