"""Models that run where their users are: as JSON, JavaScript, Python or ONNX, without privet."""

from privet.export.formats import FORMATS, export_model
from privet.export.portable import portable_document

__all__ = ["FORMATS", "export_model", "portable_document"]
