"""The invariants see what they are for: writers and ledgers that are broken on purpose are caught."""

from contextlib import contextmanager
from pathlib import Path

from tests.crashes.campaign import strike
from tests.crashes.commands import named
from tests.crashes.write_points import Points


def writes_in_place(_: Points) -> None:
    from privet.files import whole_file

    @contextmanager
    def in_place(path, **_):
        with Path(path).open("wb") as file:
            yield file

    whole_file.whole_bytes = in_place


def pays_after_the_release(_: Points) -> None:
    from privet.cli.support.files import PendingModel
    from privet.privacy.ledger import Ledger, NoReservation

    save = PendingModel.save

    def save_and_pay(pending, model):
        save(pending, model)
        model.ledger.add(1.0, what="afterwards")

    Ledger.reserve = lambda *_, **__: NoReservation()
    PendingModel.save = save_and_pay


def forgets_what_it_has_released(_: Points) -> None:
    from privet.partitioned import Party

    Party._check_not_spent = lambda *_, **__: None


def leaves_what_killed_writers_left(_: Points) -> None:
    from privet.files import whole_file

    whole_file.remove_unfinished = lambda _: None


def says_nothing_of_what_was_spent(_: Points) -> None:
    from privet.privacy.ledger import reservation

    reservation.COUNTS_AS_SPENT = "something went wrong"


def settles_before_it_saves(_: Points) -> None:
    from privet.privacy.ledger import Reservation

    settle = Reservation.settle

    def settle_first(reservation, event, note, save):
        settle(reservation, event, note)
        save()

    Reservation.settle = settle_first


def records_the_batch_after_it_has_saved(_: Points) -> None:
    from privet.central.released_classifier import ReleasedClassifier
    from privet.central.updates.batches import BatchCheck

    settle, record = ReleasedClassifier._settle, BatchCheck.record

    def settle_and_record(model, event, reservation, call):
        BatchCheck.record = lambda *_: None
        settle(model, event, reservation, call)
        record(call.batch, model)

    ReleasedClassifier._settle = settle_and_record


def caught(name, planted, how, point, **options):
    """Return the violations that are seen where all points of one kind are struck."""
    tally = strike(named(name), [how], beforehand=planted, chosen=lambda _, own, __: own.startswith(point), **options)
    assert tally.cases > 0
    return " ".join(tally.violations)


def test_a_model_written_in_place_is_seen_half_written():
    found = caught("fit", writes_in_place, "killed in the midst of", "write")
    assert "model.privet is neither as it was nor whole" in found


def test_a_ledger_that_pays_after_the_release_is_seen_to_lag_behind():
    found = caught("fit --ledger", pays_after_the_release, "killed after", "rename")
    assert "1 released, 0 spent" in found


def test_a_model_that_is_settled_before_it_is_saved_is_seen_to_be_lost():
    for name in ("fit --ledger", "update --ledger"):
        found = caught(name, settles_before_it_saves, "killed before", "open .*.unfinished")
        assert "a model is on record and nowhere else" in found


def test_an_update_that_is_saved_before_its_batch_is_on_record_is_seen():
    found = caught("update --ledger", records_the_batch_after_it_has_saved, "killed after", "rename")
    assert "a model is there whose batch is not on record" in found


def test_a_party_that_draws_noise_again_unasked_is_seen():
    forgets = forgets_what_it_has_released
    found = caught("party release", forgets, "killed after", "sqlite COMMIT", again=forgets)
    assert "spent a second time unasked" in found


def test_what_is_left_behind_for_good_is_seen():
    leaves = leaves_what_killed_writers_left
    found = caught("fit", leaves, "killed before", "write", again=leaves)
    assert "left behind for good" in found


def test_an_error_that_hides_what_was_spent_is_seen():
    found = caught("fit --ledger", says_nothing_of_what_was_spent, "full disk", "sqlite COMMIT")
    assert "does not say that it is spent" in found
