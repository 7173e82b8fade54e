"""The unit of privacy: what two neighbouring tables differ in."""

from dataclasses import dataclass

from privet.checks import check_whole
from privet.errors import ParameterError

ROW = "row"
MAX_ROWS = 1_000_000


@dataclass(frozen=True)
class Unit:
    """A row, or all rows with the same value in the column ``name``; at most ``max_rows`` of them are used."""

    name: str = ROW
    max_rows: int = 1

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError(
                f'unit={self.name!r} must be "row" or the name of the column that says whose row it is'
            )
        # A plain int even if a NumPy integer is given, since machine integers wrap around.
        object.__setattr__(self, "max_rows", check_whole("max_rows", self.max_rows, least=1, most=MAX_ROWS))
        if self.column is None and self.max_rows != 1:
            raise ParameterError(
                f"max_rows={self.max_rows} bounds the rows of a person; name their column with unit, or leave it out"
            )

    @property
    def column(self) -> str | None:
        """The column that identifies a unit; None where each row is one."""
        return None if self.name == ROW else self.name

    @property
    def subject(self) -> str:
        """Subject and verb of the guarantee's sentence."""
        return "any one row was" if self.column is None else f"the rows of any one {self.name!r} were"

    @property
    def neighbours(self) -> str:
        """How two neighbouring tables differ, in words."""
        if self.column is None:
            return "one row more or less"
        used = "the first one is" if self.max_rows == 1 else f"the first {self.max_rows} are"
        return f"all rows of one {self.name!r} more or less, of which {used} used"

    @property
    def one_batch_each(self) -> str:
        """The assumption of parallel composition over batches."""
        return f"no {self.name if self.column is None else repr(self.name)} is in more than one batch"

    @property
    def one_part_each(self) -> str:
        """The assumption of a ledger that composes parts of a data set in parallel."""
        return f"no {self.name if self.column is None else repr(self.name)} is in more than one part of the data set"


EACH_ROW = Unit()
