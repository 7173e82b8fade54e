"""The environments of the peers that a user can install beside privet and that pin other versions than it does.

They are ``.venv-peers`` and ``.venv-synthetic``, made on the first run.
"""

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# Its forest works with scikit-learn below 1.9, its logistic regression below 1.8.
DIFFPRIVLIB = ["diffprivlib==0.6.6", "scikit-learn<1.8"]
INTERPRET = "interpret-core==0.7.8"
# MST and AIM in NumPy. It pins all it needs, and Python below 3.12.
DPMM = "dpmm==0.1.9"
PEERS, SYNTHETIC = ".venv-peers", ".venv-synthetic"
_ROOT = Path(__file__).parents[1]


def python_with(module: str, requirements: Sequence[str], folder: str = PEERS) -> Path:
    """Return the interpreter of an environment of peers, where ``module`` is installed if it is not there."""
    python = _ROOT / folder / "bin" / "python"
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
    installed = subprocess.run([str(python), "-c", f"import {module}"], capture_output=True, check=False)
    if installed.returncode != 0:
        print(f"installing {' and '.join(requirements)} into {folder}", file=sys.stderr)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return python
