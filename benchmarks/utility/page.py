"""Write the page, the pictures and the summary from what has been measured: ``python -m benchmarks.utility.page``."""

import argparse
import csv
from pathlib import Path
from typing import Any

from benchmarks.peer_environment import PEERS as USUAL
from benchmarks.peer_environment import SYNTHETIC
from benchmarks.utility import monotone, pictures, tables
from benchmarks.utility.methods import EPSILONS, FOREST, METHODS
from benchmarks.utility.peers import CPU_SECONDS, REQUIREMENTS
from benchmarks.utility.plan import cells
from benchmarks.utility.run import FITS, RESULTS
from benchmarks.utility.splits import GROUPS, TABLES
from benchmarks.utility.store import Cell, Store
from benchmarks.utility.summary import Summary, critical_difference
from privet import __version__

IMAGE = Path(__file__).parents[2] / "docs" / "images" / "accuracy.png"
_TEMPLATE = Path(__file__).with_name("template.md")
_OTHER_SCORES = {
    "balanced_accuracy": ("Balanced accuracy", ".3f"),
    "auc": ("AUC", ".3f"),
    "log_loss": ("Log loss", ".2f"),
}


def page(store: Store) -> str:
    """Return the page in Markdown."""
    summary = Summary(store.scores())
    parts = {
        "n_tables": len(TABLES),
        "state": _state(store),
        **_means(summary),
        **_binary_means(summary),
        **_losses(summary),
        **_ranks(summary),
        "groups": "\n".join(f"- {title}: {', '.join(group)}" for title, group in GROUPS.items()),
        "monotone": monotone.section(summary),
        "tables": "\n\n".join(_group(summary, title) for title in GROUPS),
        "synthetic": tables.synthetic_table(summary, store.failures()),
        "local": tables.local_table(summary),
        "version": __version__,
        "requirements": _installation(USUAL),
        "synthetic_requirements": _installation(SYNTHETIC),
        "cpu_seconds": CPU_SECONDS,
        "settings": tables.setting_table(),
        "failures": _failures(store),
    }
    return _TEMPLATE.read_text(encoding="utf-8").format(**parts).rstrip() + "\n"


def _installation(environment: str) -> str:
    return " ".join(f'"{name}"' for names in REQUIREMENTS[environment].values() for name in names)


def _state(store: Store) -> str:
    asked = cells()
    missing = len(store.missing(asked))
    if not missing:
        return f"There are {len(asked):,} fits."
    return f"**The run is not at its end**: {len(asked) - missing:,} of {len(asked):,} fits are done."


def _means(summary: Summary) -> dict[str, Any]:
    methods = tables.for_all_classes()
    common = summary.common_tables(methods, EPSILONS)
    left_out = [table for table in TABLES if table not in common]
    scores = [
        f"**{title}**\n\n{tables.score_table(summary, methods, common, score, form)}"
        for score, (title, form) in _OTHER_SCORES.items()
    ]
    return {
        "n_common": len(common),
        "without": f"Not every method is measured on {', '.join(left_out)} yet." if left_out else "",
        "majority": _mean_percent(summary.majority, common),
        "ceiling": _mean_percent(summary.ceiling, common),
        "means": tables.mean_table(summary, methods, common),
        "gaps": tables.gap_table(summary, methods, common),
        "scores": "\n\n".join(scores),
    }


def _binary_means(summary: Summary) -> dict[str, Any]:
    methods = [*tables.for_all_classes(), *(name for name, method in METHODS.items() if method.binary_only)]
    common = summary.common_tables(methods, EPSILONS)
    return {
        "n_binary": len(common),
        "binary_majority": _mean_percent(summary.majority, common),
        "binary_ceiling": _mean_percent(summary.ceiling, common),
        "binary_means": tables.mean_table(summary, methods, common),
    }


def _mean_percent(bound: Any, names: list[str]) -> str:
    return tables.percent(sum(map(bound, names)) / len(names)) if names else ""


def _losses(summary: Summary) -> dict[str, Any]:
    leads = summary.losses(FOREST, tables.rivals(), EPSILONS)
    return {
        "loss_counts": tables.loss_counts(summary, leads),
        "n_rivals": len(tables.rivals()),
        "losses": tables.loss_table(summary, leads),
        "duels": tables.duel_table(summary),
    }


def _ranks(summary: Summary) -> dict[str, Any]:
    methods = pictures.ranked_methods()
    common = summary.common_tables(methods, EPSILONS)
    return {
        "n_main": len(common),
        "k": len(methods),
        "critical": critical_difference(len(methods), len(common)),
        "ranks": tables.rank_table(summary, methods, common),
    }


def _group(summary: Summary, title: str) -> str:
    parts = [f"### {title.capitalize()}", f"![accuracy over epsilon, {title}]({_picture(title)})"]
    parts += [f"#### {_title(table)}\n\n{tables.one_table(summary, table)}" for table in GROUPS[title]]
    return "\n\n".join(parts)


def _picture(group: str) -> str:
    return f"tables_{group.split()[0]}.png"


def _title(table: str) -> str:
    facts = TABLES[table]
    return f"{table}: {facts.rows:,} rows, {facts.attributes} attributes, {facts.classes} classes"


def _failures(store: Store) -> str:
    """Return which fits failed, once for each method, table and reason."""
    found: dict[tuple[str, str, str], list[Cell]] = {}
    for cell, why in store.failures().items():
        found.setdefault((cell.method, cell.table, why), []).append(cell)
    lines = [f"- {m} on {t}, {len(own)} fits: `{why.replace('`', '')}`" for (m, t, why), own in found.items()]
    return "\n".join(["## Fits that failed", "", *lines]) if lines else ""


def write(store: Store, folder: Path, image: Path) -> None:
    """Write everything that is made from the results."""
    summary = Summary(store.scores())
    folder.mkdir(parents=True, exist_ok=True)
    for title, group in GROUPS.items():
        pictures.draw_tables(summary, tuple(group), folder / _picture(title))
    pictures.draw_steps(monotone.of_forest(summary), folder / "monotone.png")
    pictures.draw_ranks(summary, folder / "ranks.png")
    pictures.draw_means(summary, image)
    for name, lines in {"summary": tables.summary_lines(summary), "monotone": monotone.csv_lines(summary)}.items():
        with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(lines)
    (folder / "README.md").write_text(page(store), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--fits", type=Path, default=FITS, metavar="FILE", help="what has been measured")
    parser.add_argument("--folder", type=Path, default=RESULTS, metavar="FOLDER", help="where the page goes")
    parser.add_argument("--image", type=Path, default=IMAGE, metavar="FILE", help="where the README's picture goes")
    given = parser.parse_args()
    write(Store(given.fits), given.folder, given.image)


if __name__ == "__main__":
    main()
