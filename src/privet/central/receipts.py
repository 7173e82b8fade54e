"""What the receipts of a method look like, so that a file whose receipts do not fit is refused."""

import math
from collections.abc import Sequence

from privet.privacy.accounting import stated_epsilon
from privet.privacy.events import (
    DiscreteLaplace,
    Event,
    Jointly,
    NoNoise,
    Parallel,
    PermuteAndFlip,
    Seeded,
    Sequential,
    Unproven,
    releases,
)
from privet.privacy.unit import Unit
from privet.tree.criteria import Score

ROW_COUNT = "number of rows"
# The choice that ends a trial (private_search.md).
SETTINGS = "method and settings, by right guesses for held-out rows"
_ONE_TRIAL_PART = "is in one part of the trial, by a secret coin"


def unwrapped(receipt: Event) -> Event:
    """Return the release itself, without what says that its noise was seeded or its epsilon is not proven."""
    return unwrapped(receipt.part) if isinstance(receipt, Seeded | Unproven) else receipt


def one_trial_part_each(unit: Unit) -> str:
    """Return why the parts of a trial are disjoint."""
    return f"each {unit.name if unit.column is None else repr(unit.name)} {_ONE_TRIAL_PART}"


def trial_of(event: Event) -> Parallel | None:
    """Return the receipts of the trial that chose a method and settings, or None where there was none."""
    first = event.parts[0] if isinstance(event, Sequential) else None
    return first if isinstance(first, Parallel) and first.because.endswith(_ONE_TRIAL_PART) else None


def after_trial(trial: Event | None, fit: Event) -> Event:
    """Return the receipts of a fit, with those of the trial before it if there was one."""
    return fit if trial is None else Sequential((trial, fit))


def fit_of(event: Event) -> Event:
    """Return the receipts of a fit without those of a trial before it."""
    return event.parts[-1] if isinstance(event, Sequential) and trial_of(event) is not None else event


def is_trial(trial: Parallel, unit: Unit) -> bool:
    """Return whether candidates were fitted to a part each, and one of them chosen by right guesses for the last."""
    *fits, choice = trial.parts
    release = unwrapped(choice)
    if len(fits) < 2 or not isinstance(release, NoNoise | PermuteAndFlip) or release.what != SETTINGS:
        return False
    promised = (len(fits), unit.max_rows, True)
    is_paid = isinstance(release, NoNoise) or (release.candidates, release.sensitivity, release.monotone) == promised
    return is_paid and trial.because == one_trial_part_each(unit)


def in_sequence(event: Event) -> tuple[Event, ...]:
    """Return the releases that looked at the same rows; of a fit after a trial, those of the fit."""
    event = fit_of(event)
    parts = event.parts if isinstance(event, Sequential | Jointly) else (event,)
    return tuple(each for part in parts for each in (part.parts if isinstance(part, Jointly) else (part,)))


def in_parallel(event: Event) -> tuple[Event, ...]:
    """Return the receipts of fits that looked at different rows, without a trial before them."""
    event = fit_of(event)
    return event.parts if isinstance(event, Parallel) else (event,)


def composed(receipts: Sequence[Event], epsilon: float, delta: float, *, first: Sequence[Event] = ()) -> Event:
    """Return the receipt of a fit for ``epsilon``: joint where it was planned with a ``delta`` above 0.

    ``first`` are releases that were paid for before the fit was planned; their cost adds to ``epsilon``.
    """
    if delta == 0 or not math.isfinite(epsilon):
        return Sequential((*first, *receipts))
    whole = Jointly(tuple(receipts), epsilon, delta)
    return Sequential((*first, whole)) if first else whole


def is_count(receipt: Event, *, sensitivity: int) -> bool:
    """Return whether counts were released with noise for this sensitivity, or without any."""
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (isinstance(release, DiscreteLaplace) and release.sensitivity == sensitivity)


def is_choice(receipt: Event, score: Score, *, max_rows: int) -> bool:
    """Return whether a choice was made by this score, or without noise."""
    release = unwrapped(receipt)
    return isinstance(release, NoNoise) or (
        isinstance(release, PermuteAndFlip)
        and release.sensitivity == score.sensitivity * max_rows
        and release.monotone == score.monotone
    )


def is_chosen(receipt: Event) -> bool:
    """Return whether something was chosen by score, with noise."""
    return isinstance(unwrapped(receipt), PermuteAndFlip)


def is_path(receipts: Sequence[Event], score: Score, *, n_trees: int, max_rows: int) -> bool:
    """Return whether levels of counts were released, with a choice a tree between each and the next."""
    counts = receipts[:: n_trees + 1]
    choices = [receipt for i, receipt in enumerate(receipts) if i % (n_trees + 1)]
    return (
        len(receipts) % (n_trees + 1) == 1 % (n_trees + 1)
        and all(is_count(receipt, sensitivity=n_trees * max_rows) for receipt in counts)
        and all(is_choice(receipt, score, max_rows=max_rows) for receipt in choices)
    )


def is_seeded(event: Event) -> bool:
    """Return whether some noise came from a seed."""
    return any(isinstance(release, Seeded) for release in releases(event))


def asked_epsilon(event: Event) -> float:
    """Return the epsilon that a fit was asked for, also where it promises nothing; infinite where it had no noise."""
    return stated_epsilon(_unwrapped_all(event))


def _unwrapped_all(event: Event) -> Event:
    event = unwrapped(event)
    if isinstance(event, Jointly):
        return Jointly(tuple(map(_unwrapped_all, event.parts)), event.epsilon, event.delta)
    if isinstance(event, Sequential):
        return Sequential(tuple(map(_unwrapped_all, event.parts)))
    return Parallel(tuple(map(_unwrapped_all, event.parts)), event.because) if isinstance(event, Parallel) else event
