"""Starting up: the CPU seconds of a fresh interpreter that imports privet, and of ``privet --help``.

The interpreter's own start is part of the figure; the note gives the share of the import alone, as ``-X importtime``
has it. The best of five runs, with byte code already compiled. Below them, without a bar: the import that a first fit
needs.
"""

import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.speed import harness

_COMMAND = Path(sys.executable).with_name("privet")


def measure(options: harness.Options) -> list[harness.Bar]:
    del options
    python = [sys.executable, "-X", "importtime", "-c"]
    alone = _import_seconds([*python, "import privet"])
    return [
        _started("import privet", [*python, "import privet"], 0.5, note=f"{harness.seconds(alone)} besides Python"),
        _started("import PrivateRDTClassifier", [*python, "from privet import PrivateRDTClassifier"], None),
        _help(),
    ]


def _started(name: str, command: list[str], target: float | None, note: str = "") -> harness.Bar:
    best = min(_cpu_seconds(command) for _ in range(5))
    return harness.Bar(name, best, target, unit="s", at_least=False, ours=harness.seconds(best), note=note)


def _help() -> harness.Bar:
    command = [str(_COMMAND), "--help"]
    if not _COMMAND.exists() or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        return harness.not_run("privet --help", None, "not applicable yet", unit="s", at_least=False)
    return _started("privet --help", command, None)


def _cpu_seconds(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _import_seconds(command: list[str]) -> float:
    """Return the cumulative time of the last import, the one that was asked for."""
    lines = subprocess.run(command, capture_output=True, check=True, text=True).stderr.splitlines()
    return int(lines[-1].split("|")[1]) / 1e6


if __name__ == "__main__":
    harness.main(measure, __doc__)
