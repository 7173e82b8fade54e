"""The paper's people, all nine attributes numbers, and the channels that disturb them.

The factor k of a house's value is the zipcode, 1 to 9; Table 2 prints ten factors for nine zipcodes.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from privet import Channel, GaussianNoise, Numeric, Schema, Secret, UniformNoise, perturb
from privet.datasets import agrawal

NOISES = {"gaussian": GaussianNoise, "uniform": UniformNoise}
SPELLED = {"gaussian": "Gaussian", "uniform": "uniform"}
# Attributes of whole numbers, one cell a value.
_WHOLE = {
    "elevel": Numeric("elevel", -0.5, 4.5, bins=5),
    "car": Numeric("car", 0.5, 20.5, bins=20),
    "zipcode": Numeric("zipcode", 0.5, 9.5, bins=9),
}


class People(NamedTuple):
    """A table and its groups."""

    X: pd.DataFrame
    y: np.ndarray


def schema() -> Schema:
    """Return what is public about the people."""
    drawn = agrawal(1, random_state=0).schema
    attributes = [_WHOLE.get(a.name, a) for a in drawn.attributes]
    return Schema(attributes, classes=drawn.classes, target=drawn.target)


def people(n_rows: int, function: int, seed: int) -> People:
    """Return people of both groups, equally many."""
    data = agrawal(n_rows, function=function, balanced=True, random_state=seed)
    return People(data.X.astype(float), data.y)


def channel(noise: str, privacy: float) -> Channel:
    """Return the channel that hides every value in ``privacy`` of its range, at 95 % confidence."""
    return NOISES[noise](schema(), privacy=privacy).channel


def disturbed(X: pd.DataFrame, through: Channel) -> pd.DataFrame:
    """Return what the people answer; nobody can ask them again."""
    answers: pd.DataFrame = perturb(X, through, Secret())
    return answers
