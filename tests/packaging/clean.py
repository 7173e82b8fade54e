"""The wheel in a clean environment: how large it is, how long it takes, and what runs there."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

VERSIONS = ("3.11", "3.12", "3.13", "3.14")
FIT = """
import numpy as np
from privet import Numeric, PrivateForestClassifier, Schema
schema = Schema([Numeric(f"x{j}", 0, 1) for j in range(4)], classes=[0, 1], target="y", rows=2000)
X = np.random.default_rng(0).uniform(size=(2000, 4))
y = (X[:, 0] + X[:, 1] > 1).astype(int)
print(PrivateForestClassifier(schema, epsilon=2.0).fit(X, y).score(X, y))
"""
_MEGABYTE = 10**6


class Seconds(NamedTuple):
    """How long other processes took, on the clock and of the processors: on a busy machine these differ much."""

    clock: float
    processors: float

    @classmethod
    def of(cls, work: Callable[[], object]) -> "Seconds":
        """Measure some work that other processes do."""
        before = os.times()
        work()
        after = os.times()
        spent = after.children_user - before.children_user, after.children_system - before.children_system
        return cls(after.elapsed - before.elapsed, sum(spent))

    def __str__(self) -> str:
        return f"{self.clock:.0f} s ({self.processors:.0f} s of processors)"


@dataclass(frozen=True)
class Clean:
    """An environment that holds the wheel, what it needs, and pip."""

    folder: Path
    seconds: Seconds

    @classmethod
    def of(cls, python: str, folder: Path, wheel: Path) -> "Clean":
        """Make the environment, and install the wheel with pip as a user does."""
        run([python, "-m", "venv", folder], folder.parent)
        install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel]
        done: list[subprocess.CompletedProcess[str]] = []
        seconds = Seconds.of(lambda: done.append(run(install, folder.parent)))
        assert done[0].returncode == 0, done[0].stderr
        return cls(folder, seconds)

    def run(self, program: str, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a program of the environment in a folder of its own."""
        place = self.folder / "work"
        place.mkdir(exist_ok=True)
        return run([self.folder / "bin" / program, *words], place)

    @property
    def packages(self) -> set[str]:
        """The names of what was installed beside pip."""
        listed = json.loads(self.run("python", "-m", "pip", "list", "--format=json").stdout)
        return {package["name"].lower() for package in listed} - {"pip", "setuptools"}

    @property
    def megabytes(self) -> int:
        """What the packages take on the disk, pip and setuptools left out."""
        [folder] = self.folder.glob("lib/python3*/site-packages")
        files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
        own = (path for path in files if path.relative_to(folder).parts[0].split("-")[0] not in ("pip", "setuptools"))
        return sum(path.stat().st_size for path in own) // _MEGABYTE

    def fit(self) -> float:
        """Fit in a fresh process, and return the share that it predicts right."""
        return float(self.run("python", "-c", FIT).stdout)


def pythons() -> dict[str, str]:
    """Return an interpreter of each version that is here, on the path or in pyenv's folder."""
    found = {}
    for version in VERSIONS:
        named = shutil.which(f"python{version}")
        at = sorted(Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")).glob(f"versions/{version}.*/bin/python"))
        for python in [named, *map(str, at)]:
            if python is not None and is_whole(python, version):
                found[version] = python
                break
    return found


def is_whole(python: str, version: str) -> bool:
    """Return whether an interpreter starts, is of a version, and makes environments: shims and Debian's may not."""
    program = f"import sys, ensurepip; sys.exit('%d.%d' % sys.version_info[:2] != {version!r})"
    return subprocess.run([python, "-c", program], capture_output=True, check=False).returncode == 0


def run(words: list[str | Path], place: Path) -> subprocess.CompletedProcess[str]:
    """Run a program that knows nothing of the environment of the tests."""
    kept = {name: value for name, value in os.environ.items() if not re.match("PYTHON|VIRTUAL_ENV|_PRIVET", name)}
    return subprocess.run(list(map(str, words)), cwd=place, env=kept, capture_output=True, text=True, check=False)
