"""The paper as a whole: what is measured, claimed and drawn."""

from collections.abc import Sequence
from pathlib import Path

from papers.agrawal2000.accuracy import ACCURACY
from papers.agrawal2000.accuracy_claims import accuracy_claims
from papers.agrawal2000.effort import EFFORT
from papers.agrawal2000.hiding import HIDING
from papers.agrawal2000.means import Means
from papers.agrawal2000.pictures import draw_by_function, draw_by_privacy, draw_shapes
from papers.agrawal2000.privacy_claims import privacy_claims
from papers.agrawal2000.settings import OPEN_SETTINGS
from papers.agrawal2000.shape_claims import shape_claims
from papers.agrawal2000.shapes import RECONSTRUCTION
from papers.agrawal2000.tables import write_tables
from papers.claim import Claim
from papers.paper import Paper, Results


def claims(results: Results) -> list[Claim]:
    """Return every claim beside what was measured."""
    means = Means(results[ACCURACY.name])
    return [
        *shape_claims(results[RECONSTRUCTION.name]),
        *accuracy_claims(means, results[OPEN_SETTINGS.name]),
        *privacy_claims(results[HIDING.name], results[EFFORT.name]),
    ]


def draw(results: Results, folder: Path) -> Sequence[Path]:
    """Draw the figures, and write the tables behind two of them."""
    means = Means(results[ACCURACY.name])
    return [
        draw_shapes(results[RECONSTRUCTION.name], folder),
        draw_by_function(means, folder),
        draw_by_privacy(means, folder),
        write_tables(means, folder),
    ]


PAPER = Paper(
    name="agrawal2000",
    title="Trees from values that were disturbed before anyone saw them",
    experiments=(RECONSTRUCTION, ACCURACY, OPEN_SETTINGS, HIDING, EFFORT),
    claims=claims,
    draw=draw,
)
