"""What a released model says, for people to read: as text, as plots, and as a page to sign.

`text` writes trees, `plots/` draws them, and `page/` makes the report. All of it is post-processing.
"""

from typing import TYPE_CHECKING

from privet.lazy import lazy_names

if TYPE_CHECKING:
    from privet.report.page.page import write_report as write_report
    from privet.report.plots.plans import plot_answers_plan as plot_answers_plan
    from privet.report.plots.plans import plot_rehearsal as plot_rehearsal
    from privet.report.plots.reconstruction import plot_reconstruction as plot_reconstruction
    from privet.report.plots.reliability import plot_reliability as plot_reliability
    from privet.report.plots.shapes import plot_shapes as plot_shapes
    from privet.report.plots.trees import plot_importances as plot_importances
    from privet.report.plots.trees import plot_tree as plot_tree
    from privet.report.text import export_text as export_text
else:
    _HOMES = {
        "export_text": "privet.report.text",
        "plot_answers_plan": "privet.report.plots.plans",
        "plot_importances": "privet.report.plots.trees",
        "plot_reconstruction": "privet.report.plots.reconstruction",
        "plot_rehearsal": "privet.report.plots.plans",
        "plot_reliability": "privet.report.plots.reliability",
        "plot_shapes": "privet.report.plots.shapes",
        "plot_tree": "privet.report.plots.trees",
        "write_report": "privet.report.page.page",
    }
    __getattr__, __dir__, __all__ = lazy_names(__name__, _HOMES)
