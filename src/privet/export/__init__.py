"""Models exported as JSON, JavaScript, Python or ONNX, to run without privet. `README.md` describes the document.

`leaf_sums` is what every exported model computes, `portable` the document, `formats` the files, `onnx_graph` the graph.
`pipelines` puts that graph behind the steps of a pipeline that skl2onnx converts, in operators of `onnx_older`.
`predictor.py` and `predictor.js` are copied into exported files, so they must not import privet.
"""

from privet.export.formats import FORMATS, export_model
from privet.export.pipelines import register_converters
from privet.export.portable import portable_document

__all__ = ["FORMATS", "export_model", "portable_document", "register_converters"]
