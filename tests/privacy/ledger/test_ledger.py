"""Budgets, reservations, and what becomes of them."""

import copy
import pickle
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from sklearn.base import clone

from privet import Ledger
from privet.errors import BudgetExceeded, LedgerError, ParameterError
from privet.privacy.events import DiscreteLaplace
from privet.privacy.ledger import Cost
from privet.privacy.ledger.account import names_alike
from privet.privacy.ledger.ledger_file import LedgerFile
from privet.rng import SystemNoise


def receipt(epsilon):
    return DiscreteLaplace("counts", epsilon, 1, Fraction(1) / Fraction(epsilon))


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db", dataset="patients", epsilon=1.0)


def states(ledger):
    return [spending.state for spending in ledger.account().spendings]


def reserve(ledger, epsilon, **note):
    return ledger.reserve(Cost(epsilon), method="private-rdt", what="fit", **note)


def test_a_reservation_counts_from_the_start_and_after_settling_at_what_it_cost(ledger):
    reservation = reserve(ledger, 0.5)
    assert (ledger.spent, ledger.left) == (0.5, 0.5)
    reservation.settle(receipt(0.25), lambda: {"model": "abc"})
    assert (ledger.spent, ledger.left) == (0.25, 0.75)
    (spending,) = ledger.account().spendings
    assert spending.ended.body["model"] == "abc"
    assert spending.ended.body["event"]["event"] == "DiscreteLaplace"


def test_a_reservation_that_nothing_more_was_heard_of_stays_spent(ledger):
    reserve(ledger, 0.5)
    assert states(ledger) == ["reserved"]
    assert Ledger(ledger.path, dataset="patients").spent == 0.5


def test_asking_for_more_than_is_left_is_refused_with_both_numbers(ledger):
    reserve(ledger, 0.75)
    with pytest.raises(
        BudgetExceeded, match=r"costs epsilon=0.5, but 0.25 is left of the budget of 'patients'"
    ) as caught:
        reserve(ledger, 0.5)
    assert (caught.value.asked, caught.value.left, caught.value.dataset) == (0.5, 0.25, "patients")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.asked, again.left, str(again)) == (0.5, 0.25, str(caught.value))
    reserve(ledger, 0.25)
    with pytest.raises(BudgetExceeded, match="use a model that was released already"):
        reserve(ledger, 1e-6)


def test_a_failure_before_the_first_secret_bit_gives_the_cost_back_and_is_recorded(ledger):
    with pytest.raises(KeyboardInterrupt), reserve(ledger, 0.5) as reservation:
        reservation.watch(SystemNoise())
        raise KeyboardInterrupt
    assert ledger.spent == 0.0
    (spending,) = ledger.account().spendings
    assert (spending.state, spending.ended.body["because"]) == ("withdrawn", "KeyboardInterrupt")


def test_a_failure_after_the_first_secret_bit_counts_as_spent(ledger):
    with pytest.raises(MemoryError), reserve(ledger, 0.5) as reservation:
        noise = reservation.watch(SystemNoise())
        assert noise.secure
        assert noise.words(3).dtype == np.uint32
        raise MemoryError
    assert (ledger.spent, states(ledger)) == (0.5, ["reserved"])


def test_a_release_dearer_than_its_reservation_is_withheld(ledger):
    with pytest.raises(LedgerError, match="cost more than was reserved"), reserve(ledger, 0.5) as reservation:
        reservation.settle(receipt(0.75))
    assert (ledger.spent, states(ledger)) == (0.5, ["reserved"])


def test_a_reservation_is_settled_once(ledger):
    reservation = reserve(ledger, 0.5)
    reservation.settle(receipt(0.5))
    with pytest.raises(LedgerError, match="this reservation is closed"):
        reservation.settle(receipt(0.5))
    assert ledger.spent == 0.5


def test_a_copy_of_a_closed_reservation_saves_no_second_model(ledger):
    reservation, saved = reserve(ledger, 0.5), []
    copied = copy.copy(reservation)
    reservation.settle(receipt(0.5), save=lambda: saved.append("first"))
    with pytest.raises(LedgerError, match="this reservation is closed") as refusal:
        copied.settle(receipt(0.5), save=lambda: saved.append("second"))
    assert refusal.value.__notes__ == ["the model is withheld"]
    assert (saved, ledger.spent, states(ledger)) == (["first"], 0.5, ["settled"])


