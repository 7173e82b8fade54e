"""The binary code of one attribute's values (Szűcs 2013, eqs 5-8).

Values in order of frequency get complementary codes two by two, so that a value and the one that the flipped code
stands for are about equally frequent. The paper prints eq. 8 with odd and even interchanged, which would give
fractions.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from privet.checks import is_whole
from privet.errors import ChannelError, ParameterError, PrivetError
from privet.local.measures.anonymity import binary_anonymity
from privet.schema import Attribute, Categorical, Numeric

# As many as the codes of 65,534 values and a missing one take.
_MAX_BITS = 16


@dataclass(frozen=True)
class AttributeCode:
    """What each value of an attribute is in bits.

    Attributes
    ----------
    attribute : Categorical or Numeric
        Its values, or its cells, are what is coded.
    n_bits : int
        How many bits a value takes.
    shares : tuple of float
        How frequent each value is; one more at the end where a missing value has a code of its own.
    codes : tuple of int
        The code of each value, in the order of ``shares``; the first bit is the highest.
    """

    attribute: Attribute
    n_bits: int
    shares: tuple[float, ...]
    codes: tuple[int, ...]

    @classmethod
    def of(cls, attribute: Attribute, shares: Sequence[float], *, n_bits: int | None = None) -> Self:
        """Return the code for values of these frequencies, by default with the fewest bits that tell them apart."""
        total = math.fsum(shares)
        known = tuple(share / total for share in shares) if total > 0 else (1 / len(shares),) * len(shares)
        bits = max(fewest_bits(len(known)), n_bits or 0)
        order = _by_frequency(known, is_ordered=isinstance(attribute, Numeric))
        candidates = [_with_codes(order, pair_from_the_first(len(known), bits))]
        if len(known) % 2:
            candidates.append(_with_codes(order, pair_from_the_second(len(known), bits)))
        codes = [cls(attribute, bits, known, assigned) for assigned in candidates]
        return max(codes, key=lambda code: code.anonymity(0.5))  # of equal ones the first; theta only shifts both

    @property
    def names(self) -> list[str]:
        """The names of the bits' columns."""
        return [f"{self.attribute.name}:{j}" for j in range(self.n_bits)]

    @cached_property
    def code_of_missing(self) -> int:
        """The code of a missing value: its own, or else that of the most frequent value."""
        n_values = self.attribute.n_values
        return self.codes[n_values if len(self.codes) > n_values else int(np.argmax(self.shares))]

    @cached_property
    def code_of_value(self) -> NDArray[np.int64]:
        """The code of every value and, in the last entry, of a missing one."""
        return np.array([*self.codes[: self.attribute.n_values], self.code_of_missing], dtype=np.int64)

    @cached_property
    def bits_of_value(self) -> NDArray[np.uint8]:
        """The bits of every value and, in the last line, of a missing one."""
        shifts = np.arange(self.n_bits - 1, -1, -1)
        bits: NDArray[np.uint8] = (self.code_of_value[:, None] >> shifts & 1).astype(np.uint8)
        return bits

    def mirror(self, code: int) -> int:
        """Return the code with all bits flipped."""
        return (1 << self.n_bits) - 1 - code

    def pairs(self) -> Iterator[tuple[float, float]]:
        """Yield the shares of a value and of its mirror image, each pair once; an unpaired value's is 0."""
        share_of = dict(zip(self.codes, self.shares, strict=True))
        for code, share in share_of.items():
            other = self.mirror(code)
            if code == other or other not in share_of:  # without a bit, nothing can be flipped
                yield share, 0.0
            elif code < other:
                yield share, share_of[other]

    def anonymity(self, theta: float) -> float:
        """Return the binary anonymity of the attribute by itself."""
        return binary_anonymity(list(self.pairs()), theta)

    def describe(self, theta: float | None = None) -> str:
        """Return a table of every value's code and frequency, as `Coding.describe` puts together."""
        names = [*_value_names(self.attribute), "(missing)"][: len(self.codes)]
        name_of = dict(zip(self.codes, names, strict=True))
        order = np.argsort(-np.array(self.shares), kind="stable")
        lines = [
            (names[i], _binary(self.codes[i], self.n_bits), name_of.get(self.mirror(self.codes[i]), "(none)"),
             f"{self.shares[i]:.4f}")
            for i in order
        ]  # fmt: skip
        table = [("value", "code", "pair", "frequency"), *lines]
        widths = [max(len(line[j]) for line in table) for j in range(4)]
        at = (0.5, 1.0) if theta is None else (theta,)
        anonymity = ", ".join(f"{self.anonymity(t):.3f} at theta {t:g}" for t in at)
        rows = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table
        ]
        return "\n".join([f"{self.attribute.name!r}: {self.n_bits} bits, binary anonymity {anonymity}", *rows])

    def to_json(self) -> dict[str, Any]:
        """Return the code as plain JSON values."""
        return {
            "field": self.attribute.name,
            "bits": self.n_bits,
            "shares": list(self.shares),
            "codes": list(self.codes),
        }

    @classmethod
    def from_json(cls, data: object, attribute: Attribute) -> Self:
        """Read the code of an attribute back; what `to_json` could not have written is an error."""
        if not isinstance(data, Mapping) or data.get("field") != attribute.name:
            raise ChannelError(f"the coding says nothing about {attribute.name!r}; the file is damaged")
        try:
            code = cls(attribute, data["bits"], tuple(data["shares"]), tuple(data["codes"]))
            code._check()
        except (PrivetError, TypeError, KeyError) as error:
            raise ChannelError(f"the code of {attribute.name!r} is damaged; fetch the file again") from error
        if code.to_json() != data:
            raise ChannelError(f"the code of {attribute.name!r} is not as privet writes it; the file was changed")
        return code

    def _check(self) -> None:
        sizes = {self.attribute.n_values, self.attribute.n_codes}
        if not is_whole(self.n_bits) or not 0 <= self.n_bits <= _MAX_BITS + 1 or len(self.codes) not in sizes:
            raise ParameterError("a code has as many entries as values")
        if not all(is_whole(code) and 0 <= code < 2**self.n_bits for code in self.codes):
            raise ParameterError("a code is a whole number of so many bits")
        if len(set(self.codes)) < len(self.codes) or len(self.shares) != len(self.codes):
            raise ParameterError("two values have the same code")
        if not all(isinstance(share, float) and 0 <= share <= 1 for share in self.shares):
            raise ParameterError("a share lies between 0 and 1")


