"""``privet evaluate``: how well a forest would predict, and at which price."""

import math
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.progress import Progress
from privet.cli.verbs.local_fit import refuse_local
from privet.errors import ParameterError

if TYPE_CHECKING:
    from privet.cli.support.cross_validation import Fold, Score, Table

_NOTICE = (
    "these scores are computed from the rows without noise, and every fold is a fit that costs its epsilon; "
    "unless the rows are public, the figures must not be published"
)
_ON_CLEAR_ROWS = (
    "folds of them do not tell how well it predicts for clear rows; fit with `privet fit --channel`, and compare what "
    "`privet predict` says of clear test rows"
)
_NO_BETTER = "no better than guessing the majority class; a larger epsilon or more rows may help"
_TALLER = (
    "no better than guessing the majority class; taller or more trees may help (--height, --trees), or a larger epsilon"
)
_UNEVEN = "a class is rarer than the number of folds, so some folds lack it; lower --folds to have it in each"


def evaluate(
    rows: options.RowsFile,
    schema: options.SchemaFile = None,
    epsilon: Annotated[str, typer.Option("--epsilon", help="One price, or several: 0.1,1,inf.")] = "1.0",
    delta: options.Delta = None,
    method: options.Method = options.DEFAULT_METHOD,
    trees: options.Trees = None,
    height: options.Height = None,
    variant: options.Variant = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="Parts of the table; each is tested on once.")] = 10,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="How often, with other parts each time.")] = 1,
    baseline: Annotated[
        bool,
        typer.Option("--baseline", help="Also score scikit-learn's random forest, which promises nothing."),
    ] = False,
    random_state: options.RandomState = None,
    jobs: options.Jobs = -1,
    as_json: options.Json = False,
) -> None:
    """Estimate by cross-validation how well a forest predicts, at one price or at several.

    The scores are exact, so they are for the owner of the rows; publish them only where the rows are public.

    Example:  privet evaluate rows.csv --schema schema.json --epsilon 0.1,1,inf
    """
    refuse_local(method, _ON_CLEAR_ROWS)
    declared = options.load_schema(schema)
    chosen = options.ModelOptions(method, trees, height, jobs, variant=variant, delta=delta)
    prices = _prices(epsilon)
    for price in prices:
        chosen.estimator(declared, epsilon=price, random_state=random_state)  # refuses before any data are read
    from privet.cli.support import cross_validation as cv

    with output.working("reading the rows"):
        table = cv.read_table(rows, declared)
        parts, even = cv.split(table, folds=folds, repeats=repeats, random_state=random_state)
    if not even:
        output.say(_UNEVEN)
    scores = {f"epsilon = {repr(price).removesuffix('.0')}": cv.private_forest(chosen, price) for price in prices}
    scores |= {"random forest, not private": cv.random_forest(jobs)} if baseline else {}
    scores |= {"majority class": cv.majority_guess}
    output.say(_NOTICE)
    results = _run(table, parts, scores)
    if as_json:
        settings = {"method": method, "trees": trees, "height": height, "folds": folds, "repeats": repeats}
        output.print_json({**settings, **_summary(prices, results, baseline=baseline), "notice": _NOTICE})
    else:
        _print_scores(results)
    if _no_better_than_guessing(results, len(prices)):
        output.say(_TALLER if chosen.has_height else _NO_BETTER)


def _no_better_than_guessing(results: dict[str, tuple[float, float]], n_prices: int) -> bool:
    means = [mean for mean, _ in results.values()]
    return max(means[:n_prices]) < means[-1] + 0.01


def _prices(text: str) -> list[float]:
    """Return the epsilons of a list such as 0.1,1,inf."""
    try:
        prices = [float(word) for word in text.split(",")]
    except ValueError:
        raise ParameterError(f"--epsilon {text!r} is not a number or a list such as 0.1,1,inf") from None
    # NaN equals nothing, and is refused later with the other prices that are out of range.
    return list(dict.fromkeys(prices))


def _run(table: "Table", parts: "list[Fold]", scores: "dict[str, Score]") -> dict[str, tuple[float, float]]:
    """Return mean and standard deviation of every score over the folds."""
    results: dict[str, tuple[float, float]] = {}
    with Progress("cross-validation", steps="folds") as progress:
        for name, score in scores.items():
            values: list[float] = []
            for part in parts:
                progress.step(name, len(values), len(parts))
                values.append(score(table, part))
            progress.step(name, len(values), len(parts))
            results[name] = _mean_and_deviation(values)
    return results


def _mean_and_deviation(values: list[float]) -> tuple[float, float]:
    mean = math.fsum(values) / len(values)
    return mean, math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _summary(prices: list[float], results: dict[str, tuple[float, float]], *, baseline: bool) -> dict[str, Any]:
    pairs = [{"accuracy": mean, "standard_deviation": deviation} for mean, deviation in results.values()]
    return {
        "scores": [{"epsilon": price, **pair} for price, pair in zip(prices, pairs[: len(prices)], strict=True)],
        **({"random_forest": pairs[-2]} if baseline else {}),
        "majority_class": pairs[-1],
    }


def _print_scores(results: dict[str, tuple[float, float]]) -> None:
    cells = [(name, output.percent(mean), output.percent(deviation)) for name, (mean, deviation) in results.items()]
    output.print_table(["", "accuracy", "standard deviation over folds"], cells, right=[1, 2])
