"""A paper to reproduce: its experiments, its claims, its figures."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import pandas as pd

from papers.claim import Claim, write_claims
from papers.experiment import Experiment, Scale
from papers.workers import Workers
from privet.datasets import uci

# The measured lines of each experiment, by its name.
Results: TypeAlias = Mapping[str, pd.DataFrame]
# Told the experiment's name, and how many of how many cells there are.
Watch: TypeAlias = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Paper:
    """One of the five papers.

    Parameters
    ----------
    name
        Author and year; its folder's name has ``_`` for ``-``.
    title
        What it is about, in a few words.
    experiments
        In the order in which they are run.
    claims
        Returns every claim of the paper beside what was measured.
    draw
        Draws the figures into a folder and returns their files.
    tables
        The UCI tables that it reads.
    """

    name: str
    title: str
    experiments: tuple[Experiment, ...]
    claims: Callable[[Results], Sequence[Claim]]
    draw: Callable[[Results, Path], Sequence[Path]]
    tables: tuple[str, ...] = ()

    def check_tables(self) -> None:
        """Raise `DatasetUnavailable` where a table is missing, before hours are spent on the others."""
        for table in self.tables:
            uci(table)

    def forget(self, folder: Path) -> None:
        """Throw away what has been measured below ``folder``."""
        for experiment in self.experiments:
            experiment.path(folder).unlink(missing_ok=True)

    def run(self, folder: Path, scale: Scale, *, jobs: int = 1, watch: Watch | None = None) -> list[Claim]:
        """Measure what is missing below ``folder``, draw, write and return the table of claims."""
        with Workers(jobs) as workers:
            for experiment in self.experiments:
                own = None if watch is None else partial(watch, experiment.name)
                experiment.run(folder, scale, watch=own, workers=workers)
                experiment.settle(folder)
        return self.judge(folder, scale)

    def judge(self, folder: Path, scale: Scale) -> list[Claim]:
        """Draw the figures and write the table of claims from what has been measured."""
        results = {experiment.name: experiment.read(folder, scale) for experiment in self.experiments}
        self.draw(results, folder)
        claims = list(self.claims(results))
        write_claims(folder, claims, command=f"privet papers run {self.name} --{scale}")
        return claims
