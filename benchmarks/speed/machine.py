"""What a run was measured on: no host names and no paths."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from benchmarks.peer_environment import DIFFPRIVLIB, INTERPRET

_LIBRARIES = ("privet", "numpy", "numba", "scikit-learn", "scipy", "pyarrow", "opendp", "cryptography")


def described() -> dict[str, str]:
    """Return the machine, the interpreter and the versions, by name."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": f"{_memory_gb():.0f} GB",
        "system": platform.system(),
        "Python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
        "peers": ", ".join([DIFFPRIVLIB[0], INTERPRET]).replace("==", " "),
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
