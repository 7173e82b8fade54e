"""Model files from a folder, loaded and asked for predictions: run with ``NUMBA_BOUNDSCHECK=1``.

Then a kernel that reads outside its arrays raises IndexError. ``python -m tests.hostile.bounds folder`` prints what
became of the files, and whether a tree that nobody checked is caught.
"""

import json
import sys
import traceback
from collections import Counter
from pathlib import Path

import numpy as np

import privet
from privet.errors import PrivetError
from privet.tree import kernels
from tests.contracts.tasks import answers
from tests.hostile.targets import _known, _unknown

_FAR_AWAY = 2**20


def main(folder: Path) -> None:
    counts: Counter[str] = Counter()
    told = ""
    for path in sorted(folder.iterdir()):
        try:
            model = privet.load(path)
            for table in (_unknown(model.schema_, 3), _known(model.schema_)):
                answers(model, table)
            counts["predicted"] += 1
        except PrivetError:
            counts["refused"] += 1
        except Exception:
            counts["violation"] += 1
            told = traceback.format_exc()
    print(json.dumps({"counts": counts, "told": told, "unchecked": _unchecked(folder / "0.privet")}))


def _unchecked(path: Path) -> str:
    """Return what a kernel says to a tree whose first child is far away, fed to it past all checks."""
    vote = privet.load(path)._vote
    words = vote.forest.words.copy()
    words[: vote.forest.n_trees] += np.uint64(_FAR_AWAY)
    codes, out = np.zeros((1, 3), dtype=np.uint8), np.zeros((1, 2))
    try:
        kernels.vote_shares(
            words, vote.roots, vote.forest.depth, vote.forest.multiway, codes.reshape(-1), 3, vote.node_weights,
            vote.otherwise, out,
        )  # fmt: skip
    except IndexError as error:
        return f"IndexError: {error}"
    return "nothing"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
