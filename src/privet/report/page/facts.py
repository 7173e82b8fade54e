"""All that the report says, as plain values: made from released numbers, the schema and the guarantee alone."""

from pathlib import Path
from typing import Any, Protocol, cast

from privet.errors import LedgerError
from privet.privacy.guarantee import SOUND
from privet.privacy.ledger.account import accounts
from privet.report.evidence import NOTHING, Evidence
from privet.report.page import counts, promise, weights
from privet.report.page.odds import odds_table
from privet.report.page.receipts import single_releases

PROCEED, STOP = "Proceed to next step of checking", "Do not allow release"


class Presenter(Protocol):
    """A module that presents one kind of released numbers."""

    def forest(self, model: Any) -> dict[str, Any]:
        """Return how large the forest is: at least its trees and their height."""

    def released_values(self, model: Any) -> int:
        """Return how many numbers were released."""

    def noise(self, model: Any) -> dict[str, Any]:
        """Return how strong the noise is, set against what it was added to."""

    def smallest_noise(self, model: Any, deviations: list[float]) -> float:
        """Return the standard deviation at the head of the page; ``noise`` has its caption as ``figure``."""

    def findings(self, model: Any) -> dict[str, Any]:
        """Return the class balance, importances, and what else the numbers say."""

    def noise_sentence(self, noise: dict[str, Any]) -> str:
        """Return the noise in one sentence."""

    def view(self, model: Any, facts: dict[str, Any]) -> dict[str, Any]:
        """Return the ``template`` of these numbers, what it needs, and the ``data`` of the page's script."""


def presenter_for(model: Any) -> Presenter | None:
    """Return the presenter of the model's numbers; None where they are neither counts nor weights."""
    if hasattr(model, "nodes_"):
        return cast("Presenter", counts)
    return cast("Presenter", weights) if hasattr(model, "released_") else None


def facts(
    model: Any,
    *,
    model_checksum: str,
    name: str = "",
    budget: dict[str, Any] | None = None,
    evidence: Evidence = NOTHING,
) -> dict[str, Any]:
    """Return what the report says as plain values.

    An infinite number stays one, except in the guarantee, which spells it "inf" as its JSON does.

    Parameters
    ----------
    model : PrivateClassifier
        A fitted model.
    model_checksum : str
        The checksum of its file, so that the report can be matched with the file and with a ledger's entry.
    name : str
        The file's name.
    budget : dict, optional
        The account that paid for it, from `budget_facts`.
    evidence : Evidence
        What its owner states, what was run on it, and who signed it.
    """
    guarantee, presenter, schema = model.guarantee_.to_json(), presenter_for(model), model.schema_
    releases = single_releases(model.guarantee_.event)
    noise = presenter.noise(model) if presenter else None
    deviations = [r.standard_deviation for r in releases if r.standard_deviation is not None]
    utility = presenter.noise_sentence(noise) if presenter and noise else ""
    return {
        "file": name,
        "checksum": model_checksum,
        "in_plain_words": promise.in_plain_words(guarantee),
        **evidence.to_json(),
        "model": {
            "method": model.method,
            "target": schema.target,
            "classes": list(schema.classes),
            **({} if schema.number is None else {"bounds": [schema.number.low, schema.number.high]}),
            **(presenter.forest(model) if presenter else {}),
            "attributes": list(schema.names),
            **_class_weights(model),
        },
        "guarantee": guarantee,
        "public": guarantee["public"],
        "leaks": guarantee["leaks"],
        "odds": {
            **odds_table(float(guarantee["epsilon"]), float(guarantee["delta"]), guarantee["unit"]),
            "provided_that": guarantee["assumptions"],
            "not_covered": guarantee["leaks"],
        },
        "released_values": presenter.released_values(model) if presenter else None,
        "smallest_noise_standard_deviation": (
            presenter.smallest_noise(model, deviations) if presenter else min(deviations, default=0.0)
        ),
        "noise": noise,
        "releases": [release.to_json() for release in releases],
        "composition": guarantee["event"],
        **(presenter.findings(model) if presenter else {}),
        "nist_sp_800_226": [
            answer.to_json() for answer in promise.answers(utility, guarantee, releases, budget, evidence)
        ],
        "sacro_ml": sacro_record(model.method, name, guarantee, evidence),
        "budget": budget,
    }


def _class_weights(model: Any) -> dict[str, Any]:
    """Return how much each class counts in predictions, where not all count alike."""
    weights = getattr(model, "class_weight_", None)
    return {} if not weights else {"class_weights": [{"class": c, "weight": own} for c, own in weights.items()]}


def budget_facts(ledger: str | Path, model_checksum: str) -> dict[str, Any]:
    """Return the account that the model's release stands in, found by the model's checksum."""
    found, entries = accounts(ledger)
    for account in found:
        own = [release for release in account.to_json()["releases"] if release["model"] == model_checksum]
        if own:
            return {
                "ledger": Path(ledger).name,
                "head": entries[-1].hash,
                **{name: value for name, value in account.to_json().items() if name != "releases"},
                "releases": len(account.expenses),
                "entry": own[-1],
            }
    raise LedgerError("no entry of the ledger names this model; pass the ledger that its fit was given, or none")


def sacro_record(method: str, file: str, guarantee: dict[str, Any], evidence: Evidence) -> dict[str, Any]:
    """Return the summary that output checkers of trusted research environments know from SACRO-ML's safe models.

    SACRO-ML (https://github.com/AI-SDC/SACRO-ML) writes such a record for a model that a researcher asks to take out:
    `researcher`, `model_type`, `model_save_file`, `details`, `recommendation` and, where release is not recommended,
    `reason`. Its two recommendations are used word for word. Release is advised against without a sound promise, with
    leaks, or if an attack beat it.
    """
    reasons = [
        *([] if guarantee["mode"] == SOUND else [f"the promise is not sound: {guarantee['reason']}"]),
        *(f"read from the rows without noise: {leak}" for leak in guarantee["leaks"]),
        *(f"more was shown than is promised: {each.name}" for each in evidence.attachments if each.contradicts),
    ]
    return {
        "researcher": evidence.about.contact if evidence.about else "",
        "model_type": method,
        "model_save_file": file,
        "details": guarantee["sentence"],
        "recommendation": STOP if reasons else PROCEED,
        **({"reason": "; ".join(reasons)} if reasons else {}),
    }
