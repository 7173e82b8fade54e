"""A gateway in one file: what was spent stays spent, what was released is there, and no payment buys two draws."""

import json
import stat
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from privet import Ledger
from privet.errors import DataError, LedgerError
from privet.service.gateway.app import make_app
from privet.service.gateway.backup import back_up, restore
from privet.service.gateway.fits import fits_of
from tests.service.gateway.conftest import Asking
from tests.service.gateway.running import START


class Restored:
    """The gateway that a backup became, with its server."""

    def __init__(self, folder):
        self.folder, self.ledger = folder, folder.open_ledger()
        self.client = TestClient(make_app(folder, self.ledger))


@pytest.fixture
def backup(gateway, ana, tmp_path):
    """A backup after one fit; the file, and the fit."""
    fit = ana.made()["fit"]
    back_up(gateway.folder, tmp_path / "gate.tar")
    return tmp_path / "gate.tar", fit


def again(gateway, file, ledger=None, **options):
    folder = gateway.folder.path.parent
    return restore(file, folder / "again", rows=folder / "rows.csv", ledger=ledger or gateway.ledger.path, **options)


def test_with_the_ledger_all_that_was_released_and_spent_is_there_again(gateway, ana, backup):
    file, fit = backup
    model = ana.get(f"/v1/fits/{fit}/model").content
    later = ana.made()["fit"]
    restored = Restored(again(gateway, file))
    with restored.client:
        asking = Asking(restored, "ana", ana.token)
        assert asking.get(f"/v1/fits/{fit}/model").content == model
        assert asking.get("/v1/budget").json()["spent"] == 1.0
        # Paid for after the backup, which has no model of it: charged, and not made a second time.
        assert asking.get(f"/v1/fits/{later}").json()["state"] == "failed"
    assert gateway.releases() == ["settled", "settled"]


def test_a_fit_that_waited_when_the_backup_was_made_is_charged_and_not_made_again(make_gateway, tmp_path):
    gateway = make_gateway("idle", workers=0)
    ana = gateway.analyst()
    fit = ana.ask().json()["fit"]
    back_up(gateway.folder, tmp_path / "gate.tar")
    restored = Restored(again(gateway, tmp_path / "gate.tar"))
    with restored.client:
        asking = Asking(restored, "ana", ana.token)
        assert asking.get(f"/v1/fits/{fit}").json()["state"] == "failed"
        assert asking.get("/v1/budget").json()["spent"] == 0.5
    assert [own.is_open for own in fits_of(restored.ledger.account())] == [True]
    assert not restored.folder.model_file(fit).exists()


def test_a_gateway_that_goes_on_beside_its_restored_copy_is_alone_in_making_its_fits(make_gateway, tmp_path):
    gateway = make_gateway("idle", workers=0)
    ana = gateway.analyst()
    back_up(gateway.folder, tmp_path / "gate.tar")
    restored = Restored(again(gateway, tmp_path / "gate.tar"))
    before_start, after_start = ana.ask().json()["fit"], None
    with restored.client:
        asking = Asking(restored, "ana", ana.token)
        assert asking.get(f"/v1/fits/{before_start}").json()["state"] == "failed"
        after_start = ana.ask(key="same").json()["fit"]
        told = asking.ask(key="same").json()
        assert (told["fit"], told["state"]) == (after_start, "failed")
    assert [ana.get(f"/v1/fits/{fit}").json()["state"] for fit in (before_start, after_start)] == ["waiting"] * 2
    assert not list((restored.folder.path / "begun").iterdir())


def test_without_the_ledger_the_backup_s_own_is_taken_on_the_owner_s_word_only(gateway, backup, tmp_path):
    file, _ = backup
    with pytest.raises(LedgerError, match="could be spent again; pass the ledger itself as --ledger, or say"):
        again(gateway, file, tmp_path / "new.db")
    assert not (tmp_path / "one" / "again").exists()
    restored = again(gateway, file, tmp_path / "new.db", nothing_spent_since=True)
    assert restored.open_ledger().account().spent() == 0.5
    assert stat.S_IMODE((tmp_path / "new.db").stat().st_mode) == 0o600
    assert {path.name for path in restored.path.iterdir()} == {
        "settings.json", "schema.json", "analysts.json", "audit.jsonl", "models", "begun"
    }  # fmt: skip


def test_an_older_ledger_is_refused_where_a_newer_one_was_seen(gateway, ana, backup, tmp_path):
    file, _ = backup
    ana.made()
    with pytest.raises(LedgerError, match="an older copy was put back"):
        again(gateway, file, tmp_path / "new.db", nothing_spent_since=True)
    assert not (tmp_path / "new.db").exists()
    assert not (tmp_path / "one" / "again").exists()


def test_another_ledger_is_refused(gateway, backup, tmp_path):
    other = Ledger(tmp_path / "other.db", dataset="patients", epsilon=3.0, strict=True, unit="row")
    with pytest.raises(LedgerError, match="no longer the file it was"):
        again(gateway, backup[0], other.path)
    assert other.path.exists()
    assert not (tmp_path / "one" / "again").exists()


def test_rows_that_do_not_fit_the_schema_are_refused_and_nothing_is_left_behind(gateway, backup, tmp_path):
    rows = tmp_path / "one" / "rows.csv"
    rows.write_text(rows.read_text().replace("yes", "maybe"))
    with pytest.raises(DataError, match="labels that are not in the schema's classes"):
        again(gateway, backup[0])
    assert not (tmp_path / "one" / "again").exists()
    assert gateway.ledger.path.exists()


def test_a_backup_holds_no_row_and_its_owner_alone_can_read_it(gateway, backup):
    file, fit = backup
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with tarfile.open(file) as opened:
        names = set(opened.getnames())
    assert names == {"settings.json", "schema.json", "analysts.json", "audit.jsonl", "ledger.db", "head",
                     f"models/{fit}.privet"}  # fmt: skip
    first = Path(gateway.folder.settings.rows).read_text().splitlines()[1]
    assert first.encode() not in file.read_bytes()


@pytest.mark.parametrize("name", ["../ledger.db", "models/../x.privet", "begun/x", f"models/{'0' * 32}.txt"])
def test_an_archive_with_a_file_of_another_name_is_refused(gateway, backup, tmp_path, name):
    file, _ = backup
    with tarfile.open(file, "a") as opened:
        opened.add(__file__, name)
    with pytest.raises(DataError, match="is no backup of a gateway"):
        again(gateway, file)
    assert not (tmp_path / "one" / "again").exists()


def test_the_command_line_brings_a_gateway_back_in_another_process(gateway, backup, tmp_path):
    def privet(*words):
        return subprocess.run([sys.executable, "-c", START, *words], cwd=tmp_path, capture_output=True, text=True)

    assert privet("serve", "backup", "one/gate", "-o", "cli.tar").returncode == 0
    words = ["serve", "restore", "cli.tar", "again", "--rows", "one/rows.csv", "--ledger", "moved.db"]
    refused = privet(*words)
    assert (refused.returncode != 0, "--nothing-spent-since" in refused.stderr) == (True, True)
    told = privet(*words, "--nothing-spent-since")
    assert told.returncode == 0, told.stderr
    spending = json.loads(privet("serve", "spending", "again", "--json").stdout)
    assert ([own["epsilon"] for own in spending["fits"]], spending["spent"]) == ([0.5], 0.5)
