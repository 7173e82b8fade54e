"""All that a person reads of a model."""

import numpy as np
from matplotlib import pyplot as plt

from privet.report import export_text, plot_shapes, plot_tree, write_report


def words_of(model, folder):
    """Return all that a person reads of a model: rules, trees as text, cells of shapes, the report, the pictures."""
    said = list(model.rules()["rule"]) if hasattr(model, "rules") else [str(shape.cells) for shape in model.shapes()]
    write_report(model, folder / "report.html")
    said.append((folder / "report.html").read_text(encoding="utf-8").partition("<script")[0])
    if hasattr(model, "shapes"):
        axes = plot_shapes(model)
    elif hasattr(model, "coding_"):  # its trees ask for bits, and there are rules instead
        axes = []
    else:
        said.append(export_text(model))
        axes = [plot_tree(model)]
    said += [text.get_text() for ax in np.ravel(axes) for text in ax.figure.findobj(plt.Text)]
    plt.close("all")
    return said
