"""Figs 2-7, a panel a table: once with the paper's methods, once with the sound ones."""

from pathlib import Path

from papers.accuracies import Accuracies
from papers.accuracy_panels import BLACK, BLUE, PURPLE, SKY, VERMILION, Look, draw_panels
from papers.fletcher2015_dpdf.accuracy import (
    BUDGETS,
    FOREST,
    GINI,
    GINI_100,
    N_GINI,
    PAPER_1,
    PAPER_4,
    SOUND_1,
    SOUND_4,
    TABLES,
)
from papers.paper import Results

# A colour for each number of trees; what is not sound is dashed where both forms are shown.
AS_IN_THE_PAPER = {
    PAPER_1: Look(VERMILION, "o"),
    PAPER_4: Look(PURPLE, "s"),
    GINI_100: Look(BLUE, "v"),
    GINI: Look(BLACK, "^"),
}
SOUND = {
    SOUND_1: Look(VERMILION, "o"),
    PAPER_1: Look(VERMILION, "o", "--"),
    SOUND_4: Look(PURPLE, "s"),
    PAPER_4: Look(PURPLE, "s", "--"),
    N_GINI: Look(SKY, "D"),
}


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw both, and return their files."""
    accuracies = Accuracies(results["accuracy"], tuple(TABLES), BUDGETS)
    return [
        draw_panels(folder / file, accuracies, titles=TABLES, looks=looks, levels={FOREST: ":"})
        for file, looks in (("figures2_7.png", AS_IN_THE_PAPER), ("sound_forms.png", SOUND))
    ]
