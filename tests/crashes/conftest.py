import sys

import pytest

from privet.privacy.ledger import heads, ledger_file

# Their modules cannot even be imported elsewhere.
collect_ignore_glob = [] if sys.platform == "linux" else ["*.py"]


@pytest.fixture(autouse=True)
def each_object_remembers_by_itself(monkeypatch):
    """Let copies of one ledger go their own ways: a command is tried on many, each as if it were the only one."""
    monkeypatch.setattr(ledger_file, "seen_of", heads.Seen)