def fewest_bits(n_values: int) -> int:
    """Return how many bits tell so many values apart: eq. 5."""
    return (n_values - 1).bit_length()


def pair_from_the_first(n_values: int, n_bits: int) -> list[int]:
    """Return the codes of values in order of frequency by eq. 7: the 1st is paired with the 2nd, and so on."""
    return [(i - 1) // 2 if i % 2 else 2**n_bits - i // 2 for i in range(1, n_values + 1)]


def pair_from_the_second(n_values: int, n_bits: int) -> list[int]:
    """Return the codes by eq. 8: the 1st value stays alone, the 2nd is paired with the 3rd, and so on."""
    return [2**n_bits - (i + 1) // 2 if i % 2 else i // 2 for i in range(1, n_values + 1)]


def _by_frequency(shares: Sequence[float], *, is_ordered: bool) -> list[int]:
    """Return the values, the most frequent first.

    Of equally frequent ones the first, or where values are ordered the outermost: eq. 7 then counts upwards, and the
    first bit tells the lower half from the upper.
    """
    middle = (len(shares) - 1) / 2 if is_ordered else math.inf
    return sorted(range(len(shares)), key=lambda i: (-shares[i], -abs(i - middle) if is_ordered else i, i))


def _with_codes(order: Sequence[int], codes: Sequence[int]) -> tuple[int, ...]:
    assigned = [0] * len(order)
    for value, code in zip(order, codes, strict=True):
        assigned[value] = code
    return tuple(assigned)


def _value_names(attribute: Attribute) -> list[str]:
    """Return what stands for each value in a text; control characters are spelled out."""
    if isinstance(attribute, Categorical):
        return [repr(category) for category in attribute.categories]
    cuts = [_shortest(cut) for cut in attribute.cuts.tolist()]
    ends = [*(f"{number:.6g}" for number, _ in cuts), f"{attribute.high:.6g}"]
    starts = [f"{attribute.low:.6g}", *(f"above {number:.6g}" if above else f"{number:.6g}" for number, above in cuts)]
    return [f"{start} to {end}" for start, end in zip(starts, ends, strict=True)]


def _shortest(cut: float) -> tuple[float, bool]:
    """Return a cut, or where it is the next number after a shorter one, as quartiles are, that and True."""
    before = float(np.nextafter(cut, -np.inf))
    return (before, True) if len(repr(before)) < len(repr(cut)) else (cut, False)


def _binary(code: int, n_bits: int) -> str:
    return format(code, f"0{n_bits}b") if n_bits else ""
