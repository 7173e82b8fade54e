"""The promise in words: whom it is about, what was public, and the questions of NIST SP 800-226.

"Guidelines for Evaluating Differential Privacy Guarantees" (March 2025) sets its questions out as a pyramid, from the
privacy parameter at the top to the collection of the data at the bottom. Each question rests on those below it. A model
file can answer the upper ones; the page says who has to answer the others. Everything here is plain text.
"""

from dataclasses import asdict, dataclass
from typing import Any

from privet.checks import pluralize
from privet.privacy.guarantee import CURATOR, NOT_PRIVATE, PAPER, of_hundred, right_guesses
from privet.privacy.unit import Unit
from privet.report.evidence import AUDIT, MEMBERSHIP, NOTHING, SCORES, Evidence
from privet.report.page.formats import exact, number
from privet.report.page.receipts import Receipt
from privet.schema import Attribute, Date, Numeric, Schema
from privet.schema.acceptance import Acceptance

MODEL_FILE, PARTLY, OWNER, LEDGER = "the model file", "the model file, in part", "you", "the ledger, in part"
STATED, ALSO_ATTACHED, SIGNED = "the data owner", "attached documents, in part", "the model file and its signature"
_CERTAIN = 100
_MOST_BRIEF = 60


def in_plain_words(guarantee: dict[str, Any]) -> str:
    """Return what the promise means, for readers who know nothing of epsilon."""
    if guarantee["mode"] == PAPER or guarantee["epsilon"] == "inf":
        return "Nothing is promised: assume that whoever has this model can tell whose rows it was made of."
    if guarantee["leaks"]:
        return "No bound holds for this model as a whole: some of it was read from the rows without noise."
    guesses = of_hundred(right_guesses(float(guarantee["epsilon"]), float(guarantee["delta"])))
    next_to_none = " That is next to no promise at all." if guesses >= _CERTAIN else ""
    return (
        f"At most {guesses} right guesses in 100: so often is somebody right who has this model, knows everything "
        f"else, and guesses whether {was_in(guarantee)} in the table{provided(guarantee)}. Without the model it is "
        f"50.{next_to_none}"
    )


def one(guarantee: dict[str, Any]) -> str:
    """Return the unit of privacy: "one row", or "one 'visit_id'" where a column tells units apart."""
    return f"one {_name(guarantee)}"


def several(guarantee: dict[str, Any]) -> str:
    """Return more than one unit."""
    return "several rows" if _column(guarantee) is None else f"several values of {_name(guarantee)}"


def was_in(guarantee: dict[str, Any]) -> str:
    """Return whose presence an attacker wants to find out, with its verb."""
    return "one row was" if _column(guarantee) is None else f"the rows of {one(guarantee)} were"


def caveat(guarantee: dict[str, Any]) -> str:
    """Return who is protected less than the promise says; a unit need not be a person."""
    return f"Somebody with {several(guarantee)} is protected less: with k of them at k times epsilon."


def provided(guarantee: dict[str, Any]) -> str:
    """Return the assumptions of the promise, after a comma; empty where it has none."""
    return f", provided that {'; '.join(guarantee['assumptions'])}" if guarantee["assumptions"] else ""


def _provided_briefly(guarantee: dict[str, Any]) -> str:
    """Return the same where there is room for a line; domains that were accepted can be many."""
    said = provided(guarantee)
    return said if len(said) <= _MOST_BRIEF else ", provided that what is said above holds"


def of_parties(guarantee: dict[str, Any]) -> bool:
    """Return whether several parties counted, and no curator held all rows."""
    return bool(guarantee["trust"] != CURATOR)


