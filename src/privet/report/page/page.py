"""The report as one page: it needs no network, is the same for the same model file, and can be signed."""

import base64
import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from privet.checks import pluralize
from privet.files.whole_file import whole_file
from privet.local.guarantee import LocalGuarantee
from privet.model_file import checksum_of, read_document
from privet.privacy.guarantee import NOT_PRIVATE, PAPER, SOUND, left_over, of_hundred
from privet.privacy.unit import ROW
from privet.registry import model_of
from privet.report.evidence import Evidence
from privet.report.page import formats, local
from privet.report.page.counts import NOT_TOLD_APART
from privet.report.page.effects import BAND, TIMES
from privet.report.page.facts import budget_facts, facts, presenter_for
from privet.report.page.odds import MEANINGLESS
from privet.report.page.pictures import Picture, belief_band, detection_curve, hundred_guesses
from privet.report.page.promise import public_domains, words
from privet.report.page.receipts import folded
from privet.signing import ModelSignature, Roster
from privet.signing.model_signature import signature_file
from privet.tree.intervals import RELIABLE

if TYPE_CHECKING:
    from jinja2 import Environment

_LONGEST = 20_000
# What the owner states that is not an answer to one of the questions below it, in the order of the page.
_ABOUT = (
    ("name", "Model"), ("description", "What it is"), ("owner", "Data owner"), ("purpose", "Purpose"),
    ("people", "Whom the rows are about"), ("period", "Period"), ("region", "Region"), ("recipients", "Who gets it"),
    ("preparation", "Before the fit"), ("justification", "Why so"), ("contact", "Contact"),
)  # fmt: skip


def write_report(
    model: Any,
    path: str | Path,
    *,
    ledger: str | Path | None = None,
    about: str | Path | None = None,
    attach: Sequence[str | Path] = (),
    signature: ModelSignature | None = None,
    keys: Roster | None = None,
) -> None:
    """Write a report on ``model`` to ``path``: one HTML page for a privacy officer to read, print and sign.

    Parameters
    ----------
    model : fitted model, or path of a model file
        Given a file, the page carries its name and checksum.
    path : str or Path
        The page; one that is there is replaced whole or not at all.
    ledger : path, optional
        The ledger that the fit was given: the page then says whose budget paid, and what is left of it.
    about : path, optional
        What the owner states, as TOML; ``privet report --about-template`` prints the fields.
    attach : sequence of paths
        JSON documents about this model: what `privet audit --model` and `privet score` print.
    signature : ModelSignature, optional
        Whose model it is; by default, with ``keys``, the one beside the model file.
    keys : Roster, optional
        The public keys of those from whom it may be. A model that none of them signed is refused.

    Privacy
    -------
    Only released numbers, the schema and the guarantee enter: post-processing, so it costs nothing. What is attached
    may be computed from rows without noise. The page then says that no promise covers it.
    """
    given = {"about": about, "attach": attach, "signature": signature, "keys": keys}
    Report.of(model, ledger=ledger, **given).write(path)


