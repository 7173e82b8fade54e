"""One model, one file, in the format of the one who will run it."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from privet.errors import ParameterError
from privet.export.portable import json_lines, portable_document
from privet.export.source import javascript_source, python_source
from privet.files.whole_file import whole_bytes

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier


def export_model(model: "PrivateClassifier", path: str | Path, *, format: str) -> None:  # noqa: A002 - pandas' word
    """Write a predictor that needs no privet and answers as ``model`` does.

    Where the model adds up counts, probabilities are equal to the last bit; where it adds up weights, to within what
    libraries differ in the last bits of the exponential function.

    Parameters
    ----------
    model : fitted estimator
        One whose vote is a sum of released counts or weights over its trees.
    path : str or Path
        The file; it is replaced whole or not at all, and gzipped where its name ends in ``.gz``.
    format : {"json", "js", "python", "onnx"}
        ``json`` is the portable document, ``js`` one script for browsers and node, ``python`` one module that needs
        the standard library alone, ``onnx`` a graph for ONNX runtimes (needs ``pip install 'privet[onnx]'``).

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from privet import Numeric, PrivateRDTClassifier, Schema
    >>> schema = Schema([Numeric("age", 0, 100)], classes=["no", "yes"], target="smoker", rows=2)
    >>> model = PrivateRDTClassifier(schema, epsilon=1.0).fit(np.array([[20.0], [60.0]]), ["no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     export_model(model, f"{folder}/smokers.js", format="js")
    ...     print(Path(f"{folder}/smokers.js").read_text().splitlines()[0])
    // A classifier in one file: no libraries, nothing leaves the page.
    """
    if format not in FORMATS:
        raise ParameterError(f"format {format!r} is not known; choose from {', '.join(FORMATS)}")
    data = FORMATS[format](model)
    with whole_bytes(path) as file:
        file.write(data)


def _json(model: "PrivateClassifier") -> bytes:
    return _text("\n".join(json_lines(portable_document(model))) + "\n")


def _javascript(model: "PrivateClassifier") -> bytes:
    return _text(javascript_source(portable_document(model)))


def _python(model: "PrivateClassifier") -> bytes:
    return _text(python_source(portable_document(model)))


def _onnx(model: "PrivateClassifier") -> bytes:
    from privet.export.onnx_graph import onnx_bytes

    return onnx_bytes(model)


def _text(source: str) -> bytes:
    return source.encode("utf-8")


FORMATS: dict[str, Callable[["PrivateClassifier"], bytes]] = {
    "json": _json,
    "js": _javascript,
    "python": _python,
    "onnx": _onnx,
}
