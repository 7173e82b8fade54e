"""``privet predict`` and ``privet explain``: what a model says about new rows, batch by batch."""

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

from privet.cli.support import options
from privet.cli.support.local_methods import is_local
from privet.cli.support.row_output import STDOUT, check_destination, say_where, write_answers
from privet.errors import ParameterError

Destination: TypeAlias = Annotated[
    Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file; - is stdout.")
]


def predict(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    destination: Destination = STDOUT,
    proba: Annotated[bool, typer.Option("--proba", help="One more column a class: its probability.")] = False,
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
    """
    from privet.registry import load

    check_destination(destination, what="predictions", force=force, inputs=(model_file, rows))
    model = load(model_file).set_params(n_jobs=jobs)
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


def explain(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    class_: Annotated[
        str | None,
        typer.Option(
            "--class",
            metavar="LABEL",
            help="Whose score; by default the second of two, of more the predicted one's.",
            show_default=False,
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
        wanted = None if class_ is None else options.label_of(model.schema_, class_)
        explanations = Explanations(model, rows, keep or (), wanted)
    in_json = explanations.to_json if as_json else None
    write_answers(explanations, destination, done="explained", lines=progress, as_json=in_json)
    say_where(destination, model_file, what="explanations", as_json=as_json)
