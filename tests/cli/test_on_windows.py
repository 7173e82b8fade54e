"""Commands under Windows' rules for files, which `tests.files.windows` keeps on Linux."""

from pathlib import Path

from tests.cli.conftest import people
from tests.cli.test_fit import FIT
from tests.files.windows import keep_rules

from privet import load

ANSWERS = "perturb rows.csv --schema schema.json --noise gaussian --privacy 50 --secret key.json -o answers.csv"


def test_a_fit_and_an_update_with_a_ledger_leave_whole_files_alone(privet, monkeypatch):
    keep_rules(monkeypatch)
    people(80).to_csv("new.csv", index=False)
    lines = [
        "ledger init ledger.db --dataset survey --epsilon 3",
        f"{FIT} --method private-rdt --epsilon 1 --ledger ledger.db",
        "update model.privet new.csv --ledger ledger.db",
        "ledger verify ledger.db",
        "report model.privet -o model.html",
        ANSWERS,
    ]
    for line in lines:
        done = privet(line)
        assert done.exit_code == 0, (line, done.stderr)
    assert len(load("model.privet").noise_growth_) == 2
    assert Path("model.html").read_text().rstrip().endswith("</html>")
    assert not list(Path().glob(".*.unfinished"))
