"""privet fit on several files, with progress, and on a cluster."""

import json
import re
from pathlib import Path

import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from privet import load
from privet.cli.support import progress
from privet.cli.support.cluster import Cluster
from privet.cli.support.output import EXIT_DATA, EXIT_USAGE

FIT = "--schema schema.json --method private-rdt --epsilon inf --random-state 3"


@pytest.fixture
def parts(folder):
    """The rows in three files beside rows.csv."""
    table = pd.read_csv("rows.csv")
    Path("parts").mkdir()
    for number in range(3):
        table[100 * number : 100 * (number + 1)].to_parquet(f"parts/part-{number}.parquet")
    return folder


@pytest.mark.parametrize(
    "rows", ["parts", "parts/part-*.parquet", "parts/part-0.parquet parts/part-1.parquet parts/part-2.parquet"]
)
def test_several_files_are_one_table(privet, parts, rows):
    assert privet(f"fit {rows} {FIT} -o several.privet").exit_code == 0
    assert privet(f"fit rows.csv {FIT} -o one.privet").exit_code == 0
    assert_array_equal(load("several.privet").noisy_counts_, load("one.privet").noisy_counts_)


def test_a_file_that_is_named_twice_is_refused(refused, parts):
    assert "'rows.csv' is named twice" in refused(f"fit rows.csv rows.csv {FIT}", EXIT_DATA)
    assert not Path("model.privet").exists()


def test_a_part_that_differs_is_named(refused, parts):
    pd.read_parquet("parts/part-2.parquet").rename(columns={"sex": "Sex"}).to_parquet("parts/part-2.parquet")
    said = refused(f"fit parts {FIT}", EXIT_DATA)
    assert said == (
        "'parts/part-2.parquet' differs: the table lacks the column 'sex'; did you mean 'Sex'? Rename one of the two"
    )


def test_a_file_of_the_pattern_is_never_replaced(refused, parts):
    before = Path("parts/part-1.parquet").read_bytes()
    said = refused(f"fit parts/*.parquet {FIT} -o parts/part-1.parquet --force", EXIT_USAGE)
    assert said.startswith("'parts/part-1.parquet' is read by this command")
    assert Path("parts/part-1.parquet").read_bytes() == before


def test_progress_tells_bytes_and_no_rows(privet, parts, monkeypatch):
    monkeypatch.setattr(progress, "_BETWEEN_LINES", 0.0)
    said = privet(f"fit parts {FIT} --progress").stderr.splitlines()
    assert len(said) == 4
    assert all(re.fullmatch(r"privet: reading the rows: \d+% of the bytes", line) for line in said)
    assert said[-1].endswith("100% of the bytes")
    declared = json.loads(Path("schema.json").read_text())
    del declared["rows"]  # to find that out is a pass more
    Path("schema.json").write_text(json.dumps(declared))
    twice = privet(f"fit parts {FIT} --progress --force").stderr.splitlines()
    assert twice[-1] == "privet: reading the rows, pass 2: 100% of the bytes"


def test_without_asking_there_is_no_progress_where_there_is_no_terminal(privet, parts):
    assert privet(f"fit parts {FIT}").stderr == ""


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ("--dask-tls-ca ca.pem", "--dask-tls-ca is for a cluster; name its scheduler with --dask tls://host:port"),
        (
            "--dask tcp://a:1 --dask-tls-key k.pem",
            "--dask-tls-key needs an encrypted scheduler; name it with --dask tls",
        ),
        ("--dask tls://127.0.0.1:9 --dask-tls-ca ca.pem", "cannot read 'ca.pem', which is named for TLS"),
    ],
)
def test_a_cluster_that_cannot_be_meant_is_refused(refused, given, sentence):
    assert sentence in refused(f"fit rows.csv {FIT} {given}", EXIT_USAGE)
    assert not Path("model.privet").exists()


@pytest.mark.parametrize(
    ("address", "is_told"),
    [
        ("tcp://10.0.0.7:8786", True),
        ("tcp://scheduler:8786", True),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
        ("tls://10.0.0.7:8786", False),
    ],
)
def test_exact_counts_without_encryption_are_spoken_of(monkeypatch, capsys, address, is_told):
    from contextlib import nullcontext

    monkeypatch.setattr("privet.counting.engines.dask.cluster_executor", lambda address, **tls: nullcontext("there"))
    with Cluster(address).executor() as executor:
        assert executor == "there"
    assert ("exact counts travel to this cluster and back unencrypted" in capsys.readouterr().err) == is_told
