"""Does more epsilon ever cost? ``python -m benchmarks.utility.monotone`` measures what is missing and prints a table.

The recommended forest at more epsilons than the page has, on the same splits and with several runs of noise a split, in
the same file. Neighbouring epsilons are compared split by split, each split with the mean of its runs. A step falls
clearly where the score gets worse by more than twice the standard error of that difference.
"""

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from scipy.stats import t as student

from benchmarks.utility import plan
from benchmarks.utility.methods import CEILING, FOREST, MAJORITY
from benchmarks.utility.run import FITS, add_missing, names_of
from benchmarks.utility.splits import TABLES
from benchmarks.utility.store import Cell, Store
from benchmarks.utility.summary import Lead, Place, Summary
from benchmarks.utility.tables import figure, markdown

EPSILONS = (0.1, 0.2, 0.5, 1.0, 2.0, 4.0, 8.0)
_SPLITS, _RUNS = range(5), 5
_FALLS = "▼"


class Shown(NamedTuple):
    """A score of which steps are looked at; ``sign`` is -1 where less is better."""

    name: str
    title: str
    sign: int
    scale: float
    form: str


SCORES = (
    Shown("accuracy", "Accuracy, percent", 1, 100, ".1f"),
    Shown("auc", "AUC", 1, 1, ".3f"),
    Shown("log_loss", "Log loss, nats", -1, 1, ".3f"),
)


class Step(NamedTuple):
    """From one epsilon to the next; the lead is that of the larger, positive where the score gets better."""

    epsilons: tuple[float, float]
    lead: Lead


def cells(tables: Iterable[str] = tuple(TABLES), runs: int = _RUNS) -> list[Cell]:
    """Return every fit that is asked for."""
    asked = plan.cells(tables, [FOREST], _SPLITS, epsilons=EPSILONS, runs=runs)
    return [cell for cell in asked if cell.repeat < plan.repeats_of(cell.table, FOREST)]


def of_forest(summary: Summary) -> Summary:
    """Return the fits on splits that are measured at every epsilon, and those of guessing and without privacy there."""
    prices: dict[tuple[str, int], set[float | None]] = {}
    for cell in summary.results:
        if cell.method == FOREST and cell.repeat in _SPLITS:
            prices.setdefault((cell.table, cell.repeat), set()).add(cell.epsilon)
    asked = {(FOREST, epsilon) for epsilon in EPSILONS} | {(method, None) for method in (MAJORITY, *CEILING)}
    whole = {split for split, found in prices.items() if found >= set(EPSILONS)}
    own = {c: s for c, s in summary.results.items() if (c.method, c.epsilon) in asked and (c.table, c.repeat) in whole}
    return Summary(own)


def measured_tables(summary: Summary) -> list[str]:
    """Return the tables that are measured at every epsilon."""
    return summary.common_tables([FOREST], EPSILONS)


def steps(summary: Summary, table: str, score: Shown = SCORES[0]) -> list[Step]:
    """Return what each step from one epsilon to the next changes on a table."""
    found = []
    for pair in pairwise(EPSILONS):
        lower, upper = (Place(FOREST, table, epsilon) for epsilon in pair)
        lead = summary.difference(upper, lower, score.name)
        found.append(Step(pair, lead if score.sign > 0 else lead.turned))
    return found


def falls(summary: Summary, score: Shown = SCORES[0]) -> list[Step]:
    """Return the steps after which a score is clearly worse, on every table that is measured."""
    every = [step for table in measured_tables(summary) for step in steps(summary, table, score)]
    return [step for step in every if step.lead.turned.is_clear]


def by_chance(summary: Summary) -> float:
    """Return how many steps would fall clearly if no step changed anything: Student's t with its few splits."""
    names = measured_tables(summary)
    splits = [len(_splits(summary, table)) for table in names]
    return sum(float(student.sf(2, n - 1)) * (len(EPSILONS) - 1) for n in splits if n > 1)


def _splits(summary: Summary, table: str) -> set[int]:
    return {cell.repeat for cell in summary.results if (cell.method, cell.table) == (FOREST, table)}


def _runs(summary: Summary) -> str:
    """Return how many runs a split has: one number, or the least and the most."""
    numbers = sorted(set(Counter(cell[:4] for cell in summary.results if cell.method == FOREST).values()))
    return f"{numbers[0]}" if len(numbers) == 1 else f"{numbers[0]} to {numbers[-1]}"


def score_lines(summary: Summary, score: Shown) -> list[list[str]]:
    """Return a line a table: the score at every epsilon, marked where it has clearly fallen since the last."""
    return [_score_line(summary, table, score) for table in measured_tables(summary)]


