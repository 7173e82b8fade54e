"""What a released model says, for people to read: trees as text and pictures, and the guarantee page."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from privet.report.page import write_report
    from privet.report.plot import plot_importances, plot_tree
    from privet.report.text import export_text

# Imported on first use: pictures need matplotlib.
_HOMES = {
    "export_text": "privet.report.text",
    "plot_importances": "privet.report.plot",
    "plot_tree": "privet.report.plot",
    "write_report": "privet.report.page",
}

__all__ = ["export_text", "plot_importances", "plot_tree", "write_report"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'privet.report' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
