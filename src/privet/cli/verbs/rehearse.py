"""``privet rehearse``: how accurate a model may be, from made-up or public rows, before anything is spent."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_picture, write_picture
from privet.cli.support.option_values import label_of, number_or_word, parse_epsilons
from privet.cli.support.options import reads_csv
from privet.cli.support.progress import Progress
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.rehearsal import Rehearsal
    from privet.schema import Label, Schema

_MADE_UP = (
    "made-up rows are no rows of yours: on six public tables such figures were off by {off} points on average, and by "
    "less than one from a public table of the same kind (--like)"
)
# By what was stated of the rows, in points (docs/rehearsal.md).
_OFF_BEST, _OFF_STRENGTH, _OFF_NOTHING = 3, 7, 14
_LIKE = "--like declares this table public: nothing protects its rows here"


@reads_csv
def rehearse(
    schema: options.SchemaFile = None,
    rows: Annotated[
        str | None,
        typer.Option(
            "--rows", metavar="N", help="About how many: a quarter and four times as many are tried too. Or several: "
            "5000,20000. By default as the schema says.",
        ),
    ] = None,
    epsilon: Annotated[str, typer.Option("--epsilon", help="One epsilon, or several.")] = "0.1,0.5,1,2,4",
    method: Annotated[
        str, typer.Option("--method", metavar="NAMES", help="One method of a curator, or several: private-forest,dpdf.")
    ] = options.DEFAULT_METHOD,
    class_share: Annotated[
        list[str] | None,
        typer.Option(
            "--class-share", metavar="CLASS=SHARE",
            help="How frequent a class is: yes=0.1. Repeat for more; the others share what is left.",
        ),
    ] = None,
    strength: Annotated[
        list[str] | None,
        typer.Option(
            "--strength", metavar="W", help="How strongly attributes go with the class: weak, medium, strong, or "
            "Cohen's w; of one attribute age=0.3. Repeat for more. By default medium.",
        ),
    ] = None,
    best: Annotated[
        float | None,
        typer.Option(
            "--best", metavar="SHARE",
            help="How many rows can be guessed right at most, as far as is known: 0.87. Strengths are scaled to it.",
        ),
    ] = None,
    like: Annotated[
        Path | None,
        typer.Option(
            "--like", metavar="FILE",
            help="A public table of the same kind, taken in place of made-up rows. Never the rows to be protected.",
        ),
    ] = None,
    draws: Annotated[int, typer.Option("--draws", min=2, help="How often rows are drawn.")] = 3,
    random_state: Annotated[
        int | None, typer.Option("--random-state", min=0, help="Fixes what is drawn; by default 0.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Also a picture: .png, .svg or .pdf.")
    ] = None,
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:  # fmt: skip
    """Fit methods to made-up rows, or to public ones, and show accuracy over epsilon, method and number of rows.

    Reads the schema and no row of yours, and costs nothing.

    Example:  privet rehearse --schema schema.json --rows 20000 --class-share yes=0.2 --best 0.87 --plot rehearsal.png

    Example:  privet rehearse --schema schema.json --rows 20000 --like last-census.csv --method private-forest,dpdf
    """
    from privet.rehearsal import rehearse as fit_them

    if plot is not None:
        inputs = tuple(path for path in (schema, like) if path is not None)
        check_picture(plot, force=force, inputs=inputs, option="--plot")
    declared = options.load_schema(schema)
    methods = list(dict.fromkeys(method.split(",")))
    for each in methods:
        options.check_known(each)
    with Progress("rehearsing", steps="fits", lines=progress) as steps:
        found = fit_them(
            declared, _rows(rows), epsilons=parse_epsilons(epsilon), methods=methods,
            class_shares=_shares(declared, class_share), strength=_strengths(strength), best=best, like=like,
            draws=draws, random_state=0 if random_state is None else random_state, watch=steps.step,
        )  # fmt: skip
    if plot is not None:
        write_picture(plot, found.plot, height=4.8)
    if as_json:
        output.print_json({**found.to_json(), "plot": None if plot is None else str(plot)})
    else:
        _print(found, plot)
    off = _OFF_BEST if best is not None else _OFF_STRENGTH if strength else _OFF_NOTHING
    output.say(_LIKE if like is not None else _MADE_UP.format(off=off))


def _rows(text: str | None) -> int | list[int] | None:
    if text is None:
        return None
    try:
        several = [int(word.replace("_", "")) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"--rows {text!r} is not a whole number or a list such as 5000,20000") from None
    return several[0] if len(several) == 1 else several


def _shares(schema: "Schema", given: list[str] | None) -> "dict[Label, float] | None":
    if not given:
        return None
    named = [_named(text, "--class-share", "yes=0.1") for text in given]
    return {label_of(schema, name): _number(share, "--class-share") for name, share in named}


def _strengths(given: list[str] | None) -> "float | str | dict[str, float | str]":
    if not given:
        return "medium"
    if len(given) == 1 and "=" not in given[0]:
        return number_or_word(given[0])
    named = [_named(text, "--strength", "age=0.3") for text in given]
    return {name: number_or_word(own) for name, own in named}


def _named(text: str, option: str, example: str) -> tuple[str, str]:
    name, sign, value = text.rpartition("=")
    if not sign:
        raise ParameterError(f"{option} {text!r} must be a name and a value, such as {example}")
    return name, value


def _number(text: str, option: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ParameterError(f"{option} {text!r} is not a number") from None


def _print(found: "Rehearsal", plot: Path | None) -> None:
    output.print_text(f"Accuracy expected from {found.basis}", style="bold")
    output.print_text()
    prices = list(dict.fromkeys(score.epsilon for score in found.scores))
    lines = list(dict.fromkeys((score.method, score.rows) for score in found.scores))
    cells = {(s.method, s.rows, s.epsilon): f"{100 * s.accuracy:.1f} ± {100 * s.deviation:.1f}" for s in found.scores}
    output.print_table(
        ["method", "rows", *("no noise" if math.isinf(e) else f"epsilon {e:g}" for e in prices)],
        [[method, f"{n:,}", *(cells[method, n, epsilon] for epsilon in prices)] for method, n in lines],
        right=range(1, len(prices) + 2),
    )
    output.print_text()
    known = "" if found.best is None else f"; what can be known at most {output.percent(found.best)}"
    output.print_text(f"the largest class {output.percent(found.majority)}{known}")
    if plot is not None:
        output.print_text(f"picture: {plot}")
