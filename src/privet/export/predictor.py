"""Predicts from a portable document, with the standard library alone.

An exported Python predictor is this file with a document at its end, so it must run on Python 3.9.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import io
import json
import math
import os
import re
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from itertools import chain, islice
from pathlib import Path
from typing import Any

FORMAT, VERSIONS = "privet-predictor", (1, 2, 3, 4, 5, 6)
LEAF = -1
BAD_DATA, CLOSED_PIPE = 3, 141
TRUTH = {**dict.fromkeys(["true", "True", "TRUE", "1"], True), **dict.fromkeys(["false", "False", "FALSE", "0"], False)}
NUMBER = re.compile(r"[ \t]*[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|nan|inf|infinity)[ \t]*", re.ASCII | re.IGNORECASE)


class Predictor:
    """Predicts rows one by one: a dict by column name, or a list in the order of the attributes."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        self.classes: list[Any] = document["classes"]
        self.attributes: list[dict[str, Any]] = document["attributes"]
        self.guarantee: str = document["guarantee"]
        self._coders = [_coder(attribute) for attribute in self.attributes]
        self._n_trees: int = document["trees"]["count"]
        self._attribute: list[int] = document["trees"]["attribute"]
        self._places = _places(document)
        self._grid: list[int] = [place["grid"] for place in self._places or []]
        self._is_soft = any(grid > 1 for grid in self._grid)
        self._cut, self._leads_to = _trees(self.attributes, document["trees"], self._places)
        self._start, step, shares = _summing(document)
        self._shares = _weighing(shares, document.get("class_weights"))
        flat, n_classes = [weight * step for weight in document["leaf_weights"]], len(self.classes)
        self._weights = [flat[start : start + n_classes] for start in range(0, len(flat), n_classes)]

    @classmethod
    def from_json(cls, text: str) -> Predictor:
        """Read a portable document."""
        document = json.loads(text)
        if document.get("format") != FORMAT or document.get("version") not in VERSIONS:
            raise ValueError("this is not a predictor document of a known version; export the model again")
        return cls(document)

    def predict(self, row: Any) -> Any:
        """Return the most probable class; the first of equally probable ones."""
        shares = self.predict_proba(row)
        return self.classes[shares.index(max(shares))]

    def predict_proba(self, row: Any) -> list[float]:
        """Return the class probabilities, in the order of ``classes``."""
        return self._shares(self._sums(self._codes(row)))

    def _codes(self, row: Any) -> list[int]:
        if isinstance(row, Mapping):
            row = [_value_in(row, attribute["name"]) for attribute in self.attributes]
        if len(row) != len(self.attributes):
            raise ValueError(f"a row needs one value per attribute, {len(self.attributes)} in all")
        return [coder(value) for coder, value in zip(self._coders, row)]  # noqa: B905 - Python 3.9 has no strict

    def _sums(self, codes: list[int]) -> list[float]:
        places = codes
        if self._places is not None:
            places = [place["of_code"][codes[place["attribute"]]] for place in self._places]
        weights_of = self._weights_of_parts if self._is_soft else self._weights_of_leaf
        sums = list(self._start)
        for root in range(self._n_trees):
            for label, weight in enumerate(weights_of(root, places)):
                sums[label] += weight
        return sums

    def _weights_of_leaf(self, node: int, codes: list[int]) -> list[float]:
        attributes, cuts, leads_to = self._attribute, self._cut, self._leads_to
        while (attribute := attributes[node]) != LEAF:
            code, cut = codes[attribute], cuts[node]
            node = leads_to[node] + (code if cut < 0 else code > cut)
        return self._weights[leads_to[node]]

    def _weights_of_parts(self, node: int, places: list[int]) -> list[float]:
        """Return what a row gets that stands between children: a part of each. Parts are binary fractions, so exact."""
        attribute = self._attribute[node]
        if attribute == LEAF:
            return self._weights[self._leads_to[node]]
        child, rest = divmod(places[attribute], self._grid[attribute])
        near = self._weights_of_parts(self._leads_to[node] + child, places)
        if not rest:
            return near
        next_one, part = self._weights_of_parts(self._leads_to[node] + child + 1, places), rest / self._grid[attribute]
        return [(1 - part) * a + part * b for a, b in zip(near, next_one)]  # noqa: B905


