"""The report as one page: it needs no network, says the same for the same model file, and can be signed."""

import base64
import hashlib
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from privet.files.whole_file import whole_file
from privet.local.guarantee import LocalGuarantee
from privet.model_file import checksum_of, read_document
from privet.registry import model_of
from privet.report.page import promise
from privet.report.page.attacker import attacker_section
from privet.report.page.budget import budget_facts, budget_section
from privet.report.page.domains import domains_section
from privet.report.page.facts import facts
from privet.report.page.findings import findings_of
from privet.report.page.formats import embedded_json, sentence, table, text
from privet.report.page.local_facts import local_facts
from privet.report.page.local_page import local_sections
from privet.report.page.receipts import folded


def write_report(model: Any, path: str | Path, *, ledger: str | Path | None = None) -> None:
    """Write a report on ``model`` to ``path``: one HTML page for a privacy officer to read, print and sign.

    Parameters
    ----------
    model : fitted model, or path of a model file
        Given a file, the page carries its name and checksum.
    path : str or Path
        The page; one that is there is replaced whole or not at all.
    ledger : path, optional
        The ledger that the fit was given: the page then says whose budget paid, and what is left of it.

    Privacy
    -------
    Only released numbers, the schema and the guarantee enter: post-processing, so it costs nothing.
    """
    Report.of(model, ledger=ledger).write(path)


@dataclass(frozen=True, eq=False)
class Report:
    """A model and what there is to say about it."""

    model: Any
    facts: dict[str, Any]

    @classmethod
    def of(cls, model: Any, *, ledger: str | Path | None = None) -> Self:
        """Read the facts off a fitted model, or off the path of a model file."""
        if isinstance(model, (str, Path)):
            document = read_document(model)
            opened, checksum, name = model_of(document, model), str(document["checksum"]), Path(model).name
        else:
            check_is_fitted(model)
            opened, checksum, name = model, checksum_of(model.to_document()), ""
        budget = None if ledger is None else budget_facts(ledger, checksum)
        if isinstance(opened.guarantee_, LocalGuarantee):
            return cls(opened, {**local_facts(opened, model_checksum=checksum, name=name), "budget": budget})
        return cls(opened, facts(opened, model_checksum=checksum, name=name, budget=budget))

    def write(self, path: str | Path) -> None:
        """Write the page, whole or not at all."""
        with whole_file(path) as file:
            file.write(page(self.model, self.facts))


def page(model: Any, told: dict[str, Any]) -> str:
    """Return the page for a model and its `facts`; the same text for the same facts."""
    style, script = _static("report.css"), _static("report.js")
    is_local = isinstance(model.guarantee_, LocalGuarantee)
    sections, data = local_sections(model, told) if is_local else _central_sections(model, told)
    sections.append(_sign_off(told))
    title = f"Privacy report: {told['file']}" if told["file"] else "Privacy report"
    return Template(_static("page.html")).substitute(
        policy=_policy(style, script),
        title=sentence(title),
        style=style,
        body="\n".join(f"<section>\n{section}</section>" for section in sections),
        data=embedded_json(data),
        script=script,
    )


def _central_sections(model: Any, told: dict[str, Any]) -> tuple[list[str], dict[str, Any]]:
    """Return what a curator's model has to say, and what the page's script needs for it."""
    data: dict[str, Any] = {"epsilon": told["guarantee"]["epsilon"]}
    sections = [
        promise.opening(told),
        promise.guarantee_section(told, list(folded(model.guarantee_.event))),
        *([budget_section(told["budget"])] if told["budget"] else []),
        attacker_section(told),
    ]
    if (speaker := findings_of(model)) is not None:
        said, for_script = speaker.sections(model, told)
        sections += said
        data |= for_script
    return [*sections, domains_section(model.schema_), _questions(told["nist_sp_800_226"])], data


def _static(name: str) -> str:
    return files("privet.report.page").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow this style sheet and this script, told by their hashes, and nothing else: no fetch, no frame, no form."""
    rules = ["default-src 'none'", f"style-src '{_hash(style)}'", f"script-src '{_hash(script)}'"]
    return "; ".join([*rules, "base-uri 'none'", "form-action 'none'"])


def _hash(source: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode('ascii')}"


def _questions(answers: list[dict[str, str]]) -> str:
    rows = [(text(a["question"]), text(a["answer"], 2_000), text(a["answered_by"])) for a in answers]
    return (
        "<h2>The questions of NIST SP 800-226</h2>\n<p>NIST's <cite>Guidelines for Evaluating Differential Privacy "
        "Guarantees</cite> (March 2025) set the questions out as a pyramid: each stone rests on those below it. A "
        "model file can answer some; where it says “you”, somebody who knows the rows and their keeping has to. From "
        "the top of the pyramid downwards:</p>\n"
        f"{table(['question', 'answer', 'answered by'], rows, kind='nist', label='NIST SP 800-226')}"
    )


def _sign_off(told: dict[str, Any]) -> str:
    lines = "".join(f"<div>{name}</div>" for name in ("Name", "Role", "Organisation", "Date"))
    return (
        '<div id="sign-off"><h2>Sign-off</h2>\n'
        f"<p>For the model with checksum <code>{told['checksum']}</code>.</p>\n"
        '<div class="sign"><div class="choices full"><span>May be released</span><span>May be released on '
        "conditions</span>"
        f'<span>Must not be released</span></div><div class="full">Conditions and remarks</div>{lines}'
        '<div class="full">Signature</div></div></div>\n'
    )
