"""What goes wrong outside of privet: folders for files, full disks, interrupts. One sentence each, and nothing left."""

import errno
import os
import resource
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet.cli.support.output import EXIT_DATA, EXIT_INTERRUPTED, EXIT_USAGE

# More than a compiled kernel's file takes, and less than the predictions of many.csv.
ROOM = 2 * 2**20


@pytest.fixture
def many_rows(model_file):
    """Rows whose predictions take more than there is room for."""
    table = pd.concat([pd.read_csv("rows.csv")] * 200, ignore_index=True)
    # Texts that no packing makes small.
    digits = np.random.default_rng(1).bytes(32 * len(table)).hex()
    table["id"] = [digits[64 * i : 64 * (i + 1)] for i in range(len(table))]
    table.to_csv("many.csv", index=False)


@contextmanager
def little_room():
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("line", ["predict folder rows.csv", "rules folder"])
def test_a_folder_is_no_model(refused, line):
    Path("folder").mkdir()
    assert refused(line, EXIT_DATA) == "cannot read the model 'folder': Is a directory; check the path"


@pytest.mark.parametrize("name", ["folder.csv", "folder.parquet"])
def test_a_folder_is_no_table(refused, model_file, name):
    Path(name).mkdir()
    said = refused(f"predict model.privet {name}", EXIT_DATA)
    assert said == f"cannot read {name!r}: it is a folder; name a file in it"


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_a_disk_that_is_full_leaves_no_file(privet, many_rows, name):
    before = sorted(Path().iterdir())
    with little_room():
        result = privet(f"predict model.privet many.csv --keep id -o {name}")
    assert result.stderr == f"privet: cannot write to {name!r}: File too large; choose another path\n"
    assert result.exit_code == EXIT_USAGE
    assert sorted(Path().iterdir()) == before


def test_stdout_on_a_disk_that_is_full_is_one_sentence(many_rows, monkeypatch):
    # Without a buffer, a write that finds too little room says how much it took and raises nothing.
    monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    line = [sys.executable, "-m", "privet", "predict", "model.privet", "many.csv", "--keep", "id"]
    with Path("out.csv").open("wb") as file, little_room():
        done = subprocess.run(line, stdout=file, stderr=subprocess.PIPE, text=True, check=False)
    assert done.stderr == "privet: cannot write the output: File too large; make room, or write elsewhere\n"
    assert done.returncode == EXIT_USAGE


def test_a_full_disk_is_told_on_stderr_even_where_json_was_asked_for(privet, monkeypatch):
    def load(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("privet.registry.load", load)
    result = privet("predict model.privet rows.csv --json")
    assert (result.exit_code, result.stdout) == (EXIT_USAGE, "")
    assert result.stderr == "privet: cannot write the output: No space left on device; make room, or write elsewhere\n"


@pytest.mark.parametrize(("name", "writer"), [("out.csv", "_csv_lines"), ("out.parquet", "pq.ParquetWriter")])
def test_an_interrupt_in_the_midst_of_writing_leaves_no_file(privet, model_file, monkeypatch, name, writer):
    def interrupted(*_):
        assert any(path.suffix == ".unfinished" for path in Path().iterdir())
        raise KeyboardInterrupt

    monkeypatch.setattr(f"privet.cli.support.predictions.{writer}", interrupted)
    before = sorted(Path().iterdir())
    result = privet(f"predict model.privet rows.csv -o {name}")
    assert (result.exit_code, result.stderr) == (EXIT_INTERRUPTED, "privet: interrupted\n")
    assert sorted(Path().iterdir()) == before