def test_a_model_is_withheld_where_its_reservation_is_no_longer_in_the_file(ledger):
    older, saved = ledger.path.read_bytes(), []
    reservation = reserve(ledger, 0.5)
    ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match="is no longer the file it was"):
        reservation.settle(receipt(0.5), save=lambda: saved.append("model"))
    assert saved == []


def test_a_copy_of_a_reservation_cannot_undo_what_was_settled(ledger):
    reservation = reserve(ledger, 0.5)
    copied = copy.copy(reservation)
    reservation.settle(receipt(0.5))
    with pytest.raises(ZeroDivisionError), copied:
        raise ZeroDivisionError
    assert (ledger.spent, states(ledger)) == (0.5, ["settled"])


def test_a_forked_process_gives_nothing_back(ledger, monkeypatch):
    reservation = reserve(ledger, 0.5)
    monkeypatch.setattr("privet.privacy.ledger.reservation.os.getpid", lambda: -1)
    with pytest.raises(ZeroDivisionError), reservation:
        raise ZeroDivisionError
    assert states(ledger) == ["reserved"]


def test_a_withdrawn_reservation_cannot_be_settled(ledger):
    reservation = reserve(ledger, 0.5)
    copied = copy.copy(reservation)
    with pytest.raises(ZeroDivisionError), copied:
        raise ZeroDivisionError
    with pytest.raises(LedgerError, match="this reservation is closed"):
        reservation.settle(receipt(0.5))


def test_what_an_account_hands_out_cannot_change_what_was_spent(ledger):
    reserve(ledger, 0.5).settle(receipt(0.5), lambda: {"leaks": ["the schema"]})
    reserve(ledger, 0.5)
    for spending in ledger.account().spendings:
        for entry in filter(None, (spending.begun, spending.ended)):
            with pytest.raises(TypeError, match="does not support item assignment"):
                entry.body["epsilon"] = 0.0
    (settled, _) = ledger.account().spendings
    with pytest.raises(TypeError, match="does not support item assignment"):
        settled.ended.body["event"]["epsilon"] = 0.0
    settled.to_json()["leaks"].clear()
    assert ledger.account().to_json()["releases"][0]["leaks"] == ["the schema"]
    with pytest.raises(BudgetExceeded, match="0.0 is left"):
        reserve(ledger, 0.5)
    assert Ledger(ledger.path, dataset="patients").spent == 1.0


@pytest.mark.parametrize("read", [LedgerFile.entries, LedgerFile.last_read.fget])
def test_the_entries_that_were_read_cannot_be_taken_out(ledger, read):
    reserve(ledger, 1.0)
    assert isinstance(read(ledger.file), tuple)
    with pytest.raises(TypeError, match="vars"):
        vars(read(ledger.file)[-1])


def test_a_note_cannot_change_what_is_charged_or_where(ledger):
    ledger.reserve(Cost(0.5), method="private-rdt", what="fit", epsilon=0.0, dataset="elsewhere", part="other")
    assert ledger.spent == 0.5


def test_a_note_cannot_say_what_a_release_costs_through_rho(tmp_path):
    ledger = Ledger(tmp_path / "other.db", dataset="patients", epsilon=1.0, delta=1e-6)
    reservation = ledger.reserve(Cost(0.5), rho=0.0)
    assert ledger.spent == 0.5
    reservation.settle(receipt(0.5), lambda: {"rho": 0.0})
    assert ledger.spent == 0.5


def test_a_reservation_needs_no_note(ledger):
    ledger.reserve(Cost(0.5)).settle(receipt(0.5))
    assert ledger.left == 0.5
    [release] = ledger.account().to_json()["releases"]
    assert (release["what"], release["method"], release["state"]) == ("release", "not named", "settled")