def _score_line(summary: Summary, table: str, score: Shown) -> list[str]:
    means = [summary.mean(Place(FOREST, table, epsilon), score.name) for epsilon in EPSILONS]
    marks = ["", *(f" {_FALLS}" if step.lead.turned.is_clear else "" for step in steps(summary, table, score))]
    return [table, *(format(score.scale * m, score.form) + mark for m, mark in zip(means, marks, strict=True))]


def fall_lines(summary: Summary) -> list[list[str]]:
    """Return a line for each clear fall of a score."""
    return [_fall_line(step, score) for score in SCORES for step in falls(summary, score)]


def _fall_line(step: Step, score: Shown) -> list[str]:
    change, error = score.sign * score.scale * step.lead.ahead, score.scale * step.lead.error
    prices = " to ".join(f"{epsilon:g}" for epsilon in step.epsilons)
    return [step.lead.place.table, score.title, prices, f"{change:+{score.form}} ± {error:{score.form}}"]


def csv_lines(summary: Summary) -> list[list[str]]:
    """Return a line for each table and epsilon: the scores, and what the step to it from the last changed."""
    own = of_forest(summary)
    header = ["table", "epsilon", "splits", "runs"]
    for score in SCORES:
        header += [score.name, f"{score.name}_change", f"{score.name}_change_error", f"{score.name}_falls"]
    return [header, *(_csv_line(own, table, e) for table in measured_tables(own) for e in range(len(EPSILONS)))]


def _csv_line(summary: Summary, table: str, position: int) -> list[str]:
    place = Place(FOREST, table, EPSILONS[position])
    fits = sum(Place(*cell[:3]) == place for cell in summary.results)
    line = [table, f"{place.epsilon:g}", str(summary.repeats(place)), f"{fits / summary.repeats(place):g}"]
    for score in SCORES:
        line.append(format(summary.mean(place, score.name), ".5f"))
        if not position:
            line += ["", "", ""]
            continue
        lead = steps(summary, table, score)[position - 1].lead
        change = [figure(score.sign * lead.ahead, "+.5f"), figure(lead.error, ".5f")]
        line += [*change, "yes" if lead.turned.is_clear else "no"]
    return line


def section(summary: Summary) -> str:
    """Return the page's section, of the tables that are measured at every epsilon."""
    own = of_forest(summary)
    names = measured_tables(own)
    if not names:
        return "Not measured yet: `make monotone`."
    header = ["table", *(f"{epsilon:g}" for epsilon in EPSILONS)]
    parts = [_sentence(own), "![accuracy over more epsilons](monotone.png)"]
    if lines := fall_lines(own):
        parts.append(markdown(["table", "score", "epsilon", "change"], lines))
    parts += [f"**{score.title}**\n\n{markdown(header, score_lines(own, score))}" for score in SCORES]
    return "\n\n".join(parts)


def _sentence(summary: Summary) -> str:
    names = measured_tables(summary)
    counts = [f"{len(falls(summary, score))} in {score.title.partition(',')[0]}" for score in SCORES]
    n_steps = len(names) * (len(EPSILONS) - 1)
    return (
        f"Of {n_steps} steps on {len(names)} tables (runs of noise on each split: {_runs(summary)}), these get "
        f"clearly worse: {', '.join(counts)}. If no step changed anything, {by_chance(summary):.0f} of each would."
    )


def printed(summary: Summary) -> str:
    """Return what is shown on a terminal."""
    own = of_forest(summary)
    parts = []
    for score in SCORES:
        lines = [[score.title, *(f"{epsilon:g}" for epsilon in EPSILONS)], *score_lines(own, score)]
        parts.append("\n".join(_aligned(line) for line in lines))
    parts += ["\n".join(", ".join(line) for line in fall_lines(own)), _sentence(own)]
    return "\n\n".join(part for part in parts if part)


def _aligned(line: Sequence[str]) -> str:
    # The mark stands behind the figure.
    figures = (text.removesuffix(f" {_FALLS}") for text in line[1:])
    marks = (_FALLS if text.endswith(_FALLS) else " " for text in line[1:])
    return f"{line[0]:26}" + "".join(f"{own:>8}{mark}" for own, mark in zip(figures, marks, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tables", type=names_of(TABLES), default=tuple(TABLES), metavar="A;B")
    parser.add_argument("--runs", type=int, default=_RUNS, metavar="N", help="fits of each split")
    parser.add_argument("--out", type=Path, default=FITS, metavar="FILE", help="where results are found and added")
    given = parser.parse_args()
    store = Store(given.out)
    add_missing(store, cells(given.tables, given.runs))
    print(printed(Summary(store.scores())))


if __name__ == "__main__":
    main()
