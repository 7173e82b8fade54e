"""Rules and importances, read with their noise.

Methods that release counts have rules: conditions, a prediction, how many rows are behind it and which share of them
agrees, with an interval for both that holds 95 times of 100. A rule with few rows behind it has a wide one: it may be
noise, and says so. Here group A is everyone under 40 or over 60.
"""

import textwrap
from pathlib import Path

import matplotlib.pyplot as plt

from privet import DPDFClassifier
from privet.datasets import agrawal
from privet.report import plot_importances

N_RULES = 8


def main(picture: Path, n_rows: int = 20_000) -> None:
    """Draw what matters to a tree, and how sure its best supported rules are."""
    people = agrawal(n_rows, function=1, random_state=0)
    model = DPDFClassifier(people.schema, epsilon=0.5).fit(people.X, people.y)
    rules = model.rules(merge=True, leaves_only=True).head(N_RULES)
    print(rules[["rule", "support", "confidence"]].to_string())

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), width_ratios=(1, 1.3), layout="constrained")
    plot_importances(model, ax=left)
    draw_rules(right, rules)
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def draw_rules(ax, rules) -> None:
    """Draw the confidence of each rule and its interval, the rule beside it."""
    places = range(len(rules))
    ax.hlines(places, 100 * rules["confidence_low"], 100 * rules["confidence_high"], color="#56B4E9", linewidth=5)
    ax.plot(100 * rules["confidence"], places, "o", color="#0072B2")
    names = [
        textwrap.shorten(f"{support:,} rows: {rule}", 96, placeholder=" ...")
        for rule, support in zip(rules["rule"], rules["support"], strict=True)
    ]
    ax.set_yticks(places, [textwrap.fill(name, 52) for name in names], fontsize=8)
    ax.invert_yaxis()
    ax.set(xlim=(0, 104), xlabel="share of rows that agree, in %")
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(Path("rules.png"))