def words(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return the words of a guarantee's unit for the templates."""
    return {
        "one": one(guarantee),
        "was_in": was_in(guarantee),
        "caveat": caveat(guarantee),
        "of_parties": of_parties(guarantee),
        "of_batches": _told_apart(guarantee).one_batch_each in guarantee["assumptions"],
        "provided": provided(guarantee),
        "provided_briefly": _provided_briefly(guarantee),
    }


def public_domains(schema: Schema) -> list[tuple[str, str, str]]:
    """Return every attribute with its domain and how that is known; the class is last."""
    listed = [(a.name, _domain(a), _source(a.accepted, is_inferred=a.inferred)) for a in schema.attributes]
    if (target := schema.number) is not None:
        bounds = f"{number(target.low)} to {number(target.high)}"
        return [*listed, (target.name, bounds, _source(target.accepted, is_inferred=target.inferred))]
    of_classes = _source(schema.classes_accepted, is_inferred=schema.classes_inferred)
    return [*listed, (schema.target, ", ".join(map(str, schema.classes)), of_classes)]


def _source(accepted: Acceptance | None, *, is_inferred: bool) -> str:
    if accepted is not None:
        return f"read from the rows; {accepted.by} declared on {accepted.on} that it was public before"
    return "read from the rows" if is_inferred else "declared"


def _domain(attribute: Attribute) -> str:
    if not isinstance(attribute, Numeric):
        return (" < " if attribute.ordered else ", ").join(map(str, attribute.categories))
    if isinstance(attribute, Date):
        low, high = attribute.written(attribute.low), attribute.written(attribute.high)
        return f"{low} to {high}, in {attribute.n_values:,} cells"
    noun = "whole numbers from " if attribute.whole else ""
    scale = " on a log scale" if attribute.is_log else ""
    return f"{noun}{number(attribute.low)} to {number(attribute.high)}, in {attribute.n_values:,} cells{scale}"


@dataclass(frozen=True)
class Answer:
    """A question, what can be said to it, and who says so."""

    question: str
    answer: str
    answered_by: str

    def to_json(self) -> dict[str, str]:
        """Return plain values."""
        return asdict(self)


def answers(
    utility: str,
    guarantee: dict[str, Any],
    releases: list[Receipt],
    budget: dict[str, Any] | None = None,
    evidence: Evidence = NOTHING,
) -> list[Answer]:
    """Return the publication's questions with what a model can say to them.

    ``utility`` tells how strong noise is, ``budget`` the account of the ledger that paid, where one was given, and
    ``evidence`` what its owner has stated and attached.
    """
    about = evidence.about
    return [
        _parameter(guarantee),
        _unit(guarantee),
        _other_releases(budget, about.further if about else None),
        _algorithms(releases, evidence),
        _utility(utility, evidence),
        _bias(about.fairness if about else None, evidence),
        _query_model(guarantee, len(releases)),
        _trust_model(guarantee, evidence),
        _implementation(guarantee, evidence),
        _stated(
            "Data security and access control",
            about.access if about else None,
            "Not in the file. Who may read the rows, the logs of the fit and its error messages, and for how long, "
            "has to be decided where the rows are kept.",
        ),
        _stated(
            "Data collection exposure",
            about.collection if about else None,
            "Not in the file. Differential privacy protects what is published from the rows, not the rows themselves "
            "while they are collected, moved and stored.",
        ),
    ]


def _stated(question: str, stated: str | None, otherwise: str) -> Answer:
    return Answer(question, otherwise, OWNER) if stated is None else Answer(question, stated, STATED)


def _bias(stated: str | None, evidence: Evidence) -> Answer:
    answer = (
        "Noise affects small groups most: where a class or a branch has few rows, its share is uncertain. The page "
        "shows by how much."
    )
    if by_group := [each.name for each in evidence.attachments if each.is_by_group]:
        answer += f" Measured by group: see {', '.join(by_group)}."
    sources = ALSO_ATTACHED if by_group else PARTLY
    if stated is None:
        return Answer("Bias", f"{answer} Whether the rows themselves treat groups fairly is not in the file.", sources)
    return Answer("Bias", f"{answer} The data owner says: {stated}", f"{sources}; {STATED}")


def _trust_model(guarantee: dict[str, Any], evidence: Evidence) -> Answer:
    answer = f"Trusted with every value: {guarantee['trust']}."
    if evidence.signer is None:
        return Answer("Trust model", answer, MODEL_FILE)
    return Answer("Trust model", f"{answer} {evidence.signer.name} answers for the model by a signature.", SIGNED)


def _parameter(guarantee: dict[str, Any]) -> Answer:
    if guarantee["epsilon"] == "inf":
        none = "None is proven" if guarantee["mode"] == PAPER else "None"
        return Answer("Privacy parameter", f"{none}: {guarantee['reason']}.", MODEL_FILE)
    kind = "pure differential privacy" if guarantee["delta"] == 0 else f"delta = {exact(guarantee['delta'])}"
    apart = f", apart from {_leaks(len(guarantee['leaks']))} listed above" if guarantee["leaks"] else ""
    given = provided(guarantee)
    return Answer("Privacy parameter", f"epsilon = {exact(guarantee['epsilon'])}, {kind}{apart}{given}.", MODEL_FILE)


def _leaks(n_leaks: int) -> str:
    return "the leak" if n_leaks == 1 else f"the {n_leaks} leaks"


def _unit(guarantee: dict[str, Any]) -> Answer:
    answer = f"Neighbours: {guarantee['neighbours']}."
    if guarantee["max_rows"] > 1:
        answer += f" At most {guarantee['max_rows']:,} rows of each were counted."
    if guarantee["epsilon"] != "inf":
        answer += f" {caveat(guarantee)}"
    return Answer("Unit of privacy", answer, MODEL_FILE)


def _other_releases(budget: dict[str, Any] | None, stated: str | None) -> Answer:
    question = "Other releases about the same people"
    planned = "" if stated is None else f" The data owner says: {stated}"
    if budget is None:
        return Answer(
            question,
            "Not in the file, which knows only about itself. Epsilons of other releases from these rows add up; a "
            f"ledger of the data set has the sum.{planned}",
            OWNER if stated is None else f"{OWNER}; {STATED}",
        )
    at = f" at delta = {exact(budget['delta'])}" if budget["delta"] else ""
    return Answer(
        question,
        f"The ledger counts {pluralize(budget['releases'], 'release')} from {budget['dataset']!r}, this one included: "
        f"epsilon = {exact(budget['spent'])} of {exact(budget['epsilon'])}{at} is spent for each {budget['unit']}. "
        f"It does not know about releases that are not in this account.{planned}",
        LEDGER,
    )


def _algorithms(releases: list[Receipt], evidence: Evidence) -> Answer:
    names = sorted({release.name for release in releases})
    audits = [each.name for each in evidence.attachments if each.kind == AUDIT]
    audited = f" Fits of the same method were attacked: see {', '.join(audits)}." if audits else ""
    return Answer(
        "Algorithms and correctness",
        f"{'; '.join(names)}; {pluralize(len(releases), 'release')}, composed as the receipts above say. The promise "
        "was computed again from the receipts when the file was opened. That the software draws what it says is argued "
        f"and tested in privet's sources, not in this file.{audited}",
        ALSO_ATTACHED if audits else PARTLY,
    )


def _query_model(guarantee: dict[str, Any], n_releases: int) -> Answer:
    event = guarantee["event"]
    answer = "One release, not interactive: the numbers in this file were drawn once and stay."
    if event["event"] == "Parallel":
        answer = (
            f"{len(event['parts']):,} releases, one for each {_whose(guarantee)}, not interactive: noise was drawn "
            "once for each, and the numbers in this file are the sums. The largest epsilon counts, provided that "
            f"{'; '.join(guarantee['assumptions'])}."
        )
    elif n_releases > 1:
        answer = (
            f"One fit, not interactive: its {n_releases:,} questions were asked once, some depending on "
            "earlier answers, and the numbers in this file stay."
        )
    return Answer(
        "Query model",
        f"{answer} Predictions, rules and this page are computed from them and cost nothing more.",
        MODEL_FILE,
    )


def _whose(guarantee: dict[str, Any]) -> str:
    return "party" if of_parties(guarantee) else "batch of new rows"


def _utility(noise: str, evidence: Evidence) -> Answer:
    scores = [each.name for each in evidence.attachments if each.kind == SCORES]
    if scores:
        return Answer("Utility and accuracy", f"{noise} Measured: see {', '.join(scores)}.".strip(), ALSO_ATTACHED)
    answer = "Accuracy is not in the file: measuring it on the rows would be another release."
    return Answer("Utility and accuracy", f"{noise} {answer}" if noise else answer, PARTLY)


def _implementation(guarantee: dict[str, Any], evidence: Evidence) -> Answer:
    if guarantee["mode"] == NOT_PRIVATE:
        drawn = "This model's numbers carry no noise that protects them."
    else:
        drawn = "Noise is drawn with whole numbers only, from the operating system's secure generator."
    whose = "No signature was checked: compare the checksum with whoever made the model."
    if evidence.signer is not None:
        whose = f"The model is signed by {evidence.signer.name}, and unchanged since."
    tried = [each.name for each in evidence.attachments if each.kind in (AUDIT, MEMBERSHIP)]
    attacked = f" What attacks have shown is in {', '.join(tried)}." if tried else ""
    return Answer(
        "Side channels and implementation",
        f"{drawn} The running time of the fit grows with the number of rows and is not covered. Neither is a "
        f"compromised operating system. {whose}{attacked}",
        ALSO_ATTACHED if tried else PARTLY,
    )


def _name(guarantee: dict[str, Any]) -> str:
    column = _column(guarantee)
    return guarantee["unit"] if column is None else repr(column)


def _column(guarantee: dict[str, Any]) -> str | None:
    return _told_apart(guarantee).column


def _told_apart(guarantee: dict[str, Any]) -> Unit:
    return Unit(guarantee["unit"], guarantee["max_rows"])
