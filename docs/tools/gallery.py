"""The gallery: every example that draws, run while the site is built, with its picture and its code.

The pictures need privet and matplotlib, and so are made beforehand: ``python -m docs.tools.gallery build/docs``.
"""

import ast
import runpy
import sys
from pathlib import Path

from docs.tools.included import ROOT, MissingPages

# From the first model to what comes after it.
ORDER = ("first_forest", "shapes", "epsilon", "budget", "rules", "updates", "attack", "disturbed", "parties")
_INTRODUCTION = """# Gallery

Each picture is drawn by a short script in `examples/`, again whenever these pages are built. Noise is not seeded, so
it differs from one build to the next.

<div class="gallery" markdown>
"""


def draw_all(folder: Path) -> None:
    """Run every example and put its picture into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in example_names():
        print(f"drawing {name}", file=sys.stderr)
        runpy.run_path(str(_script(name)))["main"](folder / f"{name}.png")


def pages(made: Path) -> dict[str, str]:
    """Return the gallery's pages, by their places; the pictures are in the folder ``made``."""
    missing = [name for name in example_names() if not (made / "gallery" / f"{name}.png").is_file()]
    if missing:
        raise MissingPages([f"build/docs/gallery/{name}.png" for name in missing])
    entries = [
        f"<figure markdown>\n[![{title(name)}]({name}.png)]({name}.md)\n"
        f"<figcaption markdown>[{title(name)}]({name}.md)</figcaption>\n</figure>\n"
        for name in example_names()
    ]
    index = "\n".join([_INTRODUCTION, *entries, "</div>\n"])
    return {"gallery/index.md": index, **{f"gallery/{name}.md": _page(name) for name in example_names()}}


def example_names() -> list[str]:
    """Return the examples that draw, in the order in which they are shown, and refuse one that has no place in it."""
    found = {path.stem.removeprefix("plot_") for path in (ROOT / "examples").glob("plot_*.py")}
    if found != set(ORDER):
        raise MissingPages([f"examples/plot_{name}.py, or its place in the gallery" for name in found ^ set(ORDER)])
    return list(ORDER)


def title(name: str) -> str:
    """Return the first line of an example's docstring."""
    return _docstring(name).split("\n")[0].removesuffix(".")


def _page(name: str) -> str:
    text = _docstring(name).partition("\n\n")[2]
    code = _script(name).read_text(encoding="utf-8").split('"""', 2)[2].strip()
    command = f"`python examples/plot_{name}.py` draws it."
    return f"# {title(name)}\n\n{text}\n\n![{title(name)}]({name}.png)\n\n{command}\n\n```python\n{code}\n```\n"


def _docstring(name: str) -> str:
    return ast.get_docstring(ast.parse(_script(name).read_text(encoding="utf-8"))) or name


def _script(name: str) -> Path:
    return ROOT / "examples" / f"plot_{name}.py"


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]) / "gallery")
