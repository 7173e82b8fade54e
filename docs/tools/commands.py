"""The page of the command line, made from what ``--help`` knows: ``python -m docs.tools.commands build/docs``."""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from privet.cli.app import app

_INTRODUCTION = """# Commands

Data go to stdout, messages and progress to stderr. `--json` works everywhere. `--force` lets an output replace a file.
`privet --install-completion` sets up completion in your shell. Error messages about your table are for you, not for
the public.

| exit code | means |
|---|---|
| 0 | done |
| 2 | the command line is wrong |
| 3 | the data, the schema or a file is |
| 4 | the ledger refused |
| 1 | a fault of privet's own |
| 130, 141 | interrupted; whoever read the output went away |
"""


def page() -> str:
    """Return the page: a section for every verb."""
    sections = [_section(name, command) for name, command in _verbs("privet", typer.main.get_command(app))]
    return "\n".join([_INTRODUCTION, *sections])


def _verbs(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    for word, verb in getattr(command, "commands", {}).items():
        if not verb.hidden:
            yield f"{name} {word}", verb
            yield from _verbs(f"{name} {word}", verb)


def _section(name: str, command: Any) -> str:
    order = "###" if name.count(" ") > 1 else "##"
    parts = [f"{order} {name}\n", *(f"{_plain(text)}\n" for text in (command.help or "").split("\n\n"))]
    examples = [line.removeprefix("Example:").strip() for line in (command.epilog or "").splitlines() if line.strip()]
    parts += ["```sh", *examples, "```\n"] if examples else []
    lines = [_line(parameter) for parameter in command.params if not getattr(parameter, "hidden", False)]
    if lines and not hasattr(command, "commands"):
        parts += ["| argument | meaning |", "|---|---|", *lines, ""]
    return "\n".join(parts)


def _line(parameter: Any) -> str:
    """Return a line of the table: what may be given, and what it is."""
    if parameter.param_type_name == "argument":
        given = f"`{parameter.name.upper()}`"
    else:
        given = ", ".join(f"`{word}`" for word in (*parameter.opts, *parameter.secondary_opts))
    return f"| {given} | {_plain(getattr(parameter, 'help', None) or '')} |"


def _plain(text: str) -> str:
    """Return help as one line of Markdown, in which nothing but what is quoted stands for something else."""
    escaped = re.sub(r"([|<>*_\[\]])", r"\\\1", " ".join(text.split()))
    return re.sub(r"`[^`]*`", lambda code: code[0].replace("\\", ""), escaped)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "commands.md").write_text(page(), encoding="utf-8")