@pytest.mark.parametrize(
    "note",
    [
        {"model": 5},
        {"what": "half\ud800"},
        {"method": None},
        {"remark": {"nested": "half\udfff"}},
        {"remark": float("nan")},
        {"remark": {1: "a", "1": "b"}},
        {"remark": {1: "a", "b": "c"}},
        {"remark": b"bytes"},
        {"remark": np.int64(5)},
    ],
    ids=str,
)
def test_what_could_not_be_read_again_is_not_written(ledger, note):
    before = ledger.path.read_bytes()
    with pytest.raises(LedgerError, match="cannot read again, and was not written; note plain JSON values only"):
        ledger.reserve(Cost(0.5), **note)
    assert ledger.path.read_bytes() == before
    assert ledger.left == 1.0


def test_a_release_whose_note_cannot_be_read_again_counts_as_spent(ledger):
    with pytest.raises(LedgerError, match="an entry of the kind 'settled'"), reserve(ledger, 0.5) as reservation:
        reservation.settle(receipt(0.25), lambda: {"leaks": "none"})
    assert (ledger.spent, states(ledger)) == (0.5, ["reserved"])


def test_the_largest_amounts_are_read_again(tmp_path):
    ledger = Ledger(tmp_path / "other.db", dataset="patients", epsilon=1e300, delta=1e-6)
    for amount in (1e300, float("inf")):
        ledger.add(amount, what="a table", already_released=True)
        assert (ledger.spent, ledger.left) == (amount, 0.0)
    with pytest.raises(ParameterError, match=r"epsilon=1e\+305 is no amount"):
        ledger.add(1e305, what="a table", already_released=True)
    assert len(states(ledger)) == 2


def test_an_infinite_rho_is_no_cost():
    with pytest.raises(ParameterError, match="rho finite or, if not known, None"):
        Cost(1.0, 0.0, float("inf"))


def test_an_older_copy_put_back_is_noticed_by_a_ledger_that_saw_the_newer(ledger):
    older = ledger.path.read_bytes()
    reserve(ledger, 0.5)  # and nothing is read before the copy is put back
    pickled = pickle.dumps(ledger)
    ledger.path.write_bytes(older)
    with pytest.raises(LedgerError, match="is no longer the file it was: an older copy was put back"):
        reserve(ledger, 0.5)
    with pytest.raises(LedgerError, match="is no longer the file it was"):
        pickle.loads(pickled)


def test_names_that_look_alike_are_one(ledger):
    for part in ("2024", "2024 ", "\uff12\uff10\uff12\uff14"):
        reserve(ledger.for_part(part), 0.25)
    assert ledger.spent == 0.75


@pytest.mark.parametrize(
    "other", ["Patients", "\u0440\u0430tients", "\uff30atients", "PATIENTS", "p\u0430tients"], ids=ascii
)
def test_an_account_that_looks_like_another_is_not_opened(ledger, other):
    sentence = (
        "the ledger has an account called 'patients', which looks like .*, and each would have a budget of its own"
    )
    with pytest.raises(LedgerError, match=sentence):
        Ledger(ledger.path, dataset=other, epsilon=1.0)
    with pytest.raises(LedgerError, match="did you mean 'patients'"):
        Ledger(ledger.path, dataset=other)


def test_a_part_that_looks_like_another_is_not_spent_on(ledger):
    reserve(ledger.for_part("march"), 0.5)
    with pytest.raises(LedgerError, match="the ledger has a part called 'march', which looks like 'MARCH'"):
        reserve(ledger.for_part("MARCH"), 0.5)
    reserve(ledger.for_part("march"), 0.5)


def with_entries(path, *bodies):
    """Write into a ledger what an earlier privet let pass."""
    with LedgerFile(path).transaction() as transaction:
        for kind, body in bodies:
            transaction.append(kind, body)


def test_accounts_and_parts_that_look_alike_from_before_are_used_by_their_own_names(ledger):
    budget = {"dataset": "Patients", "epsilon": 2.0, "delta": 0.0, "unit": "row"}
    spent = {"epsilon": 0.5, "delta": 0.0, "part": "March", "what": "fit", "method": "private-rdt"}
    with_entries(
        ledger.path, ("budget", budget), ("added", {**spent, "dataset": "patients"}),
        ("added", {**spent, "dataset": "patients", "part": "march"}),
    )  # fmt: skip
    assert Ledger(ledger.path, dataset="Patients", epsilon=2.0).left == 2.0
    for part in ("march", "March"):
        reserve(ledger.for_part(part), 0.5)
    assert names_alike(["patients", "visits", "Patients"]) == [["patients", "Patients"]]


