"""The page that leads to the arguments: what each of them claims, and which code it covers."""

import re

from docs.tools.included import Included, argument_folders, arguments, heading_of

_INTRODUCTION = """# Arguments

Whatever privet promises is argued in half a page beside the code that keeps the promise: the claim, who counts as a
neighbour, what is taken as public, why it holds, what is assumed. A test makes sure that every function an argument
covers is still there. These pages are those files. What was tested or measured beside them is in
[What stands behind it](../assurance.md).
"""


def pages() -> dict[str, str]:
    """Return the page, by its place."""
    parts = [_INTRODUCTION]
    for folder, title in argument_folders().items():
        own = [page for page in arguments() if page.source.rpartition("/")[0] == f"src/privet/{folder}"]
        lines = [f"| [{_title(page)}]({page.page.removeprefix('arguments/')}) | {_claim(page)} |" for page in own]
        parts.append("\n".join([f"## {title}\n", "| argument | claim |", "|---|---|", *lines]) + "\n")
    return {"arguments/index.md": "\n".join(parts)}


def _title(page: Included) -> str:
    return heading_of(page.text) or page.title


def _claim(page: Included) -> str:
    """Return the claim, or the first paragraph where there is none."""
    found = re.search(r"^\*\*Claim\.\*\* (.+?)(?:\n\s*\n)", page.text, re.MULTILINE | re.DOTALL)
    text = found[1] if found else page.text.split("\n\n")[1]
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
