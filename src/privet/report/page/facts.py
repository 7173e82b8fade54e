"""All that the report says, as plain values: made from released numbers, the schema and the guarantee alone."""

from typing import Any

from privet.report.page import nist
from privet.report.page.findings import Findings, findings_of
from privet.report.page.odds import odds_table
from privet.report.page.receipts import single_releases


def facts(model: Any, *, model_checksum: str, name: str = "", budget: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return what the report says as plain values.

    An infinite number stays one, but in the guarantee, which spells it "inf" as its JSON does.

    Parameters
    ----------
    model : PrivateClassifier
        A fitted model.
    model_checksum : str
        That of its file, so that the report can be matched with it and with a ledger's entry.
    name : str
        The file's name.
    budget : dict, optional
        The account that paid for it.
    """
    guarantee, speaker = model.guarantee_.to_json(), findings_of(model)
    releases = single_releases(model.guarantee_.event)
    noise = speaker.noise(model) if speaker else None
    deviations = [r.standard_deviation for r in releases if r.standard_deviation is not None]
    utility = speaker.in_words(noise) if speaker and noise else ""
    return {
        "file": name,
        "checksum": model_checksum,
        "model": _shape(model, speaker),
        "guarantee": guarantee,
        "public": guarantee["public"],
        "leaks": guarantee["leaks"],
        "odds": _odds(guarantee),
        "released_values": speaker.released_values(model) if speaker else None,
        "smallest_noise_standard_deviation": (
            speaker.smallest_noise(model, deviations) if speaker else min(deviations, default=0.0)
        ),
        "noise": noise,
        "releases": [release.to_json() for release in releases],
        "composition": guarantee["event"],
        **(speaker.read_off(model) if speaker else {}),
        "nist_sp_800_226": [answer.to_json() for answer in nist.answers(utility, guarantee, releases, budget)],
        "budget": budget,
    }


def _odds(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return the odds with what they rest on and what they leave out."""
    return {
        **odds_table(float(guarantee["epsilon"]), float(guarantee["delta"]), guarantee["unit"]),
        "provided_that": guarantee["assumptions"],
        "not_covered": guarantee["leaks"],
    }


def _shape(model: Any, speaker: Findings | None) -> dict[str, Any]:
    schema = model.schema_
    return {
        "method": model.method,
        "target": schema.target,
        "classes": list(schema.classes),
        **(speaker.forest(model) if speaker else {}),
        "attributes": list(schema.names),
    }
