"""``privet predict``: classes of new rows, batch by batch."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from privet.cli.support import options
from privet.cli.support.answers import STDOUT, check_destination, say_where, write_answers
from privet.cli.verbs.local_fit import is_local

_WHAT = "predictions"


def predict(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    destination: Annotated[
        Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file; - is stdout.")
    ] = STDOUT,
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

    check_destination(destination, what=_WHAT, force=force, inputs=(model_file, rows))
    model = load(model_file).set_params(n_jobs=jobs)
    from privet.cli.support.predictions import Predictions, collected

    if is_local(model.method):
        from privet.cli.support.answer_check import refuse_bits

        refuse_bits(rows, model.schema_)
    predictions = Predictions(model, rows, keep or (), proba)
    in_json = partial(collected, predictions) if as_json else None
    write_answers(predictions, destination, done="predicted", lines=progress, as_json=in_json)
    say_where(destination, model_file, what=_WHAT, as_json=as_json)
