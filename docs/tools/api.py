"""The pages of Python's names, grouped by whom they ask to trust. What they say comes from docstrings."""

import ast
from dataclasses import dataclass

from docs.tools.included import ROOT


@dataclass(frozen=True)
class Group:
    """A page of names: what a package offers."""

    page: str
    title: str
    text: str
    package: str

    @property
    def names(self) -> list[str]:
        """The names, the recommended one first; of packages that repeat others' names those that no other page has."""
        others = [group for group in GROUPS if group is not self and group.package != "privet"]
        elsewhere = {name for group in others for name in public_names(group.package)}
        own = [name for name in public_names(self.package) if self.package not in _REPEAT or name not in elsewhere]
        return sorted(own, key=lambda name: name != RECOMMENDED)


_REPEAT = ("privet", "privet.partitioned")
RECOMMENDED = "PrivateForestClassifier"
GROUPS = (
    Group("common", "In common", "What is public, what was spent, and models from files.", "privet"),
    Group("curator", "One curator", "Who is trusted with the rows, and releases a model with noise.", "privet.central"),
    Group(
        "nobody", "Nobody", "Values are disturbed before they leave; trees are grown from what arrives.", "privet.local"
    ),
    Group("parties", "Each holder", "Several holders of rows, each of whom keeps its own.", "privet.partitioned"),
    Group("signing", "Whose model", "Keys, and signatures of models.", "privet.signing"),
    Group("report", "Reading a model", "Text, pictures and the page to sign, from released numbers.", "privet.report"),
    Group("export", "Exporting a model", "Predictors that need no privet.", "privet.export"),
    Group("attack", "Attacking a method", "How much of its epsilon an attacker can show.", "privet.attack"),
    Group("datasets", "Tables to try", "Invented people, a game, and tables of the UCI repository.", "privet.datasets"),
    Group("errors", "Errors", "Everything privet refuses to do, and how it says so.", "privet.errors"),
)


def pages() -> dict[str, str]:
    """Return the pages, by their places."""
    return {"api/index.md": _index(), **{f"api/{group.page}.md": _page(group) for group in GROUPS}}


def public_names(package: str) -> list[str]:
    """Return the names that a package or a module offers. Nothing is imported.

    They are in ``__all__``, or in the imports for type checkers of a package that imports on first use. A module with
    neither offers its classes.
    """
    path = ROOT / "src" / package.replace(".", "/")
    tree = ast.parse((path / "__init__.py" if path.is_dir() else path.with_suffix(".py")).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            return [name for name in ast.literal_eval(node.value) if not name.startswith("_")]
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING" and node.orelse:
            imports = [line for line in node.body if isinstance(line, ast.ImportFrom)]
            return [alias.asname for line in imports for alias in line.names if alias.asname]
    return [node.name for node in tree.body if isinstance(node, ast.ClassDef)]


def _index() -> str:
    lines = [
        f"| [{group.title}]({group.page}.md) | "
        + ", ".join(f"[`{name}`]({group.page}.md#{group.package}.{name})" for name in group.names)
        + " |"
        for group in GROUPS
    ]
    first = "Names by the question that privet asks first: whom do you trust with the rows?"
    return "\n".join(["# Python\n", f"{first}\n", "| whom | names |", "|---|---|", *lines, ""])


def _page(group: Group) -> str:
    blocks = [f"::: {group.package}.{name}\n" for name in group.names]
    return "\n".join([f"# {group.title}\n", f"{group.text}\n", *blocks])
