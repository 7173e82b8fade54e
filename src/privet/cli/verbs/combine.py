"""``privet combine``: one model from the releases of several parties."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.cli.verbs.party import ReleaseFiles, RosterFile, RosterHash, StructureFile, StructureHash
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.partitioned import NewtonRound, TableForest
    from privet.partitioned.horizontal import PartyForest
    from privet.partitioned.own_forests import OwnForests


def combine(
    releases: ReleaseFiles,
    structure_file: StructureFile,
    roster_file: RosterFile,
    structure_hash: StructureHash = None,
    roster_hash: RosterHash = None,
    model_file: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path("model.privet"),
    next_file: Annotated[
        Path | None,
        typer.Option(
            "--next", metavar="FILE", help="With class tables: where to write the structure of the second round."
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Make a model from the releases of any of the parties, after checking each of them.

    Anyone can do it: nothing private is needed, and nothing is spent.

    Of a table-forest, --next writes what parties release in the second round; the model of the first is valid too.

    Example:  privet combine a.json b.json --structure structure.json --roster roster.json
    """
    inputs = (*releases, structure_file, roster_file)
    check_output(model_file, force=force, inputs=inputs)
    if next_file is not None:
        check_output(next_file, force=force, inputs=(*inputs, model_file))
    with output.working("checking the releases"):
        model = _combine(releases, structure_file, roster_file, structure_hash, roster_hash)
    if next_file is not None:
        _next_round(model).save(next_file)
    model.save(model_file)
    if as_json:
        output.print_json(_summary(model, model_file))
        return
    output.print_text(model.guarantee_.sentence)
    output.print_text()
    output.print_text(f"parties: {', '.join(model.party_names)}")
    output.print_text(f"noise: {_noise_in_words(model)}")
    output.print_text(f"model: {model_file}")
    if next_file is not None:
        output.print_text(f"structure of the second round: {next_file}, hash {_next_round(model).hash}")


def _next_round(model: "PartyForest | OwnForests | TableForest") -> "NewtonRound":
    if getattr(model, "newton_", model) is not None:
        raise ParameterError("no round follows from these releases; leave --next out")
    return cast("TableForest", model).next_round


def _combine(
    releases: list[Path], structure_file: Path, roster_file: Path, structure_hash: str | None, roster_hash: str | None
) -> "PartyForest | OwnForests | TableForest":
    from privet import partitioned
    from privet.partitioned.split_structure import load_structure

    agreed = load_structure(structure_file, pin=structure_hash)
    known = partitioned.Roster.load(roster_file, pin=roster_hash)
    sent = [partitioned.Release.load(path) for path in releases]
    if isinstance(agreed, partitioned.SplitStructure):
        combine_split = (
            partitioned.ColumnForest.combine
            if isinstance(agreed.parts[0], partitioned.ForestRound)
            else partitioned.VerticalForest.combine
        )
        return combine_split(agreed, known, sent)
    if isinstance(agreed, partitioned.ForestRound):
        return partitioned.CombinedForest.combine(agreed, known, sent)
    if isinstance(agreed, partitioned.Structure):
        return partitioned.HorizontalForest.combine(agreed, known, sent)
    assert isinstance(agreed, partitioned.TableRound | partitioned.NewtonRound)  # noqa: S101 - there is no other kind
    return partitioned.TableForest.combine(agreed, known, sent)


def _noise_in_words(model: "PartyForest | OwnForests | TableForest") -> str:
    growth = model.noise_growth_
    unit = "the pull of a leaf" if model.method in ("combined-forest", "column-forest") else "each released count"
    if len(growth) == 1:
        return f"standard deviation {growth[0]:.3g} in {unit}"
    return (
        f"standard deviation {growth[-1]:.3g} in {unit}, {growth[0]:.3g} from one party: variances of {len(growth)} "
        "parties add up"
    )


def _summary(model: "PartyForest | OwnForests | TableForest", model_file: Path) -> dict[str, Any]:
    return {
        "model": str(model_file),
        "method": model.method,
        "parties": model.parties,
        "noise_standard_deviation": float(model.noise_growth_[-1]),
        "noise_growth": [float(deviation) for deviation in model.noise_growth_],
        "guarantee": model.guarantee_.to_json(),
    }