def person_ledger(tmp_path, **more):
    return Ledger(tmp_path / "people.db", dataset="visits", epsilon=1.0, unit="pid", **more)


def test_a_part_of_an_account_of_people_takes_the_statement_that_none_is_in_two(tmp_path):
    ledger = person_ledger(tmp_path)
    for spend in (
        lambda part: part.reserve(Cost(0.5), unit="pid"),
        lambda part: part.add(0.5, what="a table"),
        lambda part: part.add(5.0, what="a table", already_released=True),
    ):
        with pytest.raises(
            LedgerError, match="protects each pid, and people may be in several parts: if none is in two"
        ):
            spend(ledger.for_part("march"))
    assert states(ledger) == []
    for month in ("january", "march"):
        ledger.for_part(month, no_person_in_two_parts=True).reserve(Cost(0.75), unit="pid")
    assert ledger.spent == 0.75
    assert [each.begun.body["no_person_in_two_parts"] for each in ledger.account().spendings] == [True, True]
    assert ledger.account().unstated_parts == []


def test_the_statement_survives_pickling_and_is_said_of_a_part(tmp_path):
    march = person_ledger(tmp_path).for_part("march", no_person_in_two_parts=True)
    pickle.loads(pickle.dumps(march)).reserve(Cost(0.5), unit="pid")
    assert copy.deepcopy(march).spent == 0.5
    with pytest.raises(ParameterError, match="no_person_in_two_parts is said of a part; name it with part"):
        person_ledger(tmp_path, no_person_in_two_parts=True)


def test_parts_of_people_from_before_count_as_they_were_recorded_and_are_named(tmp_path):
    ledger = person_ledger(tmp_path)
    old = {"dataset": "visits", "epsilon": 0.75, "delta": 0.0, "what": "fit", "method": "private-rdt"}
    with_entries(ledger.path, *[("added", {**old, "part": part}) for part in ("january", "march")])
    assert ledger.spent == 0.75
    assert ledger.account().unstated_parts == ["january", "march"]
    assert ledger.account().to_json()["unstated_parts"] == ["january", "march"]


@pytest.fixture
def strict(tmp_path):
    return Ledger(tmp_path / "strict.db", dataset="patients", epsilon=1.0, strict=True)


def test_on_a_strict_account_a_failure_after_the_rows_were_opened_counts_as_spent(strict):
    with pytest.raises(ZeroDivisionError) as caught, reserve(strict, 0.25) as reservation:
        reservation.mark_opened()
        raise ZeroDivisionError
    [note] = caught.value.__notes__
    assert note.startswith("the rows were opened by then, and this account is strict, so epsilon=0.25 counts as spent")
    assert (strict.spent, states(strict)) == (0.25, ["failed"])
    assert strict.account().to_json()["releases"][0]["because"] == "ZeroDivisionError"


def test_on_a_strict_account_a_failure_before_the_rows_were_opened_costs_nothing(strict):
    with pytest.raises(ZeroDivisionError), reserve(strict, 0.25):
        raise ZeroDivisionError
    assert (strict.spent, states(strict)) == (0.0, ["withdrawn"])


def test_on_any_other_account_a_failure_after_the_rows_were_opened_is_given_back(ledger):
    with pytest.raises(ZeroDivisionError), reserve(ledger, 0.25) as reservation:
        reservation.mark_opened()
        raise ZeroDivisionError
    assert (ledger.spent, states(ledger)) == (0.0, ["withdrawn"])


