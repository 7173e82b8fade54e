"""Disturbed records: how values were spread, and a tree from them.

Nobody is trusted here: noise as wide as the whole range is added to every number before it leaves its owner, and what
arrives says little. How ages were spread can be reconstructed all the same, since the distribution of the noise is
public. Far less can be said about anybody's own age, though whoever filters the noise narrows it down. A tree grown on
reconstructed distributions, class by class, is nearly as good as one from clear records. One that takes the answers as
they are is not.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from privet import ReconstructionTreeClassifier, Secret, UniformNoise, perturb, reconstruct
from privet.datasets import agrawal
from privet.report import plot_reconstruction

NUMBERS = ["salary", "commission", "age", "hvalue", "hyears", "loan"]
STRATEGIES = {"none": "taken as they are", "global": "all together", "by_class": "by class", "local": "at every node"}


def main(picture: Path, n_rows: int = 20_000) -> None:
    """Draw a reconstruction, and the accuracy of trees that use it in different ways."""
    people = agrawal(n_rows, function=1, balanced=True, random_state=0)
    others = agrawal(5_000, function=1, balanced=True, random_state=1)
    channel = UniformNoise(people.schema, privacy=1.0, columns=NUMBERS).channel
    answers = perturb(people.X.assign(person=range(n_rows)), channel, Secret(), person="person")

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    of_group = people.y == "A"
    ages = reconstruct(answers["age"][of_group], channel.columns[people.schema.names.index("age")], bins=20)
    plot_reconstruction(ages, original=people.X["age"][of_group], ax=left)
    left.set_ylabel("share of group A, in %")
    scores = {
        name: ReconstructionTreeClassifier(channel=channel, strategy=strategy).fit(answers, people.y)
        for strategy, name in STRATEGIES.items()
    }
    scores["clear records"] = ReconstructionTreeClassifier(people.schema).fit(people.X, people.y)
    draw_scores(right, {name: 100 * tree.score(others.X, others.y) for name, tree in scores.items()})
    figure.savefig(picture, dpi=90)
    plt.close(figure)


def draw_scores(ax, scores) -> None:
    """Draw the accuracy of each tree as a bar, and guessing as a line."""
    bars = ax.barh(list(scores), list(scores.values()), color=["#0072B2"] * (len(scores) - 1) + ["0.6"])
    ax.bar_label(bars, fmt="%.1f", padding=3)
    ax.axvline(50, color="0.4", linestyle=":")
    ax.invert_yaxis()
    ax.set(xlim=(0, 112), xlabel="accuracy on clear records of other people, in %", title="spreads reconstructed ...")
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main(Path("disturbed.png"))
