"""``privet predict`` and ``privet explain``: what a model says about new rows, batch by batch."""

from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from privet.cli.support import options
from privet.cli.support.local_methods import is_local
from privet.cli.support.option_values import class_weight_of, label_of
from privet.cli.support.options import reads_csv
from privet.cli.support.row_output import STDOUT, check_destination, say_where, write_answers
from privet.errors import ParameterError

Destination: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file; - is stdout.")
]


@reads_csv
def predict(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    destination: Destination = STDOUT,
    proba: Annotated[bool, typer.Option("--proba", help="One more column a class: its probability.")] = False,
    class_weight: options.ClassWeight = None,
    keep: options.Keep = None,
    progress: options.Progress = False,
    jobs: options.Jobs = -1,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Predict the class of every row with a model file, and write a table.

    The rows need the model's columns; others are not read. They are held a batch at a time, however many there are.

    Example:  privet predict model.privet new.csv --proba

    Example:  privet predict model.privet new.parquet --keep id -o out.parquet

    Example:  privet predict model.privet new.csv --class-weight balanced
    """
    from privet.registry import load

    check_destination(destination, what="predictions", force=force, inputs=(model_file, rows))
    model = load(model_file).set_params(n_jobs=jobs)
    if model.schema_.number is None:
        model = _weighted(model, class_weight)
    elif class_weight is not None:
        raise ParameterError("--class-weight is for classes, and this model predicts a number; leave it out")
    from privet.cli.support.predictions import Numbers, Predictions

    if is_local(model.method):
        from privet.cli.support.disturbed_rows import refuse_bits

        refuse_bits(rows, model.schema_)
    predictions: Numbers | Predictions
    if model.schema_.number is not None:
        if proba:
            raise ParameterError("--proba is for classes, and this model predicts a number; leave it out")
        predictions = Numbers(model, rows, keep or ())
    else:
        predictions = Predictions(model, rows, keep or (), proba)
    in_json = predictions.to_json if as_json else None
    write_answers(predictions, destination, done="predicted", lines=progress, as_json=in_json)
    say_where(destination, model_file, what="predictions", as_json=as_json)


def _weighted(model: Any, class_weight: list[str] | None) -> Any:
    """Return the model with other class weights than its file has, if any were given."""
    wanted = class_weight_of(model.schema_, class_weight)
    if wanted is None:
        return model
    if not hasattr(model, "with_class_weight"):
        raise ParameterError(
            f"--class-weight does not apply to a {model.method}, which has released no balance of its classes; "
            "leave it out"
        )
    return model.with_class_weight(wanted)


@reads_csv
def explain(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    class_: Annotated[
        str | None,
        typer.Option(
            "--class", metavar="LABEL", help="Whose score; by default the second of two, of more the predicted one's."
        ),
    ] = None,
    destination: Destination = STDOUT,
    keep: options.Keep = None,
    progress: options.Progress = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Say what attributes add to every row's score, and write a table.

    A line adds up to the score: of two classes the logarithm of the odds, up to the model's margin. The rows are held a
    batch at a time, as in predict.

    Example:  privet explain model.privet new.csv --class yes
    """
    from privet.registry import load

    check_destination(destination, what="explanations", force=force, inputs=(model_file, rows))
    model = load(model_file)
    if not hasattr(model, "explain"):
        raise ParameterError(
            f"{str(model_file)!r} is a {model.method}, whose trees vote and do not add up; see `privet rules`, or fit "
            f"with --method {options.DEFAULT_METHOD}"
        )
    from privet.cli.support.predictions import ExplainedNumbers, Explanations

    explanations: ExplainedNumbers | Explanations
    if model.schema_.number is not None:
        if class_ is not None:
            raise ParameterError("--class is for classes, and this model predicts a number; leave it out")
        explanations = ExplainedNumbers(model, rows, keep or ())
    else:
        wanted = None if class_ is None else label_of(model.schema_, class_)
        explanations = Explanations(model, rows, keep or (), wanted)
    in_json = explanations.to_json if as_json else None
    write_answers(explanations, destination, done="explained", lines=progress, as_json=in_json)
    say_where(destination, model_file, what="explanations", as_json=as_json)
