"""Small pieces of HTML. Whatever comes from a model file passes through `text`: names and labels are a stranger's."""

import html
import json
from collections.abc import Iterable, Sequence

from privet.privacy.guarantee import rounded_up

# A longer name is cut; a schema may hold thousands of a thousand characters each.
MAX_SHOWN = 72
_MOST_LISTED = 40
_KEY = 20
# A thinner piece of a bar is not seen, and there may be thousands of classes.
_HAIR = 0.005
_MINUS = "\N{MINUS SIGN}"


def shown(value: object, most: int | None = MAX_SHOWN) -> str:
    """Return ``value`` as text that steers nothing: characters one cannot see are spelled out, a long text is cut."""
    text = str(value)
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def text(value: object, most: int | None = MAX_SHOWN) -> str:
    """Return ``value`` escaped for HTML and apart from its surroundings in writing direction."""
    return f"<bdi>{html.escape(shown(value, most))}</bdi>"


def sentence(value: str) -> str:
    """Return a whole sentence escaped for HTML; it may quote names."""
    return html.escape(shown(value, most=20_000))


def table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    caption: str = "",
    kind: str = "",
    numbers: Sequence[int] = (),
) -> str:
    """Return a table of cells that are HTML already; the columns ``numbers`` are aligned to the right.

    ``label`` names it for those who hear the page; ``caption`` is shown above it.
    """
    marks = [' class="number"' if j in numbers else "" for j in range(len(headings))]
    head = "".join(f'<th scope="col"{mark}>{cell}</th>' for cell, mark in zip(headings, marks, strict=True))
    body = "".join(
        f"<tr>{''.join(f'<td{mark}>{cell}</td>' for cell, mark in zip(row, marks, strict=True))}</tr>\n" for row in rows
    )
    told = f"<caption>{caption}</caption>" if caption else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{label}">'
        f'<table class="{kind}">{told}<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'
    )


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of a name and what it stands for; both are HTML already."""
    body = "".join(f'<tr><th scope="row">{name}</th><td>{value}</td></tr>\n' for name, value in rows)
    return f'<table class="pairs"><tbody>{body}</tbody></table>'


def listed(items: Sequence[str], *, otherwise: str) -> str:
    """Return the items, each a stranger's text, as a list."""
    if not items:
        return otherwise
    entries = [text(item, most=400) for item in items[:_MOST_LISTED]]
    entries += [f"and {len(items) - _MOST_LISTED:,} more"] if len(items) > _MOST_LISTED else []
    return f"<ul>{''.join(f'<li>{entry}</li>' for entry in entries)}</ul>"


def bar(share: float) -> str:
    """Return a bar as wide as ``share`` of its place."""
    width = round(100 * min(max(share, 0.0), 1.0), 2)
    return (
        '<svg class="bar" role="presentation" width="100%" height="10"><rect class="track" width="100%" height="10" '
        'rx="2"/>'
        f'<rect class="accent" width="{width}%" height="10" rx="2"/></svg>'
    )


def stacked_bar(shares: Sequence[float]) -> str:
    """Return one bar made of the classes' shares, in their colours."""
    pieces, start = [], 0.0
    for k, share in enumerate(shares):
        if share >= _HAIR:
            pieces.append(
                f'<rect class="class-{k % 10}" x="{100 * start:.2f}%" width="{100 * share:.2f}%" height="10"/>'
            )
        start += share
    return (
        '<svg class="bar" role="presentation" width="100%" height="10"><rect class="track" width="100%" height="10"/>'
        f"{''.join(pieces)}</svg>"
    )


def class_key(classes: Sequence[object]) -> str:
    """Return which colour stands for which class."""
    entries = "".join(
        f'<li><span class="swatch class-{k % 10}"></span>{text(label)}</li>' for k, label in enumerate(classes[:_KEY])
    )
    more = f"<li>and {len(classes) - _KEY:,} more</li>" if len(classes) > _KEY else ""
    return f'<ul class="key" aria-label="Colours of the classes">{entries}{more}</ul>\n'


def embedded_json(data: object) -> str:
    """Return JSON for a script element: plain ASCII in which nothing can close the element."""
    plain = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def number(value: float) -> str:
    """Return a number for reading: whole ones with separators, others to three digits."""
    if float(value).is_integer() or abs(value) >= 1000:
        return f"{value:,.0f}".replace("-", _MINUS)
    return f"{value:.3g}".replace("-", _MINUS)


def exact(epsilon: float) -> str:
    """Return an epsilon to twelve digits, rounded up: it must not look smaller than it is."""
    return rounded_up(float(epsilon))


def percent(share: float) -> str:
    """Return a share in percent to a tenth."""
    return f"{100 * share:.1f} %"
