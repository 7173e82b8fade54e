"""``privet audit``: attack a method, and say how much of its epsilon was shown."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_picture
from privet.cli.support.local_methods import refuse_local
from privet.cli.support.option_values import given_options, refuse_given
from privet.cli.support.options import reads_csv
from privet.errors import ParameterError
from privet.methods import methods_of

if TYPE_CHECKING:
    from privet.attack import Audit
    from privet.schema import Schema

_LOCAL = "its answers are disturbed by a channel that states its own local epsilon; see `privet perturb --explain`"
_RUNS = 2_000
_ON_ROWS = (
    "this attack is computed from the rows without noise; unless the rows are public, do not publish what it found"
)
# What a model file says itself.
_OF_THE_MODEL = ("schema", "epsilon", "delta", "method", "trees", "height", "variant", "without_noise")


@reads_csv
def audit(
    context: typer.Context,
    schema: Annotated[
        Path | None, typer.Option("--schema", metavar="FILE", help="By default a small one, in which a row shows most.")
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
    model_file: Annotated[
        Path | None,
        typer.Option(
            "--model",
            metavar="MODEL",
            help="Audit the method of this model, as it was fitted; --json can be attached to its report.",
        ),
    ] = None,
    members: Annotated[
        Path | None,
        typer.Option("--members", metavar="ROWS", help="Attack the model itself instead: rows that it was fitted to."),
    ] = None,
    others: Annotated[
        Path | None, typer.Option("--others", metavar="ROWS", help="Rows of the same kind that it has not seen.")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", metavar="FILE", help="Draw the scores: .png, .svg or .pdf.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Attack a method on tables made for it, and say how much of its epsilon an attacker can show.

    None of your data is read, unless --members and --others name it. A bound below the claim proves nothing; one above
    it disproves the claim.

    The exit code is 0 either way; a script reads "contradicts" in --json.

    Example:  privet audit --method private-rdt --trees 1 --epsilon 1 --picture audit.png

    Example:  privet audit --method private-rdt --trees 1 --one-run 20000

    Example:  privet audit --model model.privet --json

    Example:  privet audit --model model.privet --members rows.csv --others test.csv
    """
    refuse_local(method, _LOCAL)
    _check_jobs(jobs)
    _check_one_run(canaries, runs, picture)
    _check_model(context, model_file, members, others)
    if picture is not None:
        check_picture(picture, force=force, option="--picture")
    about: dict[str, Any] = {}
    if model_file is not None:
        model, about = _opened(model_file)
        if members is not None and others is not None:
            _tell_membership(model, members, others, about, as_json=as_json)
            return
        estimator, epsilon = _as_it_was_fitted(model), float(model.guarantee_.epsilon)
    else:
        declared = options.load_schema(schema) if schema is not None else _small_schema()
        chosen = options.ModelOptions(method=method, jobs=1, trees=trees, height=height, variant=variant, delta=delta)
        estimator = chosen.estimator(declared, epsilon=math.inf if without_noise else epsilon, random_state=None)
    if not estimator._is_sound():  # noqa: SLF001 - it is privet's own
        output.say("nothing is proven about this variant; the audit can show that it gives away more")
    if canaries is not None:
        _one_run(estimator, epsilon, canaries, confidence, about, as_json=as_json)
        return
    found = _run_audit(estimator, epsilon, _RUNS if runs is None else runs, confidence, jobs)
    if picture is not None:
        from privet.attack.audit import draw_audit

        draw_audit(found, picture)
    _tell(found, picture, about, as_json=as_json)


def _check_model(context: typer.Context, model_file: Path | None, members: Path | None, others: Path | None) -> None:
    """Refuse what a model file says already, and half of a membership attack."""
    if model_file is not None:
        refuse_given(given_options(context), _OF_THE_MODEL, "is taken from the model; leave out one of the two")
    if (members is None) != (others is None) or (members is not None and model_file is None):
        raise ParameterError("a membership attack takes --model, --members and --others; pass all three")


def _opened(model_file: Path) -> tuple[Any, dict[str, Any]]:
    """Return the model, and what binds an audit's document to its file."""
    from privet.model_file import read_document
    from privet.registry import model_of

    document = read_document(model_file)
    model = model_of(document, model_file)
    if model.method not in {known.name for known in methods_of("central")}:
        raise ParameterError(f"{str(model_file)!r} is a {model.method}, which no single fit makes; {_LOCAL}")
    return model, {"model": document["checksum"]}


def _as_it_was_fitted(model: Any) -> Any:
    """Return the unfitted estimator with the model's schema, method and parameters."""
    from sklearn.base import clone

    return clone(model).set_params(schema=model.schema_, epsilon=float(model.guarantee_.epsilon), n_jobs=1)


def _tell_membership(model: Any, members: Path, others: Path, about: dict[str, Any], *, as_json: bool) -> None:
    from privet.attack import membership_inference
    from privet.cli.support.scores import read_labelled

    if model.schema_.number is not None:
        raise ParameterError(
            "--members is for classes, and this model predicts a number; leave out --members and --others"
        )
    with output.working("attacking the model"):
        tables = [
            (read.features, read.labels) for read in (read_labelled(path, model.schema_) for path in (members, others))
        ]
        found = membership_inference(model, *tables)
    output.say(_ON_ROWS)
    output.answer({**about, **found.to_json()}, found.sentence, as_json=as_json)


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


def _one_run(
    estimator: Any, epsilon: float, canaries: int, confidence: float, about: dict[str, Any], *, as_json: bool
) -> None:
    from privet.attack import audit_in_one_run

    with output.working("fitting to the canaries"):
        found = audit_in_one_run(estimator, epsilon=epsilon, n_canaries=canaries, confidence=confidence)
    output.answer({**about, **found.to_json()}, found.sentence, as_json=as_json)


def _run_audit(estimator: Any, epsilon: float, runs: int, confidence: float, jobs: int) -> "Audit":
    from privet.attack import audit
    from privet.cli.support.progress import Progress

    with Progress(estimator.method, steps="fits", lines=True) as progress:
        return audit(estimator, epsilon=epsilon, runs=runs, confidence=confidence, n_jobs=jobs, watch=progress.step)


def _tell(found: "Audit", picture: Path | None, about: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        output.print_json({**about, **found.to_json()})
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