def _places(document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return what trees ask for where it is not the attributes; a bit is the place of one of two children."""
    if "bits" in document:
        return [{**bit, "grid": 1, "children": 2} for bit in document["bits"]]
    return document.get("places")


def _summing(document: Mapping[str, Any]) -> tuple[list[float], float, Callable[[list[float]], list[float]]]:
    """Return the start of the sums, the unit of a weight, and the function that turns sums into probabilities."""
    if document.get("kind") == "weights":
        return document["offsets"], document["step"], lambda scores: _chances(scores, document["bend"])
    return [0] * len(document["classes"]), 1, lambda votes: _parts(votes) if any(votes) else list(document["fallback"])


def _weighing(
    shares: Callable[[list[float]], list[float]], weights: list[float] | None
) -> Callable[[list[float]], list[float]]:
    """Return the function with every class's share multiplied by its weight, if classes have weights."""
    if weights is None:
        return shares
    return lambda sums: _parts([share * weight for share, weight in zip(shares(sums), weights)])  # noqa: B905


def _chances(scores: list[float], bend: float) -> list[float]:
    most = max(scores)
    shares = _parts([math.exp(score - most) for score in scores])
    return _parts([share * (1 - bend * share) for share in shares])


def _parts(numbers: list[float]) -> list[float]:
    """Return every number's share of their total."""
    total = 0.0
    for number in numbers:  # sum() rounds differently from Python 3.12 on
        total += number
    return [number / total for number in numbers]


def _trees(
    attributes: list[dict[str, Any]], trees: Mapping[str, Any], places: list[dict[str, Any]] | None
) -> tuple[list[int], list[int]]:
    """Return every node's cut, -1 for none, and its first child, or for a leaf its number among the leaves."""
    if places is not None:
        has_cut, n_children = [False] * len(places), [place["children"] for place in places]
    else:
        has_cut = ["cuts" in a for a in attributes]
        n_children = [len(a["cuts"]) + 2 if "cuts" in a else _cells(a)[-1] + 2 for a in attributes]
    numeric_cuts = iter(trees["cut"])
    cut, leads_to, next_child, next_leaf = [], [], trees["count"], 0
    for attribute in trees["attribute"]:
        cut.append(next(numeric_cuts) if attribute != LEAF and has_cut[attribute] else -1)
        leads_to.append(next_leaf if attribute == LEAF else next_child)
        if attribute == LEAF:
            next_leaf += 1
        else:
            next_child += 2 if cut[-1] >= 0 else n_children[attribute]
    return cut, leads_to


def _value_in(row: Mapping[str, Any], name: str) -> Any:
    if name not in row:
        raise ValueError(f"the row lacks {name!r}; pass None where it is missing")
    return row[name]


def _coder(attribute: Mapping[str, Any]) -> Callable[[Any], int]:
    """Return the function that turns a value into its code."""
    name, kind = attribute["name"], _kind(attribute)
    if "cuts" in attribute:
        cuts = attribute["cuts"]
        return lambda value: _cell(_checked(value, name, float, bools=True), cuts)
    cells = _cells(attribute)
    cell_of = {kind(category): cell for category, cell in zip(attribute["categories"], cells)}  # noqa: B905
    return lambda value: cell_of.get(_checked(value, name, kind), cells[-1] + 1)


def _cells(attribute: Mapping[str, Any]) -> Any:
    """Return the cell of every category. Neighbours may share one."""
    return attribute.get("cells", range(len(attribute["categories"])))


def _kind(attribute: Mapping[str, Any]) -> Any:
    """Return the type in which the values of an attribute are compared."""
    if "cuts" in attribute:
        return float
    first = type(attribute["categories"][0])
    return first if first in (str, bool) else float


def _cell(number: float | None, cuts: list[float]) -> int:
    return len(cuts) + 1 if number is None else bisect_right(cuts, number)


def _checked(value: Any, name: str, kind: Any, *, bools: bool = False) -> Any:
    """Return ``value`` as ``kind``, and None if it is missing. Text is not converted to a number."""
    value = value.item() if hasattr(value, "item") else value  # NumPy's scalars
    if _is_missing(value) or (isinstance(value, str) and not value and kind is not str):
        return None
    if kind is float and hasattr(value, "__float__") and (bools or not isinstance(value, bool)):
        try:
            return float(value)
        except (TypeError, OverflowError):
            raise ValueError(f"{name!r} needs a number that a float can hold; convert it first") from None
    if kind is not float and isinstance(value, kind):
        return value
    needed = {float: "a number", bool: "a bool", str: "text"}[kind]
    raise ValueError(f"{name!r} needs {needed}; convert it first")


def _is_missing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return True


def read_csv(path: str, attributes: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield the rows of a CSV file in the order of ``attributes``; an empty field is a missing value."""
    csv.field_size_limit(2**31 - 1)
    with Path(path).open("rb") as raw, gzip.open(raw) if path.endswith(".gz") else nullcontext(raw) as unpacked:
        lines = csv.reader(io.TextIOWrapper(unpacked, encoding="utf-8-sig", newline=""))
        header = next(lines, [])
        columns = [_column(header, attribute["name"]) for attribute in attributes]
        readers = [_field_reader(attribute) for attribute in attributes]
        for fields in lines:
            if fields and len(fields) != len(header):
                raise ValueError("the lines differ in their number of fields; write the file again")
            if fields:
                yield [read(fields[column]) for column, read in zip(columns, readers)]  # noqa: B905


def _column(header: list[str], name: str) -> int:
    if header.count(name) != 1:
        raise ValueError(f"the first line must name the column {name!r}, once; correct it")
    return header.index(name)


def _field_reader(attribute: Mapping[str, Any]) -> Callable[[str], Any]:
    """Return the function that reads a field as the attribute's values are written."""
    name, kind = attribute["name"], _kind(attribute)

    def read(field: str) -> Any:
        if kind is str or not field:
            return field or None
        if kind is float and NUMBER.fullmatch(field):
            return float(field)
        if kind is bool and field in TRUTH:
            return TRUTH[field]
        needed = "numbers" if kind is float else "true/false"
        raise ValueError(f"column {name!r} holds values that are not {needed}; convert them, or leave the fields empty")

    return read


def main(predictor: Predictor, arguments: list[str] | None = None) -> int:
    """Print the predictions for a CSV file as CSV, and return the exit code."""
    parser = argparse.ArgumentParser(
        description="Predict the class of every row.", epilog=_for_argparse(predictor.guarantee)
    )
    parser.add_argument("rows", help="a .csv or .csv.gz file whose first line names the columns")
    parser.add_argument("--proba", action="store_true", help="one more column a class: its probability")
    options = parser.parse_args(arguments)
    try:
        _print_predictions(predictor, options.rows, proba=options.proba)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader closed the pipe. The rest of the buffer must not fail again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (OSError, EOFError, ValueError, csv.Error) as error:
        print(f"{parser.prog}: {_sentence(error)}", file=sys.stderr)
        return BAD_DATA
    return 0


def _print_predictions(predictor: Predictor, path: str, *, proba: bool) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    rows = read_csv(path, predictor.attributes)
    shares = (predictor.predict_proba(row) for row in rows)
    first = list(islice(shares, 1))  # a file that cannot be read is refused before anything is written
    writer.writerow(["prediction", *([f"P({label})" for label in predictor.classes] if proba else [])])
    for own in chain(first, shares):
        writer.writerow([predictor.classes[own.index(max(own))], *(own if proba else [])])


def _sentence(error: Exception) -> str:
    """Return one line without values of a row, which some of Python's messages quote."""
    if isinstance(error, UnicodeError):
        return "the rows are not UTF-8 text; save them as UTF-8"
    if isinstance(error, OSError) and error.errno:
        return f"cannot read the rows: {os.strerror(error.errno)}; check the path"
    if isinstance(error, (OSError, EOFError, csv.Error)):
        return "the rows cannot be read to their end; write the file again"
    return str(error)


def _for_argparse(text: str) -> str:
    """Return ``text`` for argparse, where a percent sign starts a format."""
    return ascii(text)[1:-1].replace("%", "%%")
