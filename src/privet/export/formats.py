"""Writes a model to one file, in one of several formats.

A Python or JavaScript file is the code of `predictor.py` or `predictor.js` around a portable document. Names,
categories and the guarantee come from a schema and may be hostile. All embedded text is ASCII without angle brackets or
ampersands, so that it can end neither a comment nor a string nor a script element.
"""

import json
import textwrap
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from privet.errors import ParameterError
from privet.export.portable import json_lines, portable_document
from privet.files.whole_file import whole_bytes

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier

_WIDTH = 116
_HTML_SENSITIVE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}
_DOCUMENT_MARK = '"the portable document"'
_JAVASCRIPT_USE = """\
A classifier in one file: no libraries, nothing leaves the page.
  browser:   load this file by a script tag, then call privet.predict({...})
  node:      const { predict, predictProba } = require("./model.js")
  module:    import "./model.js" sets globalThis.privet in a browser; node also has import { predict } from "./model.js"
predict(row) returns a class, predictProba(row) the probabilities in the order of classes. A row is an object by column
name or an array in the order of attributes. null, undefined, NaN and, unless it is a category, "" are missing."""
_PYTHON_USE = """\
A classifier in one file; it needs Python 3.9 or later and nothing else.
  python model.py rows.csv             predictions as CSV; --proba adds the probabilities
  import model; model.predict(row)     a class; predict_proba(row) the probabilities in the order of classes
A row is a dict by column name or a list in the order of attributes. None, NaN and, unless it is a category, "" are
missing."""
_PYTHON_END = """

_predictor = Predictor.from_json(
{}
)
classes = _predictor.classes
attributes = _predictor.attributes
guarantee = _predictor.guarantee
predict = _predictor.predict
predict_proba = _predictor.predict_proba

if __name__ == "__main__":
    sys.exit(main(_predictor))
"""


def export_model(model: "PrivateClassifier", path: str | Path, *, format: str) -> None:  # noqa: A002 - pandas' word
    """Write a predictor that needs no privet and predicts like ``model``.

    Where the model adds up counts, probabilities are equal to the last bit. Where it adds up weights, they differ as
    much as libraries differ in the last bits of the exponential function.

    Parameters
    ----------
    model : fitted estimator
        A model whose vote is a sum of released counts or weights over its trees.
    path : str or Path
        The file. It is replaced completely or not at all, and compressed if its name ends in ``.gz``.
    format : {"json", "js", "python", "onnx"}
        ``json`` is the portable document, ``js`` one script for browsers and node, ``python`` one module that needs
        only the standard library, ``onnx`` a graph for ONNX runtimes (needs ``pip install 'privet[onnx]'``).

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


def javascript_source(document: dict[str, Any]) -> str:
    """Return a script that predicts by ``document`` in browsers and in node."""
    before, mark, after = _code("predictor.js").partition(_DOCUMENT_MARK)
    if not mark:
        raise AssertionError("predictor.js lacks the mark for its document")
    embedded = _without_html("\n".join(json_lines(document)))
    return f"{_header(document, _JAVASCRIPT_USE, '//')}\n{before}{embedded}{after}"


def python_source(document: dict[str, Any]) -> str:
    """Return a module that predicts by ``document`` and, run as a program, does so for a CSV file."""
    embedded = "\n".join(f"    {line!r}" for line in json_lines(document))
    return f"{_header(document, _PYTHON_USE, '#')}\n{_code('predictor.py')}{_PYTHON_END.format(embedded)}"


def _header(document: dict[str, Any], use: str, comment: str) -> str:
    promise = textwrap.wrap(_plain_ascii(f"Guarantee: {document['guarantee']}"), _WIDTH)
    origin = f"Written by {document['software']}, whose predictor code below is under Apache-2.0."
    return "".join(f"{comment} {line}".rstrip() + "\n" for line in [*use.splitlines(), "", *promise, "", origin])


def _plain_ascii(text: str) -> str:
    """Return ``text`` in ASCII with escapes, so that it stays on the line of its comment."""
    return _without_html(json.dumps(text)[1:-1].replace('\\"', '"'))


def _without_html(text: str) -> str:
    for character, escaped in _HTML_SENSITIVE.items():
        text = text.replace(character, escaped)
    return text


def _code(name: str) -> str:
    return files("privet.export").joinpath(name).read_text(encoding="utf-8")