@pytest.mark.parametrize("delta", [0.0, 1e-2])
def test_a_strict_account_takes_a_hundred_fits_whether_they_fail_or_not_and_however_little_they_cost(tmp_path, delta):
    strict = Ledger(tmp_path / "strict.db", dataset="patients", epsilon=1.0, delta=delta, strict=True)
    for _ in range(50):
        with pytest.raises(ZeroDivisionError), reserve(strict, 1e-6):
            raise ZeroDivisionError  # before the rows are opened
        with pytest.raises(ZeroDivisionError), reserve(strict, 1e-6) as reservation:
            reservation.mark_opened()
            raise ZeroDivisionError
        reserve(strict, 1e-6).settle(receipt(1e-6))
    with pytest.raises(LedgerError, match="'patients' is strict and has had 100 fits, failed ones included: each"):
        reserve(strict, 1e-6)
    strict.add(0.5, what="a table")  # by its owner


def test_a_strict_account_has_no_parts(strict):
    with pytest.raises(LedgerError, match="'patients' is strict and has no parts: whoever spends would say which rows"):
        reserve(strict.for_part("march"), 0.25)
    assert strict.spent == 0.0


def test_whether_an_account_is_strict_never_changes(ledger, strict):
    assert Ledger(strict.path, dataset="patients", epsilon=1.0).account().budget.strict
    assert not ledger.account().budget.strict
    for path, other, said in ((strict.path, False, ", strict; it never"), (ledger.path, True, "; it never")):
        for given in ({}, {"epsilon": 1.0}):
            with pytest.raises(LedgerError, match=f"is already set: epsilon=1, delta=0, unit 'row'{said}"):
                Ledger(path, dataset="patients", strict=other, **given)


def test_an_account_from_before_is_not_strict(ledger):
    budget = {"dataset": "visits", "epsilon": 2.0, "delta": 0.0, "unit": "row"}
    with_entries(ledger.path, ("budget", budget))
    assert not Ledger(ledger.path, dataset="visits").account().budget.strict


def test_where_giving_back_fails_the_first_error_is_told_and_the_cost_counts(ledger, monkeypatch):
    monkeypatch.setattr("privet.privacy.ledger.ledger_file._WAIT_SECONDS", 0.01)
    with pytest.raises(ZeroDivisionError), reserve(ledger, 0.5):
        ledger.path.rename(ledger.path.with_name("away.db"))
        raise ZeroDivisionError
    assert Ledger(ledger.path.with_name("away.db"), dataset="patients").spent == 0.5


def test_several_data_sets_share_a_file_and_nothing_else(ledger):
    other = Ledger(ledger.path, dataset="visits", epsilon=3.0, delta=1e-6)
    reserve(other, 2.0)
    assert (ledger.spent, other.spent) == (0.0, 2.0)


def test_a_budget_that_is_set_stays_as_it_is(ledger):
    assert Ledger(ledger.path, dataset="patients", epsilon=1.0).left == 1.0
    for change in ({"epsilon": 2.0}, {"epsilon": 1.0, "delta": 1e-6}, {"epsilon": 1.0, "unit": "person"}):
        with pytest.raises(
            LedgerError, match="the budget of 'patients' is already set: epsilon=1, delta=0, unit 'row'"
        ):
            Ledger(ledger.path, dataset="patients", **change)


def test_a_delta_or_unit_that_the_account_has_not_is_refused_and_not_overlooked(ledger):
    assert Ledger(ledger.path, dataset="patients", delta=0.0, unit="row").left == 1.0
    for other in ({"delta": 1e-6}, {"unit": "person"}):
        with pytest.raises(LedgerError, match="is already set: epsilon=1, delta=0, unit 'row'; it never changes"):
            Ledger(ledger.path, dataset="patients", **other)


def test_without_an_account_it_says_how_to_open_one(ledger, tmp_path):
    with pytest.raises(
        LedgerError, match="has no account of 'visits'; if the rows are new, open one with `privet ledger init`"
    ):
        Ledger(ledger.path, dataset="visits")
    with pytest.raises(LedgerError, match="there is no ledger at"):
        Ledger(tmp_path / "none.db", dataset="patients")


def test_a_misspelt_data_set_is_not_talked_into_a_second_budget(ledger):
    with pytest.raises(LedgerError, match="has no account of 'patient'; did you mean 'patients'"):
        Ledger(ledger.path, dataset="patient")


def test_units_that_do_not_add_up_are_refused(ledger):
    with pytest.raises(LedgerError, match="protects each row, this release each person_id"):
        reserve(ledger, 0.1, unit="person_id")
    assert states(ledger) == []


