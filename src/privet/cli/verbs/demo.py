"""``privet demo``: a private forest from beginning to end, on people who never lived."""

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from privet.cli.support import options, output
from privet.cli.support.files import check_output
from privet.files.whole_file import whole_file

if TYPE_CHECKING:
    from privet.datasets import Dataset

_FURTHER_ROWS = 20_000
_WHO_CAN_REPAY = 4
_GUESSING = 0.5
_BAR_WIDTH = 30
_DEFAULT_FILE = Path("privet-demo.privet")


@dataclass(frozen=True)
class _Outcome:
    """The model, how long its fit took, and how well it predicts."""

    model: Any
    seconds: float
    accuracy: float
    accuracy_without_noise: float


def demo(
    rows: Annotated[int, typer.Option("--rows", min=2, help="How many people to invent.")] = 100_000,
    epsilon: Annotated[float, typer.Option("--epsilon", help="What the fit may cost.")] = 1.0,
    model_file: Annotated[
        Path, typer.Option("--output", "-o", help="The model file; a report, a table and its schema go beside it.")
    ] = _DEFAULT_FILE,
    random_state: Annotated[int, typer.Option("--random-state", min=0, help="Fixes people and trees, not noise.")] = 0,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Train on invented people: who can repay a loan? Takes a few seconds and needs no data.

    Files of the default name are the demo's own, and replaced.

    Example:  privet demo --epsilon 0.5
    """
    csv_file, schema_file = model_file.with_suffix(".csv"), model_file.with_suffix(".json")
    report_file = model_file.with_suffix(".html")
    files = [model_file, report_file, csv_file, schema_file]
    for path in files:
        check_output(path, force=force or model_file == _DEFAULT_FILE)
    people, further = _invent(rows, random_state)
    outcome = _train(people, further, epsilon, random_state)
    with output.working("writing the files"):
        from privet.report import write_report

        outcome.model.save(model_file)
        write_report(model_file, report_file)
        further.schema.save(schema_file)
        with whole_file(csv_file) as file:
            further.X.assign(**{further.schema.target: further.y}).to_csv(file, index=False)
    if as_json:
        output.print_json(_summary(outcome, rows, files))
    else:
        _print_outcome(outcome, rows)
        _print_next_steps(*files)


def _invent(rows: int, random_state: int) -> "tuple[Dataset, Dataset]":
    with output.working("inventing people"):
        from privet.datasets import agrawal
        from privet.rng import public_generator

        rng = public_generator(random_state)
        people = agrawal(rows, function=_WHO_CAN_REPAY, balanced=True, random_state=rng)
        return people, agrawal(_FURTHER_ROWS, function=_WHO_CAN_REPAY, balanced=True, random_state=rng)


def _train(people: "Dataset", further: "Dataset", epsilon: float, random_state: int) -> _Outcome:
    chosen = options.ModelOptions(method=options.DEFAULT_METHOD, jobs=-1)

    def unfitted(epsilon: float) -> Any:
        return chosen.estimator(people.schema, epsilon=epsilon, random_state=random_state)

    with output.working("getting ready (the first time this takes a while)"):
        unfitted(epsilon).fit(people.X[:2], people.y[:2])  # compiles, so that the time shown is that of the fit
    with output.working("training"):
        start = time.perf_counter()
        model = unfitted(epsilon).fit(people.X, people.y)
        seconds = time.perf_counter() - start
        exact_model = unfitted(math.inf).fit(people.X, people.y)
    scores = [float(each.score(further.X, further.y)) for each in (model, exact_model)]
    return _Outcome(model, seconds, *scores)


def _summary(outcome: _Outcome, rows: int, files: list[Path]) -> dict[str, Any]:
    from privet.report.page.counts import ranked_importances

    return {
        "rows": rows,
        "seconds": outcome.seconds,
        "accuracy": outcome.accuracy,
        "accuracy_without_noise": outcome.accuracy_without_noise,
        "accuracy_of_guessing": _GUESSING,
        "importances": dict(ranked_importances(outcome.model)),
        "guarantee": outcome.model.guarantee_.to_json(),
        "files": [str(path) for path in files],
    }


def _print_outcome(outcome: _Outcome, rows: int) -> None:
    from privet.report.page.counts import ranked_importances

    model = outcome.model
    output.print_text("Who can repay a loan?", style="bold")
    output.print_text(
        f"A forest was trained on {rows:,} invented people in {outcome.seconds:.2f} s, and tested on "
        f"{_FURTHER_ROWS:,} others."
    )
    output.print_text()
    shares = {
        "guessing": _GUESSING,
        f"with privacy, epsilon = {model.epsilon:g}": outcome.accuracy,
        "the same without noise": outcome.accuracy_without_noise,
    }
    cells = [(name, output.percent(share), output.bar(share, _BAR_WIDTH)) for name, share in shares.items()]
    output.print_table(["accuracy of", "", ""], cells, right=[1])
    output.print_text()
    ranked = [f"{name} ({output.percent(share)})" for name, share in ranked_importances(model)[:3] if share > 0]
    output.print_text(f"What matters most: {', '.join(ranked) or 'nothing stands out from the noise'}")
    output.print_text()
    output.print_text("The promise", style="bold")
    output.print_text(model.guarantee_.sentence)


def _print_next_steps(model_file: Path, report_file: Path, csv_file: Path, schema_file: Path) -> None:
    output.print_text()
    output.print_text(f"The model is in {model_file}; {csv_file} has the {_FURTHER_ROWS:,} others.")
    output.print_text(f"A report to read and sign is in {report_file}: open it in a browser. Try next:")
    output.print_text()
    for line in (
        f"privet predict {model_file} {csv_file} --proba | head",
        f"privet explain {model_file} {csv_file} | head",
        f"privet schema check {schema_file} {csv_file}",
        f"privet evaluate {csv_file} --schema {schema_file} --epsilon 0.01,0.1,1,inf",
    ):
        output.print_text(f"  {line}", style="cyan")
