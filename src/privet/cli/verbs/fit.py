"""``privet fit``: train on a file and write the model that may be published."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import cluster, options, output
from privet.cli.support.files import PendingModel, check_output
from privet.cli.support.ledger import Dataset, chosen_ledger, ledger_sentence, ledger_summary
from privet.cli.support.local_methods import (
    COSTS_NOTHING,
    LocalOptions,
    best_method,
    is_local,
    refuse_what_is_not_local,
)
from privet.cli.support.option_values import class_weight_of, given_options, refuse_given
from privet.cli.support.options import reads_csv
from privet.cli.support.progress import Progress
from privet.cli.verbs.plan import advise
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.central.private_search import PrivateSearch
    from privet.schema import Schema
# They are about one method, or about rows that a trial cannot split.
_NOT_BESIDE_TUNE = (
    "method", "trees", "height", "variant", "delta", "increasing", "decreasing", "class_weight", "part", "dask",
)  # fmt: skip
_TRIES_METHODS = (
    "does not go with --tune, which tries methods as they are on rows that one process reads; leave one of them out"
)


@reads_csv
def fit(
    context: typer.Context,
    rows: Annotated[
        list[Path],
        typer.Argument(
            metavar="ROWS...", help="The table: .csv, .csv.gz, .parquet, .arrow; a pattern; a folder of Parquet."
        ),
    ],
    schema: Annotated[
        Path | None,
        typer.Option(
            "--schema",
            metavar="FILE",
            help="What is public about the table. Required, except with --channel, which has its own.",
        ),
    ] = None,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the fit may cost; inf adds no noise.")] = 1.0,
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    tune: Annotated[
        str | None,
        typer.Option(
            "--tune",
            metavar="NAMES",
            help="Choose among methods by a trial on parts of the rows, for a fifth of epsilon: private-forest,dpdf. "
            "It seldom pays (docs/search.md).",
        ),
    ] = None,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    increasing: options.Increasing = None,
    decreasing: options.Decreasing = None,
    class_weight: options.ClassWeight = None,
    channel: Annotated[
        Path | None,
        typer.Option(
            "--channel",
            metavar="FILE",
            help="Of rows that `privet perturb` disturbed: how. By default the method that fits them best: "
            "sampled-forest, random-response-forest or reconstruction-tree.",
        ),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option("--strategy", help="reconstruction-tree: by_class, local, global or none.")
    ] = None,
    person: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="With --channel: tells people apart; nobody may be in it twice."),
    ] = None,
    unit: options.Unit = "row",
    max_rows: options.MaxRows = 1,
    ledger: options.LedgerFile = None,
    dataset: Dataset = None,
    part: options.Part = None,
    no_person_in_two_parts: options.NoPersonInTwoParts = False,
    random_state: options.RandomState = None,
    jobs: options.Jobs = -1,
    dask: cluster.Dask = None,
    dask_tls_ca: cluster.DaskCa = None,
    dask_tls_cert: cluster.DaskCert = None,
    dask_tls_key: cluster.DaskKey = None,
    model_file: Annotated[Path, typer.Option("--output", "-o", help="The model file.")] = Path("model.privet"),
    force: options.Force = False,
    progress: options.Progress = False,
    as_json: options.Json = False,
) -> None:
    """Train a forest on files of private rows and write the released model.

    The rows are read batch by batch; several files are one table. The model holds released numbers only, and the
    promise that was kept.

    Example:  privet fit rows.csv --schema schema.json --epsilon 1 -o model.privet

    Example:  privet fit rows.csv --schema schema.json --epsilon 4 --tune private-forest,dpdf

    Example:  privet fit answers.csv --channel channel.json
    """
    given = given_options(context)
    if channel is not None and "method" not in given:
        method = best_method(channel)
    # First: it says what an earlier command left open, whose model may be the file that is in the way.
    account = None if is_local(method) else chosen_ledger(ledger, dataset, part, stated=no_person_in_two_parts)
    inputs = (*rows, schema, channel, dask_tls_ca, dask_tls_cert, dask_tls_key)
    check_output(model_file, force=force, inputs=tuple(path for path in inputs if path is not None), ledger=ledger)
    workers = cluster.Cluster(dask, dask_tls_ca, dask_tls_cert, dask_tls_key)
    if is_local(method):
        local = LocalOptions(method, channel, schema, strategy, trees, height, jobs, person)
        model = local.estimator(given, random_state)
        if "method" not in given:
            output.say(f"no --method is given; answers through this channel are fitted by {method}")
        with output.working("reading the answers and growing trees"):
            local.fit(model, _only_file(rows, workers))
        PendingModel(model_file, force).save(model)
        _tell(model, method, model_file, as_json=as_json)
        return
    refuse_what_is_not_local(method, channel, strategy, person)
    declared = options.load_schema(schema)
    if tune is not None:
        refuse_given(given, _NOT_BESIDE_TUNE, _TRIES_METHODS)
        searched = _search(tune, declared, epsilon, unit, max_rows, random_state, jobs)
        searched.set_params(ledger=account)
        _say_leaks(declared)
        _fit(searched, rows, workers, PendingModel(model_file, force), lines=progress)
        output.say(f"the trial chose {searched.best_}")
        _tell(searched.model_, searched.best_, model_file, as_json=as_json)
        return
    chosen = options.ModelOptions(
        method=method, jobs=jobs, trees=trees, height=height, unit=unit, max_rows=max_rows, variant=variant,
        delta=delta, increasing=increasing or (), decreasing=decreasing or (),
    )  # fmt: skip
    model = chosen.estimator(declared, epsilon=epsilon, random_state=random_state)
    model.set_params(ledger=account)
    if class_weight and declared.number is not None:
        raise ParameterError("--class-weight is for classes, and the schema's target is a number; leave it out")
    if class_weight:
        model.set_params(class_weight=class_weight_of(declared, class_weight))
    model.check_parameters()
    _say_beforehand(model, declared)
    _fit(model, rows, workers, PendingModel(model_file, force), lines=progress)
    _tell(model, method, model_file, as_json=as_json)


def _fit(model: Any, rows: list[Path], workers: cluster.Cluster, pending: PendingModel, *, lines: bool) -> None:
    """Fit, and save the model before its cost is settled."""
    from privet.central.private_search import PrivateSearch
    from privet.central.updates.update import fit_files
    from privet.counting.sources import Files

    with workers.executor() as executor, Progress("reading the rows", lines=lines) as progress:
        files = Files(*rows, watch=progress.read)
        # A pattern or folder may hold what is about to be replaced.
        check_output(pending.path, force=True, inputs=files.paths)
        if isinstance(model, PrivateSearch):
            model.fit_and_save(files, save=pending.save)
        else:
            fit_files(model, files, executor=executor, save=pending.save)


def _search(
    tune: str, schema: "Schema", epsilon: float, unit: str, max_rows: int, random_state: int | None, jobs: int
) -> "PrivateSearch":
    """Return the unfitted search among methods."""
    from privet.central.private_search import PrivateSearch

    chosen = {name: options.ModelOptions(method=name, jobs=jobs) for name in tune.split(",")}
    if len(chosen) < 2:
        raise ParameterError(f"--tune {tune!r} leaves nothing to choose; name two methods, such as private-forest,dpdf")
    candidates = {
        name: own.estimator(schema, epsilon=epsilon, random_state=random_state) for name, own in chosen.items()
    }
    return PrivateSearch(candidates, epsilon=epsilon, unit=unit, max_rows=max_rows)


def _only_file(rows: list[Path], workers: cluster.Cluster) -> Path:
    if workers.address is not None:
        raise ParameterError("--dask does not apply to this method, which counts in one process; leave it out")
    if len(rows) > 1:
        raise ParameterError("this method takes one file of answers; put the rows together in one")
    return rows[0]


def _tell(model: Any, method: str, model_file: Path, *, as_json: bool) -> None:
    if as_json:
        output.print_json(_summary(model, method, model_file))
    else:
        _print_summary(model, model_file)


def _say_beforehand(model: Any, schema: "Schema") -> None:
    """Say what the owner should know before anything is spent."""
    _say_leaks(schema)
    if schema.rows is not None and math.isfinite(model.epsilon):
        advise(model.plan(), has_height="height" in model.get_params())


def _say_leaks(schema: "Schema") -> None:
    if schema.leaks:
        output.say(
            "the schema is marked as inferred in places, so the model will give away what was read from the rows; "
            "declare what is public and delete the marks"
        )


def _summary(model: Any, method: str, model_file: Path) -> dict[str, Any]:
    from privet.report.page.counts import not_told_apart, ranked_importances
    from privet.report.page.facts import presenter_for

    presenter = presenter_for(model)
    forest = presenter.forest(model) if presenter else {}
    ledger = {"ledger": ledger_summary(model.ledger)} if model.ledger is not None else {}
    return {
        **ledger,
        "model": str(model_file),
        "method": method,
        "trees": forest.get("trees"),
        "height": getattr(model, "height_", forest.get("height")),
        "guarantee": model.guarantee_.to_json(),
        "importances": dict(ranked_importances(model)),
        **({"not_told_apart": not_told_apart(model)} if hasattr(model, "told_apart_") else {}),
    }


def _print_summary(model: Any, model_file: Path) -> None:
    from privet.report.page.counts import NOT_TOLD_APART, not_told_apart, ranked_importances

    output.print_text(model.guarantee_.sentence)
    output.print_text()
    ranked, doubtful = ranked_importances(model), not_told_apart(model)
    if any(importance > 0 for _, importance in ranked):
        cells = [(name, output.percent(own), NOT_TOLD_APART if name in doubtful else "") for name, own in ranked]
        output.print_table(["attribute", "importance", ""], cells, right=[1])
    else:
        more = "more rows would help" if is_local(model.method) else "a larger epsilon or more rows would help"
        output.print_text(f"No attribute stands out from the noise; {more}.")
    output.print_text()
    kept = "no ledger was kept: further fits on these rows add to what they cost"
    if is_local(model.method):
        kept = f"no budget was touched: {COSTS_NOTHING}"
    output.print_text(kept if model.ledger is None else ledger_sentence(model.ledger))
    output.print_text(f"model: {model_file}")
