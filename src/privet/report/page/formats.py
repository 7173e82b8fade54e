"""Numbers and names as the report writes them; what belongs to the promise is never rounded in its favour."""

from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal

from privet.privacy.guarantee import rounded_up

# A longer name is cut; a schema may hold thousands of a thousand characters each.
MAX_SHOWN = 72
_SHORT = 7
_MINUS = "\N{MINUS SIGN}"


def shown(value: object, most: int | None = MAX_SHOWN) -> str:
    """Return ``value`` as text without control characters: invisible ones are spelled out, a long text is cut."""
    text = str(value)
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def number(value: float) -> str:
    """Return a number for reading: whole ones with separators, others to three digits."""
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", _MINUS)
    return f"{value:.3g}".replace("-", _MINUS)


def figure(value: object) -> str:
    """Return a single value of an attached document: numbers to four digits, texts as they are."""
    if isinstance(value, float) and not (value.is_integer() and abs(value) < 2**53):
        return f"{value:.4g}".replace("-", _MINUS)
    return f"{value:,.0f}".replace("-", _MINUS) if isinstance(value, (int, float)) else str(value)


def whole(value: float) -> str:
    """Return a number of rows, rounded."""
    return number(round(value))


def exact(epsilon: float) -> str:
    """Return an epsilon to twelve digits, rounded up: it must not look smaller than it is."""
    return rounded_up(float(epsilon))


def percent(share: float) -> str:
    """Return a share in percent to a tenth."""
    return f"{100 * share:.1f} %"


def percent_up(share: float) -> str:
    """Return a share in percent, rounded up to a tenth: 0.7311 is "73.2 %"."""
    return _percent(share, ROUND_CEILING)


def percent_down(share: float) -> str:
    """Return a share in percent, rounded down to a tenth: 0.2689 is "26.8 %"."""
    return _percent(share, ROUND_FLOOR)


def number_up(value: float) -> str:
    """Return a number to three digits, rounded up: e is "2.72"."""
    # The shortest text of a float is the number that was meant: 1.6 is not to become 1.61.
    rounded = Context(prec=3, rounding=ROUND_CEILING).create_decimal(repr(float(value)))
    # Trailing zeros would claim digits that are not there. An exponent is hard to read.
    return f"{rounded.normalize():,f}"


def epsilon_up(epsilon: float) -> str:
    """Return an epsilon in full where it is short, else to three digits and rounded up."""
    full = repr(float(epsilon)).removesuffix(".0")
    return full if len(full) <= _SHORT else number_up(epsilon)


def interval(low: float, high: float) -> str:
    """Return two numbers of rows as an interval."""
    return f"{whole(low)} to {whole(high)}"


def _percent(share: float, rounding: str) -> str:
    tenths = (Decimal(share) * 100).quantize(Decimal("0.1"), rounding=rounding)
    return f"{tenths} %".replace(".0 %", " %")
