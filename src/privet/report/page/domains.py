"""The schema as the officer has to vouch for it: what was declared public about each attribute."""

from privet.report.page.formats import number, table, text
from privet.schema import Attribute, Numeric, Schema

_MOST_SHOWN = 600


def domains_section(schema: Schema) -> str:
    """Return every attribute with its domain, and the classes."""
    rows = [(text(a.name), _domain(a), "read from the rows" if a.inferred else "declared") for a in schema.attributes]
    classes = ", ".join(str(label) for label in schema.classes)
    how = "read from the rows" if schema.classes_inferred else "declared"
    rows.append((f"{text(schema.target)} (the class)", text(classes, _MOST_SHOWN), how))
    about = f" The table was said to have about {schema.rows:,} rows." if schema.rows is not None else ""
    return (
        "<h2>What was taken as public</h2>\n<p>The promise holds for whoever knows this anyway; whoever signs vouches "
        f"that it gives nobody away.{about}</p>\n"
        f"{table(['attribute', 'domain', 'how it is known'], rows, label='Public domains')}"
    )


def _domain(attribute: Attribute) -> str:
    if not isinstance(attribute, Numeric):
        return text(", ".join(str(category) for category in attribute.categories), _MOST_SHOWN)
    return f"{number(attribute.low)} to {number(attribute.high)}, in {attribute.n_values:,} cells"
