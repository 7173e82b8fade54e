"""The promise in words: whom it is about, what was public, and the questions of NIST SP 800-226.

"Guidelines for Evaluating Differential Privacy Guarantees" (March 2025) sets its questions out as a pyramid, from the
privacy parameter at the top to the collection of the data at the bottom. Each question rests on those below it. A model
file can answer the upper ones; the page says who has to answer the others. Everything here is plain text.
"""

from dataclasses import asdict, dataclass
from typing import Any

from privet.checks import pluralize
from privet.privacy.guarantee import CURATOR, NOT_PRIVATE, PAPER
from privet.privacy.unit import Unit
from privet.report.page.formats import exact, number
from privet.report.page.receipts import Receipt
from privet.schema import Attribute, Numeric, Schema

MODEL_FILE, PARTLY, OWNER, LEDGER = "the model file", "the model file, in part", "you", "the ledger, in part"


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


def of_parties(guarantee: dict[str, Any]) -> bool:
    """Return whether several parties counted, and no curator held all rows."""
    return bool(guarantee["trust"] != CURATOR)


def words(guarantee: dict[str, Any]) -> dict[str, Any]:
    """Return the words of a guarantee's unit for the templates."""
    return {
        "one": one(guarantee),
        "was_in": was_in(guarantee),
        "caveat": caveat(guarantee),
        "provided": provided(guarantee),
        "of_parties": of_parties(guarantee),
    }


def public_domains(schema: Schema) -> list[tuple[str, str, bool]]:
    """Return every attribute with its domain and whether that was read from the rows; the class is last."""
    listed = [(attribute.name, _domain(attribute), attribute.inferred) for attribute in schema.attributes]
    if schema.number is not None:
        return [*listed, (schema.target, _domain(schema.number), schema.number.inferred)]
    return [*listed, (schema.target, ", ".join(map(str, schema.classes)), schema.classes_inferred)]


def _domain(attribute: Attribute) -> str:
    if not isinstance(attribute, Numeric):
        return ", ".join(map(str, attribute.categories))
    return f"{number(attribute.low)} to {number(attribute.high)}, in {attribute.n_values:,} cells"


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
    utility: str, guarantee: dict[str, Any], releases: list[Receipt], budget: dict[str, Any] | None = None
) -> list[Answer]:
    """Return the publication's questions with what a model can say to them.

    ``utility`` tells how strong noise is, and ``budget`` the account of the ledger that paid, where one was given.
    """
    return [
        _parameter(guarantee),
        _unit(guarantee),
        _other_releases(budget),
        _algorithms(releases),
        _utility(utility),
        Answer(
            "Bias",
            "Noise affects small groups most: where a class or a branch has few rows, its share is uncertain. The "
            "page shows by how much. Whether the rows themselves treat groups fairly is not in the file.",
            PARTLY,
        ),
        _query_model(guarantee, len(releases)),
        Answer("Trust model", f"Trusted with every value: {guarantee['trust']}.", MODEL_FILE),
        _implementation(guarantee),
        Answer(
            "Data security and access control",
            "Not in the file. Who may read the rows, the logs of the fit and its error messages, and for how long, "
            "has to be decided where the rows are kept.",
            OWNER,
        ),
        Answer(
            "Data collection exposure",
            "Not in the file. Differential privacy protects what is published from the rows, not the rows themselves "
            "while they are collected, moved and stored.",
            OWNER,
        ),
    ]


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


def _other_releases(budget: dict[str, Any] | None) -> Answer:
    question = "Other releases about the same people"
    if budget is None:
        return Answer(
            question,
            "Not in the file, which knows only about itself. Epsilons of other releases from these rows add up; a "
            "ledger of the data set has the sum.",
            OWNER,
        )
    at = f" at delta = {exact(budget['delta'])}" if budget["delta"] else ""
    return Answer(
        question,
        f"The ledger counts {pluralize(budget['releases'], 'release')} from {budget['dataset']!r}, this one included: "
        f"epsilon = {exact(budget['spent'])} of {exact(budget['epsilon'])}{at} is spent for each {budget['unit']}. "
        "It does not know about releases that are not in this account.",
        LEDGER,
    )


def _algorithms(releases: list[Receipt]) -> Answer:
    names = sorted({release.name for release in releases})
    return Answer(
        "Algorithms and correctness",
        f"{'; '.join(names)}; {pluralize(len(releases), 'release')}, composed as the receipts above say. The promise "
        "was computed again from the receipts when the file was opened. That the software draws what it says is argued "
        "and tested in privet's sources, not in this file.",
        PARTLY,
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


def _utility(noise: str) -> Answer:
    answer = "Accuracy is not in the file: measuring it on the rows would be another release."
    return Answer("Utility and accuracy", f"{noise} {answer}" if noise else answer, PARTLY)


def _implementation(guarantee: dict[str, Any]) -> Answer:
    if guarantee["mode"] == NOT_PRIVATE:
        drawn = "This model's numbers carry no noise that protects them."
    else:
        drawn = "Noise is drawn with whole numbers only, from the operating system's secure generator."
    return Answer(
        "Side channels and implementation",
        f"{drawn} The running time of the fit grows with the number of rows and is not covered. Neither is a "
        "compromised operating system. Model files are not signed: compare the checksum.",
        PARTLY,
    )


def _name(guarantee: dict[str, Any]) -> str:
    column = _column(guarantee)
    return guarantee["unit"] if column is None else repr(column)


def _column(guarantee: dict[str, Any]) -> str | None:
    return Unit(guarantee["unit"], guarantee["max_rows"]).column
