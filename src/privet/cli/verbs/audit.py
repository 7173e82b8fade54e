"""``privet audit``: attack a method, and say how much of its epsilon was shown."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_picture
from privet.cli.support.local_methods import refuse_local
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.attack import Audit
    from privet.schema import Schema

_LOCAL = "its answers are disturbed by a channel that states its own local epsilon; see `privet perturb --explain`"
_RUNS = 2_000


def audit(
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema", metavar="FILE", help="By default a small one, in which a row shows most.", show_default=False
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What is claimed.")] = 1.0,
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    runs: Annotated[
        int | None,
        typer.Option("--runs", min=20, help=f"Fits of each table, by default {_RUNS:,}; a case has two tables."),
    ] = None,
    canaries: Annotated[
        int | None,
        typer.Option("--one-run", metavar="CANARIES", min=10, help="One fit with so many planted rows instead."),
    ] = None,
    without_noise: Annotated[
        bool, typer.Option("--without-noise", help="As a control: fit without noise; the attack should succeed.")
    ] = False,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the bound.")] = 0.95,
    jobs: Annotated[int, typer.Option("--jobs", help="Processes; -1 uses all cores.")] = -1,
    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="Draw the scores: .png, .svg or .pdf.", show_default=False),
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Attack a method on tables made for it, and say how much of its epsilon an attacker can show.

    None of your data is read. A bound below the claim proves nothing; one above it disproves the claim.

    The exit code is 0 either way; a script reads "contradicts" in --json.

    Example:  privet audit --method private-rdt --trees 1 --epsilon 1 --picture audit.png

    Example:  privet audit --method private-rdt --trees 1 --one-run 20000
    """
    refuse_local(method, _LOCAL)
    _check_jobs(jobs)
    _check_one_run(canaries, runs, picture)
    if picture is not None:
        check_picture(picture, force=force, option="--picture")
    declared = options.load_schema(schema) if schema is not None else _small_schema()
    chosen = options.ModelOptions(method, trees, height, 1, variant=variant, delta=delta)
    estimator = chosen.estimator(declared, epsilon=math.inf if without_noise else epsilon, random_state=None)
    if not estimator._is_sound():  # noqa: SLF001 - it is privet's own
        output.say("nothing is proven about this variant; the audit can show that it gives away more")
    if canaries is not None:
        _one_run(estimator, epsilon, canaries, confidence, as_json=as_json)
        return
    found = _run_audit(estimator, epsilon, _RUNS if runs is None else runs, confidence, jobs)
    if picture is not None:
        from privet.attack.audit import draw_audit

        draw_audit(found, picture)
    _tell(found, picture, as_json=as_json)


def _check_jobs(jobs: int) -> None:
    if jobs != -1 and jobs < 1:
        raise ParameterError(f"--jobs {jobs} is no number of processes; pass 1 or more, or -1 for all cores")


def _check_one_run(canaries: int | None, runs: int | None, picture: Path | None) -> None:
    for option, given in {"--runs": runs, "--picture": picture}.items():
        if canaries is not None and given is not None:
            raise ParameterError(f"{option} needs many fits, and --one-run makes one; leave out one of the two")


def _small_schema() -> "Schema":
    from privet.schema import Categorical, Schema

    two = ["low", "high"]
    return Schema([Categorical("a", two), Categorical("b", two)], classes=["no", "yes"], rows=40)


def _one_run(estimator: Any, epsilon: float, canaries: int, confidence: float, *, as_json: bool) -> None:
    from privet.attack import audit_in_one_run

    with output.working("fitting to the canaries"):
        found = audit_in_one_run(estimator, epsilon=epsilon, n_canaries=canaries, confidence=confidence)
    if as_json:
        output.print_json(found.to_json())
    else:
        output.print_text(found.sentence)


def _run_audit(estimator: Any, epsilon: float, runs: int, confidence: float, jobs: int) -> "Audit":
    from privet.attack import audit
    from privet.cli.support.progress import Progress

    with Progress(estimator.method, steps="fits", lines=True) as progress:
        return audit(estimator, epsilon=epsilon, runs=runs, confidence=confidence, n_jobs=jobs, watch=progress.step)


def _tell(found: "Audit", picture: Path | None, *, as_json: bool) -> None:
    if as_json:
        output.print_json(found.to_json())
        return
    cells = [
        (name, f"{attack.epsilon_shown:.3g}", *(output.percent(rate) for rate in attack.rates), f"{attack.runs:,}")
        for name, attack in found.attacks.items()
    ]
    headings = ["case", "at least epsilon", 'says "there" without the row', "with it", "fits, both tables"]
    output.print_table(headings, cells, right=[1, 2, 3, 4])
    output.print_text()
    output.print_text(found.sentence)
    if picture is not None:
        output.print_text(f"picture: {picture}")
