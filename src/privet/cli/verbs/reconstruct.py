"""``privet reconstruct``: how values were spread before they were disturbed, as far as the answers tell."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_picture, write_picture
from privet.cli.support.options import reads_csv
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.cli.support.reconstruction_table import ReconstructionTable

_ABOVE_LEGEND = 24  # points


@reads_csv
def reconstruct(
    answers: Annotated[Path, typer.Argument(metavar="ANSWERS", help="Disturbed rows: .csv, .csv.gz or .parquet.")],
    channel: Annotated[
        Path,
        typer.Option("--channel", metavar="FILE", help="Through which the answers came.", rich_help_panel="Options"),
    ],
    column: Annotated[
        list[str],
        typer.Option(
            "--column", metavar="NAME", help="Whose values; sampled questions: twice for two fields together."
        ),
    ],
    class_: Annotated[
        str | None, typer.Option("--class", metavar="LABEL", help="Only of people with this label.")
    ] = None,
    bins: Annotated[
        int | None,
        typer.Option("--bins", min=1, max=10_000, help="Intervals; by default as the schema has them, else 20."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also a picture: .png, .svg or .pdf.")
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option("--original", metavar="ROWS", help="For the picture, clear rows; a collector has none."),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option("--weights", metavar="COLUMN", help="Sampled questions: the answers' column of survey weights."),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Estimate from disturbed answers how the values of a column were spread.

    Of no single person's value anything is estimated: only of all together, or of all with one label. Where people
    answered sampled questions, the shares are those of values and classes together, each with its interval.

    Example:  privet reconstruct answers.csv --channel channel.json --column age --class yes
    """
    _check_picture(plot, original, force=force, inputs=tuple(p for p in (answers, channel, original) if p is not None))
    from privet.cli.support.reconstruction_table import JointSharesTable, ReconstructionTable, sampled_fields

    record = sampled_fields(channel)
    if record is not None:
        given = {"--class": class_, "--bins": bins, "--plot": plot}
        with output.working("reconstructing"):
            JointSharesTable.of(answers, record, column, weights, given).show(as_json=as_json)
        return
    if len(column) > 1 or weights is not None:
        raise ParameterError("a second --column, and --weights, are for answers to sampled questions; leave them out")
    with output.working("reconstructing"):
        table = ReconstructionTable.of(answers, channel, column[0], class_, bins)
    if plot is not None:
        _draw(table, plot, original)
    if as_json:
        output.print_json({**table.to_json(), "plot": None if plot is None else str(plot)})
        return
    output.print_table(table.headings, table.lines(), right=[1, 2])
    output.print_text()
    output.print_text(table.sentence)
    if plot is not None:
        output.print_text(f"picture: {plot}")


def _check_picture(plot: Path | None, original: Path | None, *, force: bool, inputs: tuple[Path, ...]) -> None:
    if original is not None and plot is None:
        raise ParameterError("--original is for the picture; name one with --plot, or leave it out")
    if plot is not None:
        check_picture(plot, force=force, inputs=inputs, option="--plot")


def _draw(table: "ReconstructionTable", plot: Path, original: Path | None) -> None:
    from privet.report.plots.reconstruction import plot_reconstruction
    from privet.report.plots.trees import short
    from privet.tree.conditions import quoted

    clear = None if original is None else table.clear_values(original)

    def draw(ax: Any) -> None:
        plot_reconstruction(table.found, original=clear, ax=ax)
        if table.label is not None:
            title = f"{short(quoted(table.channel.schema.target))} = {short(quoted(table.label))}"
            ax.set_title(title, loc="left", pad=_ABOVE_LEGEND, fontsize="medium", parse_math=False)

    write_picture(plot, draw, height=3.6)
