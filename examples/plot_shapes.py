"""What a forest has learnt, with the noise that is known to be in it.

The recommended forest is a sum. So what each attribute does can be drawn by itself: how far it moves the score, and the
band in which noise may have moved it; a curve is dotted where noise hides whether there are rows. Then comes what
several do together beyond that. The pictures are made of released numbers and cost nothing. Here group A is everyone
for whom two thirds of salary and commission are well above a fifth of the loan. The forest has found these three
attributes.
"""

from pathlib import Path

import matplotlib.pyplot as plt

from privet import PrivateForestClassifier
from privet.datasets import agrawal
from privet.report import plot_shapes


def main(picture: Path, n_rows: int = 20_000) -> None:
    """Draw the six strongest effects of a forest."""
    people = agrawal(n_rows, function=4, random_state=0)
    model = PrivateForestClassifier(people.schema, epsilon=0.5).fit(people.X, people.y)
    figure = plot_shapes(model, n_shapes=6)[0].get_figure()
    figure.savefig(picture, dpi=75)
    plt.close(figure)


if __name__ == "__main__":
    main(Path("shapes.png"))
