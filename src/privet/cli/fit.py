"""``privet fit``: train on a file and write the model that may be published."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import options, output
from privet.cli.files import check_output
from privet.cli.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.plan import advise

if TYPE_CHECKING:
    from privet.schema import Schema


def fit(
    rows: options.RowsFile,
    schema: options.SchemaFile = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the fit may cost; inf adds no noise.")] = 1.0,
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    unit: options.Unit = "row",
    max_rows: options.MaxRows = 1,
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", metavar="FILE", help="Where the cost is recorded, and refused.", show_default=False),
    ] = None,
    dataset: Dataset = None,
    part: options.Part = None,
    random_state: options.RandomState = None,
    jobs: options.Jobs = -1,
    model_file: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path("model.privet"),
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train a forest on a file of private rows and write the released model.

    The rows are read batch by batch. The model holds released numbers only, and the promise that was kept.
    """
    check_output(model_file, force=force, inputs=tuple(path for path in (rows, schema, ledger) if path is not None))
    declared = options.load_schema(schema)
    chosen = options.ModelOptions(method, trees, height, jobs, unit, max_rows, variant, delta)
    model = chosen.estimator(declared, epsilon=epsilon, random_state=random_state)
    model.set_params(ledger=chosen_ledger(ledger, dataset, part))
    _say_beforehand(model, declared)
    with output.working("reading the rows and adding noise"):
        model.fit(rows)
    model.save(model_file)
    if as_json:
        output.print_json(_summary(model, method, model_file))
    else:
        _print_summary(model, model_file)


def _say_beforehand(model: Any, schema: "Schema") -> None:
    """Say what the owner should know before anything is spent."""
    if schema.leaks:
        output.say(
            "the schema is marked as inferred in places, so the model will give away what was read from the rows; "
            "declare what is public and delete the marks"
        )
    if schema.rows is not None and math.isfinite(model.epsilon):
        advise(model.plan(), has_height="height" in model.get_params())


def _summary(model: Any, method: str, model_file: Path) -> dict[str, Any]:
    from privet.report.counts import ranked_importances
    from privet.report.findings import findings_of

    speaker = findings_of(model)
    forest = speaker.forest(model) if speaker else {}
    ledger = {"ledger": ledger_summary(model.ledger)} if model.ledger is not None else {}
    return {
        **ledger,
        "model": str(model_file),
        "method": method,
        "trees": forest.get("trees"),
        "height": getattr(model, "height_", forest.get("height")),
        "guarantee": model.guarantee_.to_json(),
        "importances": dict(ranked_importances(model)),
    }


def _print_summary(model: Any, model_file: Path) -> None:
    from privet.report.counts import ranked_importances

    output.print_text(model.guarantee_.sentence)
    output.print_text()
    ranked = ranked_importances(model)
    if any(importance > 0 for _, importance in ranked):
        cells = [(name, output.percent(importance)) for name, importance in ranked]
        output.print_table(["attribute", "importance"], cells, right=[1])
    else:
        output.print_text("No attribute stands out from the noise; a larger epsilon or more rows would help.")
    output.print_text()
    kept = "no ledger was kept: further fits on these rows add to what they cost"
    output.print_text(kept if model.ledger is None else ledger_sentence(model.ledger))
    output.print_text(f"model: {model_file}")
