"""Predict a Parquet file in a process of its own, print the peak of its memory in MB: the child of `memory`."""

import sys

from benchmarks.speed.fit_file import peak_mb
from privet.cli.app import app


def main(model: str, rows: str, predictions: str) -> None:
    try:
        app(["predict", model, rows, "--proba", "--progress", "--jobs", "1", "--output", predictions])
    except SystemExit as done:
        if done.code:
            raise
    print(peak_mb())


if __name__ == "__main__":
    main(*sys.argv[1:])
