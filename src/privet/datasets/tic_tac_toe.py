"""All boards at which a game of Tic-Tac-Toe can end, found by playing all games.

The same table as UCI's "Tic-Tac-Toe Endgame" (D. Aha, 1991), which lists the boards in another order.
"""

from collections.abc import Iterator

import numpy as np

from privet.datasets.dataset import Dataset
from privet.schema import Categorical, Schema

BLANK = "b"
_EMPTY = BLANK * 9
_SQUARES = tuple(
    f"{row}-{column}-square" for row in ("top", "middle", "bottom") for column in ("left", "middle", "right")
)
_LINES = ((0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6))


def tic_tac_toe() -> Dataset:
    """Return the 958 boards at which a game can end, x moving first, and whether x has won.

    Returns
    -------
    Dataset
        Nine squares, each "x", "o" or "b" for blank, and the labels "positive" where x has three in a row,
        "negative" otherwise.

    Examples
    --------
    >>> tic_tac_toe()
    Dataset('tic-tac-toe', 958 rows, 9 attributes, 2 classes)
    """
    import pandas as pd

    boards = sorted(_final_boards())
    # The size of a complete enumeration is public.
    schema = Schema(
        [Categorical(square, ("x", "o", BLANK)) for square in _SQUARES],
        classes=("positive", "negative"),
        rows=len(boards),
    )
    X = pd.DataFrame([list(board) for board in boards], columns=list(_SQUARES), dtype=object)
    y = np.array(["positive" if _has_won(board, "x") else "negative" for board in boards])
    return Dataset(X=X, y=y, schema=schema, name="tic-tac-toe")


def _final_boards() -> set[str]:
    """Play all games at once, one move at a time. A board that two games reach is kept once."""
    open_boards, final_boards = {_EMPTY}, set[str]()
    for player in "xoxoxoxox":
        reached = {after for board in open_boards for after in _moves(board, player)}
        over = {board for board in reached if _has_won(board, player) or BLANK not in board}
        open_boards, final_boards = reached - over, final_boards | over
    return final_boards


def _moves(board: str, player: str) -> Iterator[str]:
    return (board[:i] + player + board[i + 1 :] for i, mark in enumerate(board) if mark == BLANK)


def _has_won(board: str, player: str) -> bool:
    return any(all(board[i] == player for i in line) for line in _LINES)
