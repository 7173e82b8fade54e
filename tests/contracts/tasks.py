"""One table for all methods: what learns a number gets the positions of the classes, as numbers with bounds."""

from dataclasses import replace

import numpy as np

from privet import Numeric, Schema
from privet.methods import METHODS

OF_CLASSES = [method.name for method in METHODS if method.room == "central" and method.learns == "classes"]
OF_NUMBERS = {method.name for method in METHODS if method.learns == "number"}


def schema_for(name, schema):
    """Return the schema as the method needs it."""
    if name not in OF_NUMBERS:
        return schema
    target = Numeric(schema.target, 0, len(schema.classes) - 1)
    return Schema(schema.attributes, target=target, rows=schema.rows)


def labels_for(name, schema, y):
    """Return the labels as the method needs them; ``schema`` has their classes."""
    if name not in OF_NUMBERS:
        return y
    positions = {label: float(i) for i, label in enumerate(schema.classes)}
    # A label that is none of the classes becomes one that no number is.
    return np.array([positions.get(label, np.nan) for label in np.asarray(y).tolist()])


def data_for(name, data):
    """Return a data set as the method needs it."""
    if name not in OF_NUMBERS:
        return data
    return replace(data, schema=schema_for(name, data.schema), y=labels_for(name, data.schema, data.y))


def answers(model, X):
    """Return what a model says of rows, in numbers: chances of classes, or the number itself."""
    return model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
