"""``privet explain``: what each tree of a model adds to the score of every row."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.support import options
from privet.cli.support.answers import STDOUT, check_destination, say_where, write_answers
from privet.errors import ParameterError

_WHAT = "explanations"


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
    destination: Annotated[
        Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file; - is stdout.")
    ] = STDOUT,
    keep: options.Keep = None,
    progress: options.Progress = False,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Say what each tree of a forest of weights adds to every row's score, and write a table.

    A line adds up to the score: of two classes the logarithm of the odds, up to the model's margin. The rows are held a
    batch at a time, as in predict.

    Example:  privet explain model.privet new.csv --class yes
    """
    from privet.registry import load

    check_destination(destination, what=_WHAT, force=force, inputs=(model_file, rows))
    model = load(model_file)
    if not hasattr(model, "explain"):
        raise ParameterError(
            f"{str(model_file)!r} is a {model.method}, whose trees vote and do not add up; see `privet rules`, or fit "
            f"with --method {options.DEFAULT_METHOD}"
        )
    from privet.cli.support.explanations import Explanations, collected

    wanted = None if class_ is None else options.label_of(model.schema_, class_)
    explanations = Explanations(model, rows, keep or (), wanted)
    in_json = partial(collected, explanations) if as_json else None
    write_answers(explanations, destination, done="explained", lines=progress, as_json=in_json)
    say_where(destination, model_file, what=_WHAT, as_json=as_json)
