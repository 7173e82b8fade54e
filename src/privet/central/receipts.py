"""What the receipts of a method look like, so that a file whose receipts do not fit is refused."""

from privet.privacy.events import DiscreteLaplace, Event, NoNoise, PermuteAndFlip, Seeded, Sequential, Unproven
from privet.tree.criteria import Score


def drawn(receipt: Event) -> Event:
    """Return the release itself, without what says that its noise was seeded or its price is not proven."""
    return drawn(receipt.part) if isinstance(receipt, Seeded | Unproven) else receipt


def in_sequence(event: Event) -> tuple[Event, ...]:
    """Return the releases that looked at the same rows."""
    return event.parts if isinstance(event, Sequential) else (event,)


def is_count(receipt: Event, *, sensitivity: int) -> bool:
    """Return whether counts were released with noise for this sensitivity, or without any."""
    release = drawn(receipt)
    return isinstance(release, NoNoise) or (isinstance(release, DiscreteLaplace) and release.sensitivity == sensitivity)


def is_choice(receipt: Event, score: Score, *, max_rows: int) -> bool:
    """Return whether a choice was made by this score, or without noise."""
    release = drawn(receipt)
    return isinstance(release, NoNoise) or (
        isinstance(release, PermuteAndFlip)
        and release.sensitivity == score.sensitivity * max_rows
        and release.monotone == score.monotone
    )
