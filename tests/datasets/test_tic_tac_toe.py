"""The endgames by hand, against a plain twin that plays game by game, and against UCI's table."""

from collections import Counter

import pytest

from privet.datasets import tic_tac_toe


@pytest.fixture(scope="module")
def endgames():
    return tic_tac_toe()


def labelled_boards(data):
    return {("".join(squares), label) for squares, label in zip(data.X.to_numpy(), data.y, strict=True)}


def test_there_are_958_boards_and_x_wins_626(endgames):
    assert endgames.X.shape == (958, 9)
    assert Counter(endgames.y) == {"positive": 626, "negative": 332}
    assert len(labelled_boards(endgames)) == 958


def test_known_boards_have_their_labels_and_impossible_ones_are_absent(endgames):
    boards = dict(labelled_boards(endgames))
    assert boards["xxxoobbbb"] == "positive"
    assert boards["xxbooobbx"] == "negative"
    assert boards["xoxxoooxx"] == "negative"  # a full board, nobody has won
    assert boards["xxxxooxoo"] == "positive"  # two lines closed by the last move
    for impossible in ("bbbbbbbbb", "xxxooobbb", "xxxoobobb", "ooobbbxxb", "xoxoxobbb"):
        assert impossible not in boards


def play(board=("b",) * 9, turn="x"):
    """Play every game to its end, one after the other, and yield the last board and its label."""
    lines = [board[i : i + 3] for i in (0, 3, 6)] + [board[i::3] for i in range(3)] + [board[::4], board[2:7:2]]
    if ("x",) * 3 in lines or ("o",) * 3 in lines or "b" not in board:
        yield "".join(board), "positive" if ("x",) * 3 in lines else "negative"
        return
    for i in range(9):
        if board[i] == "b":
            yield from play((*board[:i], turn, *board[i + 1 :]), "o" if turn == "x" else "x")


def test_boards_agree_with_playing_all_255168_games(endgames):
    games = list(play())
    assert len(games) == 255_168
    assert set(games) == labelled_boards(endgames)


def test_text_stays_plain_text(endgames):
    assert set(endgames.X.dtypes.map(str)) == {"object"}
    assert set(endgames.X.to_numpy().ravel()) == {"x", "o", "b"}


@pytest.mark.real_data
def test_the_boards_are_those_of_uci(endgames, uci_table):
    assert labelled_boards(uci_table("tic-tac-toe")) == labelled_boards(endgames)


@pytest.mark.real_data
def test_the_schema_is_that_of_uci(endgames, uci_table):
    assert uci_table("tic-tac-toe").schema == endgames.schema
