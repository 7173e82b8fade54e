"""Predictors as source text: the code of `predictor.js` or `predictor.py` around a portable document.

Names, categories and the guarantee's sentence come from a schema and may be hostile. All text that is embedded is
ASCII without angle brackets or ampersands, so that it can end neither a comment nor a string nor a script element.
"""

import json
import textwrap
from importlib.resources import files
from typing import Any

from privet.export.portable import json_lines

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


def javascript_source(document: dict[str, Any]) -> str:
    """Return a script that predicts by ``document`` in browsers and in node."""
    before, mark, after = _code("predictor.js").partition(_DOCUMENT_MARK)
    if not mark:
        raise AssertionError("predictor.js has lost the place of its document")
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
    """Return ``text`` with all but plain characters spelled out, so that it stays on the comment's line."""
    return _without_html(json.dumps(text)[1:-1].replace('\\"', '"'))


def _without_html(text: str) -> str:
    for character, spelled in _HTML_SENSITIVE.items():
        text = text.replace(character, spelled)
    return text


def _code(name: str) -> str:
    return files("privet.export").joinpath(name).read_text(encoding="utf-8")
