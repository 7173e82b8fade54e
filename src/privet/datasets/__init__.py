"""Example tables: a generator of people, all final boards of Tic-Tac-Toe, and the UCI tables of the papers."""

from privet.datasets.agrawal import agrawal
from privet.datasets.dataset import Dataset
from privet.datasets.tic_tac_toe import tic_tac_toe
from privet.datasets.uci import UCI_NAMES, uci, uci_folder

__all__ = ["UCI_NAMES", "Dataset", "agrawal", "tic_tac_toe", "uci", "uci_folder"]
