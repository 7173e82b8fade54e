"""Models that run where their users are: as JSON, JavaScript, Python or ONNX, without privet."""

from privet.export.portable import portable_document
from privet.export.write import FORMATS, export_model

__all__ = ["FORMATS", "export_model", "portable_document"]
