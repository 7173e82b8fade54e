"""Hand-made lines of Figs 5 and 6."""

from itertools import product

import pandas as pd

from papers.agrawal2000.accuracy import ACCURACY, FUNCTIONS, NO_NOISE, ORIGINAL, STRATEGIES, STUMBLING
from papers.agrawal2000.means import Means

PRIVACIES = (0.25, 0.5, 1.0, 2.0)


def lines_of(changed=None, *, original=95.0, privacies=PRIVACIES):
    """Return lines in which everything is 94.0, but Randomized 80.0, and what ``changed`` says by its key."""
    accuracies = {(f, NO_NOISE, 0.0, name): original for f, name in product(FUNCTIONS, (ORIGINAL, STUMBLING))}
    for f, noise, privacy, name in product(FUNCTIONS, ("gaussian", "uniform"), privacies, STRATEGIES):
        accuracies[f, noise, privacy, name] = 80.0 if name == "Randomized" else 94.0
    accuracies |= changed or {}
    rows = [(f, 0, 1_000, noise, p, name, accuracy) for (f, noise, p, name), accuracy in accuracies.items()]
    return pd.DataFrame(rows, columns=list(ACCURACY.header))


def means_of(changed=None, **others):
    return Means(lines_of(changed, **others))
