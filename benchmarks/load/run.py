"""Load: many rows, many fits, many threads, and the time of draws, each in a process of its own.

Without ``--full`` a tenth of the rows, fits and draws or less, printed alone; with it all of them, some 15 minutes on
two cores that are not busy, and the page in ``results``. A step whose result is in ``results/load.json`` is not run
again: ``--anew`` forgets them.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks.load import page
from benchmarks.speed import machine

FOLDER = Path(__file__).parent / "results"
_QUICK = (
    "many_rows private-rdt 1e6", "many_rows private-rdt 1e7", "many_rows private-forest 1e6", "many_fits 1000",
    "many_threads 64", "draw_time 2000",
)  # fmt: skip
_FULL = (
    "many_rows private-rdt 1e6", "many_rows private-rdt 1e8", "many_rows private-forest 1e6",
    "many_rows private-forest 1e8", "many_fits 10000", "many_threads 64", "draw_time 20000",
)  # fmt: skip


def measured(step: str) -> dict[str, Any]:
    """Run one step in a fresh process and return what it found."""
    module, *arguments = step.split()
    command = [sys.executable, "-m", f"benchmarks.load.{module}", *arguments]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found


def run(steps: Iterable[str], file: Path | None) -> dict[str, Any]:
    """Run the steps that ``file`` has no result of; it is written after each of them."""
    results = json.loads(file.read_text(encoding="utf-8")) if file is not None and file.exists() else {}
    for step in steps:
        if step not in results:
            print(f"{step} ...", file=sys.stderr, flush=True)
            results[step] = measured(step)
            if file is not None:
                results["machine"] = machine.described()
                file.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--full", action="store_true", help="all rows, fits and draws, and the page")
    parser.add_argument("--anew", action="store_true", help="with --full: also steps that were measured before")
    given = parser.parse_args()
    if not given.full:
        print(page.text_of(run(_QUICK, None)))
        return
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / "load.json"
    if given.anew:
        file.unlink(missing_ok=True)
    results = run(_FULL, file)
    page.render({step: results[step] for step in (*_FULL, "machine")}, FOLDER)
    print(page.text_of(results))


if __name__ == "__main__":
    main()
