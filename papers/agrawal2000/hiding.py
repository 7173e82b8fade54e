"""What "100 % privacy" hides: how unsure one is who knows the answer, and how near a filter of the noise comes."""

from collections.abc import Iterator

from papers.agrawal2000.accuracy import PRIVACIES
from papers.agrawal2000.people import NOISES, channel, schema
from papers.experiment import Experiment, Scale
from papers.workers import Cell
from privet import Numeric
from privet.datasets import agrawal
from privet.local import measure as privacy_of
from privet.local.measures.measures import FieldMeasures

_ROWS = 20_000
# At which the paper measures privacy.
CONFIDENCE = 0.95
# Those without steps or lumps: a posterior entropy is then the width of an interval.
SMOOTH = ("salary", "age", "hvalue", "hyears", "loan")
FINDINGS = ("attribute", "interval", "unsure_before", "unsure_after", "error_without", "error_answer", "error_filtered")


def cells(scale: Scale) -> Iterator[Cell]:
    """Yield both noises at every privacy."""
    for noise in NOISES:
        for privacy in PRIVACIES[scale]:
            yield _ROWS, noise, privacy


def measure(rows: int, noise: str, privacy: float) -> list[tuple[str | float, ...]]:
    """Return each attribute's measures as shares of its range; errors are means of absolute ones."""
    ranges = {a.name: a.high - a.low for a in schema().attributes if isinstance(a, Numeric)}
    found = privacy_of(channel(noise, privacy), agrawal(rows, random_state=0).X.astype(float)).fields
    return [_line(field, ranges[field.field]) for field in found if field.field in SMOOTH]


def _line(field: FieldMeasures, width: float) -> tuple[str | float, ...]:
    unsure, recovered = field.posterior_entropy, field.filtering
    assert field.widths is not None
    assert unsure is not None
    assert recovered is not None
    shares = [part / width for part in (field.widths[CONFIDENCE], unsure.before, unsure.after)]
    errors = [recovered.naive, recovered.answer, min(recovered.linear, recovered.spectral)]
    return field.field, *(round(share, 4) for share in shares + errors)


HIDING = Experiment("hiding", ("rows", "noise", "privacy"), FINDINGS, cells, measure)
