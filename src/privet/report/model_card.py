"""A model card: the report in Markdown, with the head that Hugging Face's hub reads.

Figures that are attached and exact are left out: a card is made to be published.
"""

import re
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from privet.report.about import About
from privet.report.page import formats
from privet.report.page.promise import public_domains

if TYPE_CHECKING:
    from jinja2 import Environment, Template

_MARKUP = re.compile(r"([\\`*_{}\[\]()#+!|~$])")
_LONGEST = 2_000
_MOST_ATTRIBUTES = 40


def model_card(model: Any, facts: Mapping[str, Any]) -> str:
    """Return the card of a model from the report's `facts`; the same text for the same facts."""
    return _template().render(
        facts=facts,
        about={field.name: None for field in fields(About)} | (facts["about"] or {}),
        guarantee=facts["guarantee"],
        domains=public_domains(model.schema_)[:_MOST_ATTRIBUTES],
        n_more=max(0, len(model.schema_.names) + 1 - _MOST_ATTRIBUTES),
        ranked=sorted(facts.get("importances", {}).items(), key=lambda pair: -pair[1])[:_MOST_ATTRIBUTES],
        audits=[each for each in facts["attachments"] if not each["is_exact"]],
        left_out=[each["name"] for each in facts["attachments"] if each["is_exact"]],
    )


def escaped(value: object) -> str:
    """Return a value as text of one line in which neither Markdown nor HTML is obeyed."""
    text = _MARKUP.sub(r"\\\1", formats.shown(value, _LONGEST))
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@cache
def _template() -> "Template":
    from jinja2 import Environment as Made
    from jinja2 import PackageLoader, StrictUndefined

    # What autoescaping is to HTML: every value that a template writes passes through `escaped`.
    made: Environment = Made(
        loader=PackageLoader("privet.report", "forms"), autoescape=False, undefined=StrictUndefined, finalize=escaped,  # noqa: S701
        trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    made.filters |= {"percent": formats.percent, "exact": formats.exact}
    return made.get_template("card.md.jinja")
