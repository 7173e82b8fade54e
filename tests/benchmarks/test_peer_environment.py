import pytest

from benchmarks import peer_environment


@pytest.fixture
def commands(monkeypatch, tmp_path):
    """Stand in for the environment: what is run there is listed, and ``known`` is installed."""
    run = []
    for folder in (peer_environment.PEERS, peer_environment.SYNTHETIC):
        python = tmp_path / folder / "bin" / "python"
        python.parent.mkdir(parents=True)
        python.touch()

    class Done:
        def __init__(self, command, **options):
            run.append(command[1:])
            self.returncode = 0 if command[-1] != "import unknown" else 1

    monkeypatch.setattr(peer_environment, "_ROOT", tmp_path)
    monkeypatch.setattr(peer_environment.subprocess, "run", Done)
    return run


def test_what_is_there_is_not_installed_again(commands, capsys):
    assert peer_environment.python_with("known", ["known==1"]).name == "python"
    assert commands == [["-c", "import known"]]
    assert capsys.readouterr().err == ""


def test_what_is_missing_is_installed_and_said_so(commands, capsys):
    peer_environment.python_with("unknown", ["unknown==1", "scikit-learn<1.8"])
    assert commands[1] == ["-m", "pip", "install", "--quiet", "unknown==1", "scikit-learn<1.8"]
    assert capsys.readouterr().err == "installing unknown==1 and scikit-learn<1.8 into .venv-peers\n"


def test_what_cannot_be_installed_together_has_environments_of_its_own(commands, capsys):
    assert peer_environment.python_with("unknown", ["unknown==1"], peer_environment.SYNTHETIC).parts[-3:-1] == (
        ".venv-synthetic",
        "bin",
    )
    assert capsys.readouterr().err == "installing unknown==1 into .venv-synthetic\n"
