from benchmarks.speed import growth, run
from benchmarks.speed.curve import Curve
from benchmarks.speed.harness import Bar, Options


def test_a_run_puts_groups_and_curves_together(monkeypatch, capsys):
    given = []

    def measure(options):
        given.append(options)
        return [Bar("fit", 30.0, 25.0, ours="1 s", theirs="30 s")]

    curve = Curve("fit", "rows", "", ((1, 1.0), (2, 2.0), (4, 4.0)), 1.0)
    monkeypatch.setattr(run, "_GROUPS", {"Fitting": ("How.\n", measure)})
    monkeypatch.setattr(growth, "measure", lambda _: [curve])
    results = run.measured(Options(full=True))
    assert given == [Options(full=True)]
    assert results.command == "python -m benchmarks.speed.run --full"
    assert results.groups[0].about == "How."
    assert results.curves == (curve,)
    printed = run.printed(results)
    assert "measured  target   holds" in printed
    assert "1 of 1 bars hold" in printed
    assert "1 of 1 exponents hold" in printed
    assert capsys.readouterr().out == ""  # progress goes to stderr


def test_every_group_says_how_it_is_measured():
    assert all(about for about, _ in run._GROUPS.values())
