"""Fig. 1: DP-RF against Private-RDT, a panel a table."""

from pathlib import Path

from papers.accuracies import Accuracies
from papers.accuracy_panels import BLUE, GREEN, ORANGE, Look, draw_panels
from papers.fletcher2015_dp_rf.accuracy import BUDGETS, DP_RF, MOST_FREQUENT, PRIVATE_RDT, ROOT_C, TABLES
from papers.paper import Results

LOOKS = {
    DP_RF: Look(GREEN, "s"),
    PRIVATE_RDT: Look(BLUE, "o"),
    ROOT_C: Look(ORANGE, "^", "--"),
}


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw the figure, and return its file."""
    accuracies = Accuracies(results["accuracy"], tuple(TABLES), BUDGETS)
    drawn = draw_panels(folder / "figure1.png", accuracies, titles=TABLES, looks=LOOKS, levels={MOST_FREQUENT: ":"})
    return [drawn]