def test_parts_are_spent_side_by_side(ledger):
    for part in ("january", "march"):
        reserve(ledger.for_part(part), 0.75)
    assert ledger.spent == 0.75
    assert ledger.for_part("may").left == 1.0
    with pytest.raises(BudgetExceeded, match="0.25 is left"):
        reserve(ledger.for_part("march"), 0.5)
    reserve(ledger, 0.25)
    with pytest.raises(BudgetExceeded):
        reserve(ledger.for_part("january"), 0.25)


def test_releases_of_other_tools_are_added_and_the_past_cannot_be_refused(ledger):
    ledger.add(0.75, what="a histogram of ages")
    with pytest.raises(BudgetExceeded):
        ledger.add(0.75, what="another")
    ledger.add(0.75, what="another", already_released=True)
    assert (ledger.spent, ledger.left) == (1.5, 0.0)
    ledger.add(float("inf"), what="the rows themselves", already_released=True)
    assert (ledger.spent, ledger.left) == (float("inf"), 0.0)


def test_copies_of_every_kind_are_the_same_account(ledger):
    assert clone(ledger, safe=False) is ledger
    for other in (copy.deepcopy(ledger), pickle.loads(pickle.dumps(ledger.for_part("march")))):
        reserve(other, 0.25)
    assert ledger.for_part("march").spent == 0.5


def test_a_pickle_holds_the_path_and_makes_no_new_ledger(ledger):
    data = pickle.dumps(ledger)
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="there is no ledger at"):
        pickle.loads(data)


def test_a_relative_path_is_the_same_file_from_another_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ledger = Ledger("ledger.db", dataset="patients", epsilon=1.0)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert ledger.left == 1.0


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"epsilon": 0}, "epsilon=0 is no amount"),
        ({"epsilon": float("inf")}, "epsilon=inf is no amount"),
        ({"epsilon": 1e305}, r"epsilon=1e\+305 is no amount; pass a number above 0 and of at most 1e\+300"),
        ({"epsilon": 10**400}, "epsilon=10+ is no amount"),
        ({"epsilon": -(10**400)}, "epsilon=-10+ is no amount"),
        ({"epsilon": float("nan")}, "epsilon=nan is no amount"),
        ({"epsilon": True}, "epsilon=True is no amount"),
        ({"epsilon": 1.0, "delta": 1}, "delta=1 is no probability below 1"),
        ({"epsilon": 1.0, "dataset": ""}, "dataset must be a short printable text"),
        ({"epsilon": 1.0, "part": "a\nb"}, "part must be a short printable text"),
        ({"epsilon": 1.0, "unit": 5}, "unit must be a short printable text"),
    ],
)
def test_what_cannot_be_recorded_is_refused_and_no_file_is_made(tmp_path, arguments, sentence):
    with pytest.raises(ParameterError, match=sentence):
        Ledger(tmp_path / "ledger.db", **{"dataset": "patients", **arguments})
    assert not (tmp_path / "ledger.db").exists()


CLAIMANT = """
import sys
from privet.errors import BudgetExceeded
from privet.privacy.ledger import Cost, Ledger, ledger_file
ledger_file._WAIT_SECONDS = 600.0  # a busy machine may keep some of so many waiting
ledger = Ledger(sys.argv[1], dataset="patients", epsilon=5.0)
won = 0
for _ in range(10):
    try:
        ledger.reserve(Cost(0.1), method="private-rdt", what="fit")
        won += 1
    except BudgetExceeded:
        pass
print(won)
"""


def test_sixteen_processes_that_reserve_at_once_never_exceed_the_budget(tmp_path):
    path = tmp_path / "ledger.db"
    command = [sys.executable, "-c", CLAIMANT, str(path)]
    claimants = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(16)]
    won = [int(claimant.communicate()[0]) for claimant in claimants]
    assert [claimant.returncode for claimant in claimants] == [0] * 16
    assert sum(won) == 50  # of 160 asked for
    ledger = Ledger(path, dataset="patients")
    assert (ledger.spent, ledger.left, len(states(ledger))) == (5.0, 0.0, 50)
