"""``privet predict``: classes of new rows, batch by batch."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli import options, output
from privet.cli.files import check_output
from privet.cli.row_progress import RowProgress
from privet.errors import ParameterError
from privet.whole_file import whole_bytes

if TYPE_CHECKING:
    from privet.cli.predictions import Predictions

_STDOUT = Path("-")


def predict(
    model_file: options.ModelFile,
    rows: options.RowsFile,
    destination: Annotated[
        Path, typer.Option("--output", "-o", help="A .csv, .csv.gz or .parquet file; - is stdout.")
    ] = _STDOUT,
    proba: Annotated[bool, typer.Option("--proba", help="One more column a class: its probability.")] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep", metavar="COLUMN", help="Copy a column of the table; repeat for more.", show_default=False
        ),
    ] = None,
    progress: Annotated[
        bool, typer.Option("--progress", help="Lines on stderr where no terminal shows a bar.")
    ] = False,
    jobs: options.Jobs = -1,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Predict the class of every row with a model file, and write a table.

    The rows need the model's columns; others are not read. They are held a batch at a time, however many there are.
    """
    from privet.registry import load

    if destination != _STDOUT:
        _check_destination(destination, force=force, inputs=(model_file, rows))
    model = load(model_file).set_params(n_jobs=jobs)
    from privet.cli.predictions import Predictions, collected

    predictions = Predictions(model, rows, keep or (), proba)
    on_screen = destination == _STDOUT and sys.stdout.isatty()
    with RowProgress("predicted", shown=not on_screen, lines=progress) as shown:
        batches = shown.over(predictions.batches(shown.watch))
        if destination != _STDOUT:
            _write_file(destination, predictions, batches)
        elif as_json:
            output.print_json(collected(predictions, batches))
        else:
            _write_stdout(predictions, batches, on_screen=on_screen)
    if destination != _STDOUT:
        _say_where(destination, model_file, as_json=as_json)


def _check_destination(path: Path, *, force: bool, inputs: tuple[Path, ...]) -> None:
    if not path.name.endswith((".csv", ".csv.gz", ".parquet")):
        raise ParameterError(
            f"predictions are written as CSV or Parquet; name the output .csv, .csv.gz or .parquet, not {path.name!r}"
        )
    check_output(path, force=force, inputs=inputs)


def _write_file(destination: Path, predictions: "Predictions", batches: Iterator[Any]) -> None:
    from privet.cli.predictions import write_csv, write_parquet

    with whole_bytes(destination) as file:
        if destination.suffix == ".parquet":
            write_parquet(file, predictions.nothing(), batches)
        else:
            write_csv(file, predictions.names, batches)


def _write_stdout(predictions: "Predictions", batches: Iterator[Any], *, on_screen: bool) -> None:
    from privet.cli.predictions import write_csv

    if on_screen:
        write_csv(_Screen(), predictions.names, batches)  # type: ignore[arg-type]
    else:
        write_csv(sys.stdout.buffer, predictions.names, batches)


class _Screen:
    """A terminal, which no value of a table may drive."""

    def write(self, data: bytes) -> int:
        lines = bytes(data).decode().split("\n")
        sys.stdout.write("\n".join(output.printable(line) for line in lines))
        return len(data)


def _say_where(destination: Path, model_file: Path, *, as_json: bool) -> None:
    if as_json:
        output.print_json({"model": str(model_file), "output": str(destination)})
    else:
        output.say(f"predictions written to {str(destination)!r}")
