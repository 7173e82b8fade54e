"""The environment of the peers that a user can install beside privet and that pin other versions than it does.

It is ``.venv-peers``, made on the first run.
"""

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# Its forest works with scikit-learn below 1.9, its logistic regression below 1.8.
DIFFPRIVLIB = ["diffprivlib==0.6.6", "scikit-learn<1.8"]
INTERPRET = "interpret-core==0.7.8"
_PYTHON = Path(__file__).parents[1] / ".venv-peers" / "bin" / "python"


def python_with(module: str, requirements: Sequence[str]) -> Path:
    """Return the interpreter of the peers' environment, where ``module`` is installed if it is not there."""
    if not _PYTHON.exists():
        venv.create(_PYTHON.parents[1], with_pip=True)
    installed = subprocess.run([str(_PYTHON), "-c", f"import {module}"], capture_output=True, check=False)
    if installed.returncode != 0:
        print(f"installing {' and '.join(requirements)} into {_PYTHON.parents[1].name}", file=sys.stderr)
        subprocess.run([str(_PYTHON), "-m", "pip", "install", "--quiet", *requirements], check=True)
    return _PYTHON
