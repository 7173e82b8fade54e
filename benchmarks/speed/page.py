"""The page of one run: ``python -m benchmarks.speed.page`` makes it anew from what the run has written."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.speed import harness, pictures
from benchmarks.speed.curve import HEADER as CURVE_HEADER
from benchmarks.speed.results import FOLDER, Group, Results

README_PICTURE = Path(__file__).parents[2] / "docs" / "images" / "speed.png"

_HOW = """\
Both sides of a ratio are measured in the same run, on one thread, by CPU time, warm, called by turns; the best call
counts. "measured" is how many times faster privet is, unless it has a unit. The libraries compared with are good at
what they do, and most of them promise no privacy: they are here as a measure that people know. `make bench-full` runs
all of this again on your machine and rewrites this page."""
_GROWTH = """\
One factor grows, the others stay. The exponent is the slope of the least-squares line in logarithms, with its standard
error: 1 is linear, 0 flat, and costs that do not grow pull it down. The target is how the algorithm's own work grows,
and a little for caches that end."""


def render(results: Results, folder: Path = FOLDER, readme_picture: Path = README_PICTURE) -> None:
    """Write the page and its pictures."""
    folder.mkdir(parents=True, exist_ok=True)
    pictures.bars(results.bars, folder / "bars.png")
    if results.curves:
        pictures.growth(results.curves, folder / "growth.png")
    pictures.ratios(results.bars, readme_picture)
    (folder / "README.md").write_text(text_of(results), encoding="utf-8")


def text_of(results: Results) -> str:
    """Return the page as Markdown."""
    parts = ["# Speed and memory", _HOW, _summary(results), "![Every bar](bars.png)", _machine(results)]
    parts += ["## Bars", *(_group(group) for group in results.groups)]
    parts += _growth(results)
    parts += ["All numbers: [bars.csv](bars.csv), [growth.csv](growth.csv), [speed.json](speed.json)."]
    return "\n\n".join(parts) + "\n"


def markdown_table(header: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table; bars in a cell do not end it."""
    rows = [header, ["---"] * len(header), *lines]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)


def _summary(results: Results) -> str:
    failing = [bar.cells() for bar in results.bars if bar.verdict == harness.FAILS]
    n_not_run = sum(bar.result is None for bar in results.bars)
    sentences = [f"**{harness.tally(results.bars)}.**"]
    if results.curves:
        holding = sum(curve.verdict == harness.HOLDS for curve in results.curves)
        sentences.append(f"{holding} of {len(results.curves)} growth exponents hold.")
    if failing:
        listed = "; ".join(f"{name}: {result}, target {target}" for name, _, _, result, target, _ in failing)
        sentences.append(f"What does not: {listed}.")
    if n_not_run:
        sentences.append(f"Not run: {n_not_run}.")
    return " ".join(sentences)


def _machine(results: Results) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in results.machine.items())
    return f"Measured by `{results.command}` on: {facts}."


def _group(group: Group) -> str:
    lines = [bar.cells() for bar in group.bars]
    return f"### {group.title}\n\n{group.about.replace('``', '`')}\n\n{markdown_table(harness.HEADER, lines)}"


def _growth(results: Results) -> list[str]:
    if not results.curves:
        return []
    lines = [
        (what, f"{factor} ({curve.fixed})", *rest)
        for curve, (what, factor, *rest) in ((curve, curve.cells()) for curve in results.curves)
    ]
    notes = [f"- {curve.what} over {curve.factor}: {curve.note}" for curve in results.curves if curve.note]
    return [
        "## Growth", _GROWTH, "![Growth of every measure](growth.png)", markdown_table(CURVE_HEADER, lines),
        *(["\n".join(notes)] if notes else []),
    ]  # fmt: skip


if __name__ == "__main__":
    render(Results.load())
