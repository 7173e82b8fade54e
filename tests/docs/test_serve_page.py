"""What the page on the gateway shows works as it stands."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest
from tests.cli.conftest import SCHEMA, people
from tests.docs.test_pages import blocks, commands
from tests.service.gateway.running import RunningServer
from typer.testing import CliRunner

from privet.cli.app import app

ADDRESS = "http://127.0.0.1:8080"


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    people().to_csv("rows.csv", index=False)
    Path("schema.json").write_text(json.dumps(SCHEMA))
    return tmp_path


def test_the_page_leads_from_a_table_to_a_model(place):
    *before, run = commands("serve")
    told = [CliRunner().invoke(app, line.removeprefix("privet ")) for line in before]
    assert [each.exit_code for each in told] == [0] * 3, told[-1].output
    token = told[-1].stdout.split()[-1]
    assert run == "privet serve run gate"
    with RunningServer(place / "gate") as server:
        shell = blocks("serve", "bash")[0].replace(ADDRESS, server.url)
        environment = {"PATH": os.environ["PATH"], "TOKEN": token}
        shown = subprocess.run(["bash", "-ec", shell], env=environment, capture_output=True, text=True, timeout=120)  # noqa: S607
        assert shown.returncode == 0, shown.stderr
        budget, planned, fit = read_all(shown.stdout)
        assert (budget["analyst"], budget["left"], fit["epsilon"]) == ("ana", 2.0, 0.5)
        assert planned["method"] == "private-forest"
        names = {"TOKEN": token}
        exec(blocks("serve", "python")[0].replace(ADDRESS, server.url), names)  # noqa: S102
        names["gate"].close()
        assert names["fit"]["state"] == "done"
        assert np.isclose(names["model"].guarantee_.epsilon, 1.0)


def read_all(text):
    decoder, found, start = json.JSONDecoder(), [], 0
    while start < len(text):
        value, start = decoder.raw_decode(text, start)
        found.append(value)
    return found
