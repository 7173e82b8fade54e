"""Places on the command line: what every verb prints, whether it succeeds or refuses, and the files it leaves."""

import contextlib
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from privet.cli.app import app
from tests.contracts.tasks import OF_CLASSES
from tests.leaks.hearing import listening
from tests.leaks.place import Register
from tests.leaks.tables import FILE_FAULTS, SCHEMA, in_order

place = Register("Command line")
_FIT = "fit rows.parquet --schema schema.json --jobs 1"


def said(line: str) -> Iterator[tuple[str, Any]]:
    """Yield what a command line prints, warns and logs, in words and as JSON."""
    for words in (line, f"{line} --json"):
        with listening() as heard:
            result = CliRunner().invoke(app, words)
        assert result.exit_code in {0, 2, 3, 4}, (words, result.exit_code, result.output)
        yield words, [result.stdout, result.stderr]
        yield f"{words}: warnings and logs", [heard.warned, heard.logged, heard.threads, heard.output.getvalue()]


def done(line: str) -> Iterator[tuple[str, Any]]:
    """Yield what a command line that must succeed prints."""
    with listening() as heard:
        result = CliRunner().invoke(app, line)
    assert result.exit_code == 0, (line, result.output)
    yield line, [result.stdout, result.stderr]
    yield f"{line}: warnings and logs", [heard.warned, heard.logged, heard.threads]


def laid_out(folder: Path, *, n_rows: int | None = None) -> None:
    """Put the schema and the planted rows in a folder."""
    SCHEMA.save(folder / "schema.json")
    table = in_order(n_rows)
    table.to_parquet(folder / "rows.parquet")
    table.to_csv(folder / "rows.csv", index=False)


def left_behind(folder: Path, *inputs: str) -> Iterator[tuple[str, Any]]:
    """Yield every file of the folder but those that were there and those that by design hold rows."""
    kept = {"schema.json", "rows.csv", "rows.parquet", *inputs}
    for path in sorted(own for own in folder.rglob("*") if own.is_file()):
        if path.name not in kept:
            yield f"file {path.relative_to(folder)}", path


@place("fit, update, plan, report, rules, export and ledger: output in words and as JSON, and every file they leave")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder)
    yield from done("ledger init ledger.db --dataset survey --epsilon 3")
    yield from done("plan --schema schema.json --rows 8000 --epsilon 0.001 --json")
    for method in OF_CLASSES:
        few = {"private-rdt": "--trees 3 --height 3", "dpdf": "--trees 2 --height 2"}.get(method, "")
        price = 0.05 if method == "private-forest" else 0.001
        line = f"{_FIT} --method {method} {few} --epsilon {price} -o {method}.privet --ledger ledger.db --progress"
        yield from done(line)
        yield from done(f"{line} --force --json")
        yield from done(f"report {method}.privet --ledger ledger.db -o {method}.html")
        yield from said(f"export {method}.privet --format js -o {method}.js --force")
        yield from said(f"rules {method}.privet --merge")
    yield from done("update private-rdt.privet rows.csv --jobs 1")
    for verb in ("show", "verify"):
        yield from said(f"ledger {verb} ledger.db")
    # The ledger holds a keyed fingerprint of batches, and is searched in a place of its own.
    yield from left_behind(folder)


@place(
    "fit, update, predict, score, evaluate, schema, perturb and party that refuse a file: one sentence, and no file",
    slow=True,
)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder)
    list(done(f"{_FIT} --method private-rdt --trees 3 --epsilon 0.001"))
    list(done("party keygen bank"))
    list(done("party structure --schema schema.json --method private-rdt --epsilon 0.5 --trees 3"))
    planted = folder / "planted"
    planted.mkdir()
    for name, (file, content) in FILE_FAULTS.items():
        (planted / file).write_bytes(content())
        given = f"planted/{file}"
        for line in (
            f"fit {given} --schema schema.json --epsilon 0.5 -o new.privet --force",
            f"update model.privet {given} -o new.privet --force",
            f"predict model.privet {given} -o predicted.csv --force",
            f"score model.privet {given} --json",
            f"evaluate {given} --schema schema.json --folds 2 --trees 2",
            f"schema check schema.json {given}",
            f"schema review schema.json {given} --by Ann",
            f"schema init {given} -o draft.json --force",
            f"perturb {given} --schema schema.json --noise laplace --epsilon 1 --secret k.json -o answers.csv --force",
            f"party release {given} --structure structure.json --key bank.key --again --force",
        ):
            yield from ((f"{name}: {what}", thing) for what, thing in said(line))
        (planted / file).unlink()
    # By design: a draft has the values it was drafted from, and answers have clear columns; secrets are keys.
    yield from left_behind(folder, "draft.json", "answers.csv", "answers.channel.json")


@place("predict, explain, score, audit, evaluate and schema check: what is printed of rows that are read", counts=False)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder, n_rows=500)
    list(done("fit rows.csv --schema schema.json --epsilon 1 --jobs 1"))
    for line in (
        "predict model.privet rows.csv --proba --progress",
        "explain model.privet rows.csv --class yes",
        "score model.privet rows.csv",
        "audit --model model.privet --members rows.csv --others rows.csv",
        "evaluate rows.csv --schema schema.json --folds 2 --trees 2 --epsilon 0.1,inf",
        "schema check schema.json rows.csv",
        "perturb --schema schema.json --noise laplace --epsilon 4 --explain",
        "perturb rows.csv --schema schema.json --noise laplace --epsilon 4 --explain --id person --secret my.key",
    ):
        yield from said(line)


@place("a bar in a terminal, and lines where there is none, of a fit in a process of its own", slow=True)
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder)
    line = [sys.executable, "-m", "privet", *f"{_FIT} --epsilon 0.05 --progress -o m.privet --force".split()]
    plain = subprocess.run(line, capture_output=True, check=True)
    yield "without a terminal", [plain.stdout, plain.stderr]
    screen, terminal = pty.openpty()
    with subprocess.Popen(line, stdout=terminal, stderr=terminal, stdin=terminal) as process:
        os.close(terminal)
        shown = b""
        with contextlib.suppress(OSError):  # Linux answers so when the last writer is gone
            while chunk := os.read(screen, 65_536):
                shown += chunk
        assert process.wait() == 0
    os.close(screen)
    assert b"epsilon" in shown
    yield "in a terminal", shown


@place("completion scripts and help")
def _(folder: Path) -> Iterator[tuple[str, Any]]:
    laid_out(folder, n_rows=500)
    for line in ("--show-completion bash", "--show-completion zsh", "--help", "fit --help"):
        yield line, CliRunner().invoke(app, line).output
