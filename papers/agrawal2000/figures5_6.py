"""Figs 5 and 6: accuracy of Original, Randomized, Global, ByClass and Local, by function, noise and privacy.

Run ``python -m papers.agrawal2000.figures5_6``; ten runs take about half an hour on two cores. A cell is written to
``results/accuracy.csv`` once it is measured, and what is found there is not measured again; ``--again`` starts anew.
Tables, pictures and what became of the paper's claims are then made by ``python -m papers.agrawal2000.verdict``.
"""

import argparse
import csv
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import NamedTuple

from papers.agrawal2000.people import NOISES, TEST_ROWS, TRAINING_ROWS, channel, disturbed, people, schema
from privet import ReconstructionTreeClassifier

RESULTS = Path(__file__).with_name("results") / "accuracy.csv"
FUNCTIONS, PRIVACIES, RUNS = (1, 2, 3, 4, 5), (0.25, 0.5, 1.0, 2.0), 10
STRATEGIES = {"Randomized": "none", "Global": "global", "ByClass": "by_class", "Local": "local"}
# A split must gain so much for the paper's Original to stumble on the exclusive or that function 2 buries.
STUMBLING = 3e-4


class Job(NamedTuple):
    """One training table; without noise it is the Original's."""

    function: int
    run: int
    noise: str
    privacy: float


class Score(NamedTuple):
    """The accuracy, in per cent, of one algorithm."""

    function: int
    run: int
    noise: str
    privacy: float
    algorithm: str
    accuracy: float


def jobs(runs: int) -> Iterator[Job]:
    """Yield every training table."""
    for run in range(runs):
        for function in FUNCTIONS:
            yield Job(function, run, "", 0.0)
            for noise in NOISES:
                for privacy in PRIVACIES:
                    yield Job(function, run, noise, privacy)


def measured(job: Job) -> list[Score]:
    """Train every algorithm on one table, and try it on clear rows."""
    seed = 1_000 * job.function + job.run
    train, test = people(TRAINING_ROWS, job.function, seed), people(TEST_ROWS, job.function, 500_000 + seed)
    models = {}
    if not job.noise:
        models["Original"] = ReconstructionTreeClassifier(schema())
        models["Original, least gain"] = ReconstructionTreeClassifier(schema(), min_gain=STUMBLING)
        table = train.X
    else:
        through = channel(job.noise, job.privacy)
        table = disturbed(train.X, through)
        models = {
            name: ReconstructionTreeClassifier(channel=through, strategy=strategy, random_state=job.run)
            for name, strategy in STRATEGIES.items()
        }
    scores = {name: model.fit(table, train.y).score(test.X, test.y) for name, model in models.items()}
    return [Score(*job, name, round(100 * score, 3)) for name, score in scores.items()]


def read(path: Path = RESULTS) -> list[Score]:
    """Return what has been measured."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Score(int(f), int(run), noise, float(privacy), algorithm, float(accuracy))
            for f, run, noise, privacy, algorithm, accuracy in list(csv.reader(file))[1:]
        ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=RUNS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--again", action="store_true")
    asked = parser.parse_args()
    scores = [] if asked.again else read()
    done = {Job(*score[:4]) for score in scores}
    left = [job for job in jobs(asked.runs) if job not in done]
    with ProcessPoolExecutor(asked.jobs) as pool:
        futures = [pool.submit(measured, job) for job in left]
        for i, future in enumerate(as_completed(futures), 1):
            scores += future.result()
            _write(scores)
            print(f"\r{i} of {len(left)} tables", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _write(scores: list[Score]) -> None:
    RESULTS.parent.mkdir(exist_ok=True)
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(Score._fields)
        writer.writerows(sorted(scores))


if __name__ == "__main__":
    main()