@dataclass(frozen=True, eq=False)
class Report:
    """A model and what there is to say about it."""

    model: Any
    facts: dict[str, Any]

    @classmethod
    def of(cls, model: Any, *, ledger: str | Path | None = None, **given: Any) -> Self:
        """Read the facts off a fitted model, or off the path of a model file.

        ``given`` is what `Evidence.gather` takes.
        """
        if isinstance(model, (str, Path)):
            document = read_document(model)
            opened, checksum, name = model_of(document, model), str(document["checksum"]), Path(model).name
            if given.get("keys") is not None and given.get("signature") is None:
                given["signature"] = ModelSignature.load(signature_file(model))
        else:
            check_is_fitted(model)
            opened, checksum, name = model, checksum_of(model.to_document()), ""
        budget = None if ledger is None else budget_facts(ledger, checksum)
        evidence = Evidence.gather(checksum, **given)
        if _is_local(opened):
            told = local.local_facts(opened, model_checksum=checksum, name=name, evidence=evidence)
            return cls(opened, {**told, "budget": budget})
        return cls(opened, facts(opened, model_checksum=checksum, name=name, budget=budget, evidence=evidence))

    def write(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        with whole_file(path) as file:
            file.write(page(self.model, self.facts))


def page(model: Any, facts: dict[str, Any]) -> str:
    """Return the page for a model and its `facts`; the same text for the same facts."""
    style, script = _static("report.css"), _static("report.js")
    template = environment().get_template("local.html" if _is_local(model) else "central.html")
    return template.render(
        facts=facts,
        guarantee=facts["guarantee"],
        domains=public_domains(model.schema_),
        schema=model.schema_,
        exact_attachments=[each["name"] for each in facts["attachments"] if each["is_exact"]],
        contradicted=[each["name"] for each in facts["attachments"] if each["contradicts"]],
        policy=_policy(style, script),
        style=style,
        script=script,
        **(local.view(model, facts) if _is_local(model) else _central_view(model, facts)),
    )


@cache
def environment() -> "Environment":
    """Return the templates. They escape every value, and spell out characters that nobody can see."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    def visible(value: object) -> object:
        return formats.shown(value, _LONGEST) if isinstance(value, str) and not isinstance(value, Markup) else value

    def name(value: object, most: int = formats.MAX_SHOWN) -> Markup:
        """Return a name from the model file, cut, and isolated in writing direction."""
        return Markup("<bdi>{}</bdi>").format(formats.shown(value, most))

    made = Environment(
        loader=PackageLoader("privet.report.page"), autoescape=True, undefined=StrictUndefined, finalize=visible,
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    # Plain ASCII without markup, so that nothing can close the script element.
    made.policies["json.dumps_kwargs"] = {"ensure_ascii": True, "allow_nan": False, "separators": (",", ":")}
    made.filters |= {
        "name": name, "shown": formats.shown, "number": formats.number, "whole": formats.whole,
        "interval": formats.interval, "exact": formats.exact, "percent": formats.percent,
        "percent_up": formats.percent_up, "percent_down": formats.percent_down, "number_up": formats.number_up,
        "epsilon_up": formats.epsilon_up, "of_hundred": of_hundred, "pluralize": pluralize,
        "left_over": left_over, "figure": formats.figure,
    }  # fmt: skip
    made.globals |= {
        "SOUND": SOUND, "PAPER": PAPER, "NOT_PRIVATE": NOT_PRIVATE, "ROW": ROW, "INFINITY": math.inf,
        "MEANINGLESS": MEANINGLESS, "RELIABLE": RELIABLE, "BAND": BAND, "TIMES": TIMES,
        "NOT_TOLD_APART": NOT_TOLD_APART, "ABOUT": _ABOUT,
    }  # fmt: skip
    return made


def _is_local(model: Any) -> bool:
    return isinstance(model.guarantee_, LocalGuarantee)


def _central_view(model: Any, facts: dict[str, Any]) -> dict[str, Any]:
    """Return what the templates of a curator's model need beside its facts."""
    presenter, guarantee = presenter_for(model), facts["guarantee"]
    findings = presenter.view(model, facts) if presenter else {"template": None, "noise_template": None, "data": {}}
    return {
        **findings,
        "data": {"epsilon": guarantee["epsilon"], **findings["data"]},
        "words": words(guarantee),
        "receipts": list(folded(model.guarantee_.event)),
        "pictures": _pictures(guarantee),
    }


def _pictures(guarantee: dict[str, Any]) -> dict[str, Picture | None]:
    """Return the pictures of what an attacker can gain, where that is bounded; beliefs are without a delta only."""
    if guarantee["mode"] == PAPER or guarantee["leaks"] or guarantee["epsilon"] == "inf":
        return {}
    epsilon, delta = float(guarantee["epsilon"]), float(guarantee["delta"])
    return {
        "guesses": hundred_guesses(epsilon, delta),
        "beliefs": belief_band(epsilon) if delta == 0 else None,
        "tests": detection_curve(epsilon, delta),
    }


def _static(name: str) -> str:
    return files("privet.report.page").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow this style sheet and this script, known by their hashes, and nothing else: no fetch, no frame, no form."""
    rules = ["default-src 'none'", f"style-src '{_hash(style)}'", f"script-src '{_hash(script)}'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode('ascii')}"
