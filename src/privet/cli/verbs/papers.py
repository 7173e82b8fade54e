"""Reproduce the five papers, and see which of their claims hold.

Example:  privet papers list
"""

import os
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.errors import DatasetUnavailable, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from papers.claim import Claim
    from papers.paper import Paper

_ALL = "all"
_NO_CHECKOUT = (
    "the experiments of the papers are not in the installed package; clone privet's repository and run this command in "
    "its folder"
)
_KEPT = "what has been measured is kept in {!r}; run the same command to go on"


def list_(as_json: options.Json = False) -> None:
    """List the papers: what they are about, and how many of their claims held when last run in full.

    Example:  privet papers list
    """
    root = _checkout()
    catalogue = _catalogue(root)
    found = [catalogue.paper(name) for name in catalogue.NAMES]
    committed = [_read_verdicts(root / "papers" / catalogue.folder(paper.name) / "results") for paper in found]
    if as_json:
        listed = [_summary(paper, verdicts) for paper, verdicts in zip(found, committed, strict=True)]
        output.print_json({"papers": listed})
        return
    rows = [(paper.name, paper.title, _tally(held)) for paper, held in zip(found, committed, strict=True)]
    output.print_table(["name", "title", "claims, as committed"], rows)


def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A paper of `privet papers list`, or all.")],
    quick: Annotated[bool, typer.Option("--quick", help="Minutes: fewer repeats and smaller tables.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Hours, with the papers' own repeats.")] = False,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes side by side; -1 uses all cores.")] = -1,
    folder: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FOLDER", help="By default papers-quick or papers-full.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Throw away what was measured before, and begin again.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Measure what a paper reports, redraw its figures, and print each claim beside what was measured.

    What has been measured before is not measured again: an interrupted run goes on.

    Example:  privet papers run jagannathan2012 --quick

    Example:  privet papers run all --full --jobs 2 --output papers
    """
    if quick == full:
        raise ParameterError("say --quick, for minutes, or --full, for hours with the papers' own repeats")
    n_workers = _n_workers(jobs)
    scale = "quick" if quick else "full"
    target = folder if folder is not None else Path(f"papers-{scale}")
    catalogue = _catalogue(_checkout())
    chosen = _choose(name, catalogue)
    with output.working("looking for the tables"):
        for paper in chosen:
            paper.check_tables()
    kept = _KEPT + (", without --again" if again else "")
    done = []
    for paper in chosen:
        results = target / catalogue.folder(paper.name) / "results"
        _make(results)
        if again:
            paper.forget(results)
        done.append((paper, results, _reproduce(paper, results, scale, n_workers, kept=kept)))
    if as_json:
        output.print_json({"scale": scale, "papers": [_as_dict(*each) for each in done]})
    else:
        for each in done:
            _print_claims(*each)


def _n_workers(jobs: int) -> int:
    if jobs == -1:
        return os.cpu_count() or 1
    if jobs < 1:
        raise ParameterError(f"--jobs {jobs} is no number of processes; give 1 or more, or -1 for all cores")
    return jobs


def _checkout() -> Path:
    """Return the repository: where this module is installed from, or else the current folder."""
    for root in (Path(__file__).resolve().parents[4], Path.cwd()):
        if (root / "papers" / "catalogue.py").is_file() and (root / "pyproject.toml").is_file():
            return root
    raise DatasetUnavailable(_NO_CHECKOUT)


def _catalogue(root: Path) -> Any:
    # Worker processes get the same path.
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    return import_module("papers.catalogue")


def _choose(name: str, catalogue: Any) -> "list[Paper]":
    if name != _ALL and name not in catalogue.NAMES:
        raise ParameterError(f"there is no paper {name!r}; choose from {', '.join(catalogue.NAMES)}, or {_ALL}")
    return [catalogue.paper(each) for each in (catalogue.NAMES if name == _ALL else [name])]


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        writable = os.access(folder, os.W_OK)
    except OSError:
        writable = False
    if not writable:
        raise ParameterError(f"cannot write to the folder {str(folder)!r}; choose another with --output")


def _reproduce(paper: "Paper", folder: Path, scale: Any, jobs: int, *, kept: str) -> "Sequence[Claim]":
    from papers.experiment import ExperimentFailed
    from privet.cli.support.progress import Progress

    try:
        with Progress(paper.name, steps="cells", lines=True) as progress:
            return paper.run(folder, scale, jobs=jobs, watch=progress.step)
    except KeyboardInterrupt:
        output.say(kept.format(str(folder)))
        raise
    except ExperimentFailed as failed:
        output.say(f"{paper.name}, {failed}; {kept.format(str(folder))}")
        stopped_by = failed.__cause__ or failed
    raise stopped_by


def _read_verdicts(results: Path) -> "list[str] | None":
    """Return the verdicts of the table of claims in a folder, or None where it has none."""
    import csv

    try:
        with (results / "claims.csv").open(newline="", encoding="utf-8") as file:
            return [line["holds?"] for line in csv.DictReader(file)]
    except (OSError, KeyError):
        return None


def _summary(paper: "Paper", verdicts: list[str] | None) -> dict[str, Any]:
    counts = (None, None) if verdicts is None else (len(verdicts), verdicts.count("yes"))
    return {"name": paper.name, "title": paper.title, "claims": counts[0], "hold": counts[1]}


def _tally(verdicts: list[str] | None) -> str:
    return "not run yet" if verdicts is None else f"{verdicts.count('yes')} of {len(verdicts)} hold"


def _as_dict(paper: "Paper", folder: Path, claims: "Sequence[Claim]") -> dict[str, Any]:
    listed = [
        {
            "claim": claim.text,
            "paper": claim.source,
            "ours": claim.ours,
            "measured": claim.measured,
            # A comparison of means is NumPy's own truth, which JSON does not know.
            "holds": None if claim.holds is None else bool(claim.holds),
            "reason": claim.fault or None,
            "why": claim.why,
        }
        for claim in claims
    ]
    return {"name": paper.name, "title": paper.title, "results": str(folder), "claims": listed}


def _print_claims(paper: "Paper", folder: Path, claims: "Sequence[Claim]") -> None:
    from papers.claim import HEADER

    output.print_text(f"{paper.name}: {paper.title}", style="bold")
    output.print_table(HEADER, [claim.cells() for claim in claims])
    output.print_text(f"Figures, measurements and this table are in {folder}")
    output.print_text()
