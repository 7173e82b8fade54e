"""All mean accuracies of Figs 5 and 6, as a page of tables."""

import math
from collections.abc import Iterator
from pathlib import Path

from papers.agrawal2000.accuracy import FUNCTIONS, ORIGINAL, STRATEGIES
from papers.agrawal2000.means import Means
from papers.agrawal2000.people import NOISES

_COLUMNS = (ORIGINAL, *STRATEGIES)


def write_tables(means: Means, folder: Path) -> Path:
    """Write the tables and return their file."""
    path = folder / "tables.md"
    runs = "one run" if means.n_runs == 1 else f"{means.n_runs} runs, with the standard deviation over runs"
    lines = [f"# Accuracy in per cent by function, noise and privacy: {runs}", *_lines(means)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def _lines(means: Means) -> Iterator[str]:
    for noise in NOISES:
        yield f"\n## {noise.capitalize()} noise\n"
        yield f"| function | privacy | {' | '.join(_COLUMNS)} |"
        yield "|---|---:|" + "---:|" * len(_COLUMNS)
        for function in FUNCTIONS:
            for privacy in means.privacies:
                told = " | ".join(_told(means, function, noise, privacy, name) for name in _COLUMNS)
                yield f"| F{function} | {privacy:.0%} | {told} |"


def _told(means: Means, function: int, noise: str, privacy: float, name: str) -> str:
    mean, sd = means.of(function, noise, privacy, name), means.sd(function, noise, privacy, name)
    return f"{mean:.1f}" if math.isnan(sd) else f"{mean:.1f} ± {sd:.1f}"
