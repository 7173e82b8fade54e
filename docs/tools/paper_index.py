"""The page that leads to the papers, with how many of each one's claims hold."""

import csv
from collections import Counter

from docs.tools.included import ROOT, MissingPages, heading_of, paper_names

_INTRODUCTION = """# Papers

Most of privet's methods come from five papers. Each of them was measured again with privet, as a user would: every
claim has its line, beside the paper's own figure, and one that does not come back stays in the table with the reason.
Lines of our own are counted with them; instead of a figure they say "ours", "not considered" or "not in the paper".

| paper | claims that hold | do not | not measured | |
|---|---:|---:|---:|---|
"""
_CLOSING = """
`privet papers run NAME --quick` makes a small version of each in a minute or two; `--full` made what is shown here.
"""


def pages() -> dict[str, str]:
    """Return the page, by its place."""
    lines = []
    for name in paper_names():
        folder = ROOT / "papers" / name.replace("-", "_")
        verdicts = _verdicts(name)
        title = heading_of((folder / "README.md").read_text(encoding="utf-8")) or name
        counts = " | ".join(str(verdicts[verdict]) for verdict in ("yes", "no", "not measured"))
        lines.append(f"| [{title}]({name}/index.md) | {counts} | [all claims]({name}/claims.md) |")
    return {"papers/index.md": _INTRODUCTION + "\n".join(lines) + "\n" + _CLOSING}


def _verdicts(name: str) -> Counter[str]:
    path = ROOT / "papers" / name.replace("-", "_") / "results" / "claims.csv"
    if not path.is_file():
        raise MissingPages([str(path.relative_to(ROOT))])
    with path.open(encoding="utf-8", newline="") as file:
        return Counter(line["holds?"] for line in csv.DictReader(file))
