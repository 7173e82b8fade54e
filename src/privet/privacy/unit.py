"""The unit of privacy: what one neighbour more or less stands for."""

from dataclasses import dataclass

from privet.checks import check_whole
from privet.errors import ParameterError

ROW = "row"
MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class Unit:
    """A row, or all rows that share a value in the column ``name``, of which at most ``max_rows`` are used."""

    name: str = ROW
    max_rows: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError(
                f'unit={self.name!r} must be "row" or the name of the column that says whose row it is'
            )
        # A plain int, also where NumPy's was given: machine integers wrap around.
        object.__setattr__(self, "max_rows", check_whole("max_rows", self.max_rows, least=1, most=MAX_ROWS))
        if self.column is None and self.max_rows != 1:
            raise ParameterError(
                f"max_rows={self.max_rows} bounds the rows of a person; name their column with unit, or leave it out"
            )

    @property
    def column(self) -> str | None:
        """The column that tells the units apart; None where each row is one."""
        return None if self.name == ROW else self.name

    @property
    def subject(self) -> str:
        """Whose presence the promise is about."""
        return "any one row was" if self.column is None else f"the rows of any one {self.name!r} were"

    @property
    def neighbours(self) -> str:
        """Two tables that must not be told apart."""
        if self.column is None:
            return "one row more or less"
        used = "the first one is" if self.max_rows == 1 else f"the first {self.max_rows} are"
        return f"all rows of one {self.name!r} more or less, of which {used} used"

    @property
    def one_batch_each(self) -> str:
        """What parallel composition over batches assumes."""
        return f"no {self.name if self.column is None else repr(self.name)} is in more than one batch"

    @property
    def one_part_each(self) -> str:
        """What the ledger assumes that counts parts of a data set side by side."""
        return f"no {self.name if self.column is None else repr(self.name)} is in more than one part of the data set"


EACH_ROW = Unit()
