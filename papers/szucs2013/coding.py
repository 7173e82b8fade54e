"""Section 3.2: what every attribute is in bits, and what its coding keeps of it."""

from collections.abc import Iterator

from papers.experiment import Experiment, Scale
from papers.szucs2013.split import TRAINING_ROWS, split
from papers.workers import Cell
from privet.local.channels.attribute_code import AttributeCode
from privet.local.measures.anonymity import binary_anonymity
from privet.schema import Numeric

NUMBER, CATEGORY = "number", "category"
FINDINGS = (
    "attribute",
    "kind",
    "values",
    "bits",
    "largest_share",
    "anonymity_at_half",
    "anonymity_at_1",
    "by_eq_7",
    "by_eq_8",
    "by_any",
)
_HALF = 0.5


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield the tables."""
    yield from ((table,) for table in TRAINING_ROWS if scale == "full" or table == "adult")


def measure(table: str) -> list[tuple[str | float, ...]]:
    """Return a line for every attribute.

    Where its values are odd in number, it has the anonymity at theta 1/2 by both equations, and the largest that any
    value left alone would give.
    """
    return [_line(code) for code in split(table).coding.codes]


def _line(code: AttributeCode) -> tuple[str | float, ...]:
    kind = NUMBER if isinstance(code.attribute, Numeric) else CATEGORY
    held = sorted((share for share in code.shares if share > 0), reverse=True)
    alone = [_anonymity(held, alone=place) for place in range(len(held))] if len(held) % 2 else []
    both = (alone[-1], alone[0], max(alone)) if alone else ("", "", "")
    at = (code.anonymity(theta) for theta in (_HALF, 1.0))
    return code.attribute.name, kind, len(held), code.n_bits, round(held[0], 4), *(round(a, 4) for a in at), *both


def _anonymity(shares: list[float], *, alone: int) -> float:
    """Return the anonymity at theta 1/2 where the value at ``alone`` is, and the others are paired in order."""
    others = [*shares[:alone], *shares[alone + 1 :]]
    pairs = [*zip(others[::2], others[1::2], strict=True), (shares[alone], 0.0)]
    return round(binary_anonymity(pairs, _HALF), 4)


CODING = Experiment("coding", ("table",), FINDINGS, cells, measure)
