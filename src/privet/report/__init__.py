"""What a released model says, for people to read: trees and shapes as text and pictures, and the guarantee page."""

from privet.report.page.page import write_report
from privet.report.plots.plot import plot_importances, plot_tree
from privet.report.plots.reconstruction_plot import plot_reconstruction
from privet.report.plots.reliability import plot_reliability
from privet.report.plots.shape_plot import plot_shapes
from privet.report.text import export_text

__all__ = [
    "export_text",
    "plot_importances",
    "plot_reconstruction",
    "plot_reliability",
    "plot_shapes",
    "plot_tree",
    "write_report",
]
