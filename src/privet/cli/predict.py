"""``privet predict``: classes of new rows, batch by batch."""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO

import typer

from privet.cli import options, output
from privet.cli.files import check_output
from privet.errors import ParameterError
from privet.whole_file import whole_file

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def predict(
    model_file: Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)],
    rows: options.RowsFile,
    destination: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv or .csv.gz file instead of stdout.", show_default=False),
    ] = None,
    proba: Annotated[bool, typer.Option("--proba", help="One more column a class: its probability.")] = False,
    jobs: options.Jobs = -1,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Predict the class of every row with a model file, and write a CSV.

    The rows need the model's columns; others are not read. They are held a batch at a time.
    """
    from privet.registry import load

    if destination is not None:
        _check_destination(destination, force=force, inputs=(model_file, rows))
    model = load(model_file).set_params(n_jobs=jobs)
    batches = _probabilities(model, rows)
    if destination is not None:
        with output.working("predicting"), whole_file(destination) as file:
            _write_csv(file, model, batches, proba=proba)
        _say_where(destination, model_file, as_json=as_json)
    elif as_json:
        output.print_json(_collect(model, batches, proba=proba))
    else:
        with output.working("predicting", shown=not sys.stdout.isatty()):
            _write_csv(sys.stdout, model, batches, proba=proba)


def _check_destination(path: Path, *, force: bool, inputs: tuple[Path, ...]) -> None:
    if not path.name.endswith((".csv", ".csv.gz")):
        raise ParameterError(
            f"predictions are written as CSV; name the output .csv or .csv.gz instead of {path.name!r}"
        )
    check_output(path, force=force, inputs=inputs)


def _probabilities(model: Any, rows: Path) -> Iterator["NDArray[np.float64]"]:
    from privet.counting.files import read_batches

    return (model.predict_proba(batch) for batch in read_batches(rows, model.schema_, model.schema_.names))


def _write_csv(file: TextIO, model: Any, batches: Iterator["NDArray[np.float64]"], *, proba: bool) -> None:
    writer = csv.writer(file, lineterminator="\n")
    first = next(batches, None)  # rows that cannot be read are refused before anything is written
    writer.writerow(["prediction", *([f"P({label})" for label in model.schema_.classes] if proba else [])])
    while first is not None:
        predictions = _labels(model, first)
        # Python writes the shortest text that reads back as the same float.
        writer.writerows(zip(predictions, *(first.T.tolist() if proba else []), strict=True))
        first = next(batches, None)


def _collect(model: Any, batches: Iterator["NDArray[np.float64]"], *, proba: bool) -> dict[str, Any]:
    predictions: list[Any] = []
    probabilities: list[list[float]] = []
    for batch in batches:
        predictions += _labels(model, batch)
        probabilities += batch.tolist() if proba else []
    data = {"classes": list(model.schema_.classes), "predictions": predictions}
    return {**data, "probabilities": probabilities} if proba else data


def _labels(model: Any, probabilities: "NDArray[np.float64]") -> list[Any]:
    labels: list[Any] = model.classes_[probabilities.argmax(axis=1)].tolist()
    return labels


def _say_where(destination: Path, model_file: Path, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"model": str(model_file), "output": str(destination)})
    else:
        output.say(f"predictions written to {str(destination)!r}")
