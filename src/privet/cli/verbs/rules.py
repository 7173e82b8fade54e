"""``privet rules``: what the trees of a model say, in words."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TextIO, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.support.option_values import label_of
from privet.errors import ParameterError
from privet.files.whole_file import whole_file

if TYPE_CHECKING:
    from privet.tree.rules import Rule, RuleTable

_WHICH = "Which rules"
_SHOWN = 20
Format: TypeAlias = Literal["table", "csv", "json"]
_BY_SUFFIX: dict[str, Format] = {".csv": "csv", ".json": "json"}


def rules(
    model_file: options.ModelFile,
    min_support: Annotated[
        float, typer.Option("--min-support", min=0, help="The least number of released rows.", rich_help_panel=_WHICH)
    ] = 0.0,
    min_confidence: Annotated[
        float,
        typer.Option(
            "--min-confidence", min=0, max=1, help="The least share of the predicted class.", rich_help_panel=_WHICH
        ),
    ] = 0.0,
    class_: Annotated[
        str | None, typer.Option("--class", metavar="LABEL", help="Only rules for this class.", rich_help_panel=_WHICH)
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Take sibling leaves of one class together.", rich_help_panel=_WHICH)
    ] = False,
    leaves: Annotated[
        bool, typer.Option("--leaves", help="Only rules that run to the end of a path.", rich_help_panel=_WHICH)
    ] = False,
    top: Annotated[
        int | None,
        typer.Option(
            "--top", min=1, help=f"At most so many, by support; a table shows {_SHOWN}.", rich_help_panel=_WHICH
        ),
    ] = None,
    format_: Annotated[
        Format | None, typer.Option("--format", help="By default a table, or what the file's name says.")
    ] = None,
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="A .csv or .json file, or one gzipped.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """List what the trees of a model say, the rules with the most rows behind them first.

    Support and confidence come with intervals for the noise. Only released numbers are used, so it costs nothing.
    For a model of perturbed answers both are estimates without intervals.

    Example:  privet rules model.privet --merge --leaves --class yes

    Example:  privet rules model.privet --min-confidence 0.8 -o rules.csv
    """
    chosen = _format(format_, destination, as_json=as_json)
    if destination is not None:
        check_output(destination, force=force, inputs=(model_file,))
    model = _load(model_file)
    table = _select(model, min_support, min_confidence, class_, merge=merge, leaves=leaves)
    shown = _first(table, _SHOWN if top is None and chosen == "table" else top)
    if destination is None:
        _write(sys.stdout, model, shown, chosen)
        _say_left_out(len(table) - len(shown), chosen, top)
        return
    with whole_file(destination) as file:
        _write(file, model, shown, chosen)
    if as_json:
        output.print_json({"model": str(model_file), "output": str(destination), "rules": len(shown)})
    else:
        from privet.checks import pluralize

        output.say(f"{pluralize(len(shown), 'rule')} written to {str(destination)!r}")


def _format(chosen: Format | None, destination: Path | None, *, as_json: bool) -> Format:
    if destination is None:
        if as_json and chosen not in {None, "json"}:
            raise ParameterError(f"--json and --format {chosen} contradict each other; leave one of them out")
        return "json" if as_json else chosen or "table"
    by_name = _BY_SUFFIX.get(Path(destination.name.removesuffix(".gz")).suffix)
    if by_name is None:
        raise ParameterError(
            f"rules are written as CSV or JSON; name the output .csv or .json, not {destination.name!r}"
        )
    if chosen not in {None, by_name}:
        raise ParameterError(f"--format {chosen} does not fit the name {destination.name!r}; leave it out")
    return by_name


def _load(model_file: Path) -> Any:
    from privet.registry import load

    model = load(model_file)
    if not hasattr(model, "nodes_"):
        raise ParameterError(
            f"{str(model_file)!r} is a {model.method}, which releases weights and has no rules; see `privet report` "
            f"and `privet explain`, or fit with --method {_with_rules()}"
        )
    return model


def _with_rules() -> str:
    from privet.registry import METHODS

    return ", ".join(sorted(name for name, method in METHODS.items() if hasattr(method, "rules")))


def _select(
    model: Any, min_support: float, min_confidence: float, class_: str | None, *, merge: bool, leaves: bool
) -> "RuleTable":
    from privet.tree.rules import chosen_rules

    wanted = None if class_ is None else label_of(model.schema_, class_)
    return chosen_rules(model.rule_table(merge=merge), min_support, min_confidence, wanted, leaves_only=leaves)


def _has_intervals(model: Any) -> bool:
    """Return whether a model has noise intervals; one of reconstructed cells has none."""
    return hasattr(model, "noise_std_") or hasattr(model, "node_sd_")


def _first(table: "RuleTable", top: int | None) -> "RuleTable":
    import numpy as np

    return table.take(np.arange(len(table) if top is None else min(top, len(table))))


def _write(file: TextIO, model: Any, table: "RuleTable", chosen: Format) -> None:
    from privet.tree.rules import INTERVALS

    left_out = [] if _has_intervals(model) else INTERVALS
    if chosen == "csv":
        table.to_frame().drop(columns=left_out).to_csv(file, index=False, lineterminator="\n")
    elif chosen == "json":
        data = {"classes": list(model.schema_.classes), "noise_std": getattr(model, "noise_std_", None)}
        rows = [{"text": rule.text, **asdict(rule)} for rule in table.rules()]
        kept = [{name: value for name, value in row.items() if name not in left_out} for row in rows]
        file.write(json.dumps({**data, "rules": kept}, allow_nan=False) + "\n")
    elif left_out:
        estimated = [(s, c, t, text) for s, c, _, t, text in map(_cells, table.rules())]
        output.print_table(["estimated rows", "confidence", "tree", "rule"], estimated, right=[0, 1, 2])
    else:
        cells = [_cells(rule) for rule in table.rules()]
        output.print_table(["support", "confidence", "95 %", "tree", "rule"], cells, right=[0, 1, 2, 3])


def _cells(rule: "Rule") -> tuple[str, ...]:
    far = rule.support_high - rule.support
    support = f"{rule.support:,} ± {far:,.0f}" if far else f"{rule.support:,}"
    span = f"{100 * rule.confidence_low:.1f} to {100 * rule.confidence_high:.1f}"
    return support, output.percent(rule.confidence), span, str(rule.tree), rule.text


def _say_left_out(n_left_out: int, chosen: Format, top: int | None) -> None:
    from privet.checks import pluralize

    if n_left_out and chosen == "table":
        way_out = "--top shows more" if top is None else "raise --top to see more"
        output.say(
            f"{pluralize(n_left_out, 'more rule')} of less support; {way_out}, --min-support and --min-confidence "
            "narrow down"
        )
