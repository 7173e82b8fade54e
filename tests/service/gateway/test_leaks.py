"""Nothing that depends on rows leaves but through a paid fit: an audit of the whole gateway, and faults that it finds.

The audit asks the same of two gateways whose tables differ in rows, and compares all answers but released models; it
also watches when rows are opened, and which models are on the disk.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from privet.counting.sources import Files
from privet.errors import BudgetExceeded
from privet.privacy.ledger import Reservation
from privet.registry import METHODS
from privet.service.gateway import app
from privet.service.gateway.fits import PaidFit, fits_of
from privet.service.gateway.workers import Workers
from tests.service.gateway.conftest import people, schema

NEEDLE = "needle-in-a-row"
# Each answer has its own of these; they are made of chance and of the clock.
CHANCE = re.compile(r"[0-9a-f]{32,64}|\d{4}-\d\d-\d\dT[0-9:.+]*")
ASKED = [
    ("GET", "/v1/schema", None), ("GET", "/v1/budget", None), ("GET", "/v1/fits", None),
    ("POST", "/v1/plan", {"epsilon": 1, "rows": 500}), ("POST", "/v1/plan", {"epsilon": 1}),
    ("POST", "/v1/plan", {"epsilon": 0}), ("GET", "/v1/fits/x", None), ("GET", "/owner", None),
]  # fmt: skip
AFTER = ["", "/model", "/report"]


@dataclass
class Findings:
    """What the audit has seen of one gateway."""

    answers: list[str] = field(default_factory=list)
    opened: list[bool] = field(default_factory=list)
    unpaid_models: int = 0
    uncharged: float = 0.0

    def take(self, answer):
        told = {name: value for name, value in answer.headers.items() if name != "content-length"}
        self.answers.append(CHANCE.sub("#", f"{answer.status_code} {json.dumps(told)} {answer.text}"))


def audited(gateway) -> Findings:
    """Ask, pay for a fit that fails, be refused one that is too expensive, and look at what there is."""
    found, ana = Findings(), gateway.analyst(epsilon=2.0)
    with pytest.MonkeyPatch.context() as watching:
        batches, take, held = Files.batches, Workers.take, []

        def watched(self, *given):
            found.opened.append(any(fit.is_open for fit in fits_of(gateway.ledger.account())))
            return batches(self, *given)

        watching.setattr(Files, "batches", watched)
        # The fit waits until its answer is there, so that two gateways are compared at the same moments.
        watching.setattr(Workers, "take", lambda self, fit: held.append((self, fit)))
        for method, path, document in ASKED:
            found.take(ana.get(path) if method == "GET" else ana.post(path, document))
        answer = ana.ask(epsilon=1.0)
        found.take(answer)
        take(*held[0])
        fit = answer.json()["fit"]
        ana.ended(fit)
        for path in AFTER:
            found.take(ana.get(f"/v1/fits/{fit}{path}"))
        found.take(ana.post(f"/v1/fits/{fit}/predict", {"rows": []}))
        found.take(ana.ask(epsilon=1.5))
        found.take(ana.get("/v1/fits"))
        found.take(ana.get("/v1/budget"))
    paid = fits_of(gateway.ledger.account())
    names = {each.id for each in paid}
    found.unpaid_models = sum(path.stem not in names for path in gateway.folder.model_file("x").parent.iterdir())
    found.uncharged = len(paid) - gateway.ledger.spent
    return found


def breaking(gateway, table):
    """Change the rows after the gateway was made, so that fits fail for what they hold."""
    table.to_csv(gateway.folder.rows, index=False)


def leaks(make_gateway) -> list[str]:
    """Return what the audit finds: nothing where no answer depends on rows but through a release."""
    one, other = make_gateway("one"), make_gateway("other", table=people().drop(index=[3, 4]))
    breaking(one, people().assign(smoker="maybe"))
    breaking(other, people(37).assign(smoker=NEEDLE, age=99.0))
    first, second = audited(one), audited(other)
    wrong = [f"{a}\n{b}" for a, b in zip(first.answers, second.answers, strict=True) if a != b]
    wrong += [text for text in (*first.answers, *second.answers) if NEEDLE in text or "maybe" in text]
    for found in (first, second):
        wrong += ["rows were opened for a fit that was not paid for"] * (not all(found.opened))
        wrong += ["a model is there that nobody has paid for"] * (found.unpaid_models > 0)
        wrong += ["a fit that failed was not charged"] * (found.uncharged > 0)
    return wrong


def test_no_answer_depends_on_rows_but_a_release(make_gateway):
    assert leaks(make_gateway) == []


def why_in_the_state(monkeypatch):
    told = app.AnalystRoutes._told

    def with_reason(self, fit):
        rows = self._folder.rows.read_text().splitlines()
        return {**told(self, fit), "why": f"label {rows[1].split(',')[-1]} is no class" if fit.has_failed else None}

    monkeypatch.setattr(app.AnalystRoutes, "_told", with_reason)


def count_in_the_progress(monkeypatch):
    told = app.AnalystRoutes._told

    def with_count(self, fit):
        return {**told(self, fit), "rows_read": len(self._folder.rows.read_text().splitlines())}

    monkeypatch.setattr(app.AnalystRoutes, "_told", with_count)


def plan_of_the_true_rows(monkeypatch):
    planned = app.AnalystRoutes._plan

    async def plan(self, analyst, request):
        self._folder.schema = schema(rows=len(self._folder.rows.read_text().splitlines()))
        return await planned(self, analyst, request)

    monkeypatch.setattr(app.AnalystRoutes, "_plan", plan)


def model_before_payment(monkeypatch):
    paid = app.pay

    def first_fitted(ledger, unit, analyst, request, key):
        model = METHODS[request.method](schema(), epsilon=request.epsilon).fit(
            people().drop(columns="smoker"), people()["smoker"]
        )  # fmt: skip
        model.save(ledger.path.parent / "gate" / "models" / "early.privet")
        return paid(ledger, unit, analyst, request, key)

    monkeypatch.setattr(app, "pay", first_fitted)


def rows_before_payment(monkeypatch):
    asked = app.AnalystRoutes._new_fit

    async def after_a_look(self, analyst, request):
        list(Files(self._folder.rows).batches(schema(), ["age"]))
        return await asked(self, analyst, request)

    monkeypatch.setattr(app.AnalystRoutes, "_new_fit", after_a_look)


def failures_for_free(monkeypatch):
    def lenient(self, ledger):
        return Reservation(ledger.file, ledger.dataset, self.expense.cost, self.spending.begun.number, strict=False)

    monkeypatch.setattr(PaidFit, "reservation", lenient)


def refusal_that_knows_more(monkeypatch):
    paid = app.pay

    def telling(ledger, *given):
        try:
            return paid(ledger, *given)
        except (BudgetExceeded, app.Refusal) as error:
            rows = (ledger.path.parent / "rows.csv").read_text().splitlines()
            raise app.Refusal(402, "budget", f"{error}; there are {len(rows) - 1} rows") from None

    monkeypatch.setattr(app, "pay", telling)


FAULTS: list[tuple[Callable, str]] = [
    (why_in_the_state, NEEDLE),
    (count_in_the_progress, "rows_read"),
    (refusal_that_knows_more, "37 rows"),
    (plan_of_the_true_rows, "n_rows"),
    (model_before_payment, "nobody has paid for"),
    (rows_before_payment, "not paid for"),
    (failures_for_free, "was not charged"),
]


@pytest.mark.parametrize(("plant", "says"), FAULTS, ids=lambda each: getattr(each, "__name__", ""))
def test_a_gateway_that_leaks_is_caught(make_gateway, monkeypatch, plant, says):
    plant(monkeypatch)
    found = leaks(make_gateway)
    assert any(says in text for text in found), found
