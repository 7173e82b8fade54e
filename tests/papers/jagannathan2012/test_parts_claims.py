import pandas as pd
import pytest

from papers.jagannathan2012 import horizontal, vertical
from papers.jagannathan2012.parts_claims import among_parties, in_batches, in_halves
from papers.jagannathan2012.tables import NURSERY

FALLING = {1: 89.0, 2: 86.0, 4: 80.0, 10: 70.0}


def batches_of(means, name=NURSERY):
    lines = [(name, m, run, mean + run) for m, mean in means.items() for run in (0, 1)]
    return pd.DataFrame(lines, columns=["table", "batches", "run", "accuracy"])


def parties_of(accuracy, name=NURSERY):
    """Return lines from accuracies of runs by way and number of parties."""
    lines = [(name, *key, run, score) for key, scores in accuracy.items() for run, score in enumerate(scores)]
    return pd.DataFrame(lines, columns=["table", "way", "parties", "run", "accuracy"])


def halves_of(accuracy):
    """Return lines from accuracies of runs by way and epsilon."""
    lines = [
        (way, epsilon, 2 * epsilon if way == vertical.PAPER else epsilon, run, score)
        for (way, epsilon), scores in accuracy.items()
        for run, score in enumerate(scores)
    ]
    return pd.DataFrame(lines, columns=["way", "epsilon", "spent", "run", "accuracy"])


def verdict(rows, beginning, **results):
    [row] = [row for row in rows if row.text.startswith(beginning)]
    return row.claim({"batches": batches_of({}), "horizontal": parties_of({}), "vertical": halves_of({}), **results})


def test_a_gradual_fall_over_batches_holds():
    claim = verdict(in_batches(), "Fig. 4, Nursery: accuracy falls", batches=batches_of(FALLING))
    assert (claim.measured, claim.holds) == ("89.5 to 70.5", True)


@pytest.mark.parametrize("means", [{2: 83.0}, {10: 95.0}, {2: 91.5}, {10: 40.0}])
def test_a_sudden_fall_or_a_rise_over_batches_is_not_gradual(means):
    claim = verdict(in_batches(), "Fig. 4, Nursery: accuracy falls", batches=batches_of({**FALLING, **means}))
    assert claim.holds is False


@pytest.mark.parametrize(("second", "measured", "holds"), [(86.0, "3.0", True), (83.0, "6.0", False)])
def test_what_two_batches_cost(second, measured, holds):
    claim = verdict(in_batches(), "Fig. 4, Nursery: a small", batches=batches_of({**FALLING, 2: second}))
    assert (claim.measured, claim.holds) == (f"{measured} points lost with 2 batches", holds)


@pytest.mark.parametrize(("ten", "measured", "holds"), [(69.5, "-1.0", True), (65.5, "-5.0", False)])
def test_parties_beside_batches(ten, measured, holds):
    parties = parties_of({(horizontal.FILES, 2): [86, 86], (horizontal.FILES, 10): [ten, ten]})
    claim = verdict(
        among_parties(), "Sec. 5.3, Nursery: as many release files", horizontal=parties, batches=batches_of(FALLING)
    )
    assert (claim.measured, claim.holds) == (f"{measured} points at most", holds)


@pytest.mark.parametrize(("files", "holds"), [(70.0, True), (90.0, False)])
def test_release_files_below_one_curator(files, holds):
    parties = parties_of({(horizontal.CURATOR, 1): [88, 90], (horizontal.FILES, 10): [files, files]})
    claim = verdict(among_parties(), "Sec. 5.3, Nursery: 10 release files", horizontal=parties)
    assert (claim.measured, claim.holds) == (f"{files:.1f} against 89.0", holds)


# Differences of +0.6 and +1.4 have mean 1.0 and standard error 0.4.
@pytest.mark.parametrize(
    ("scores", "holds", "measured"),
    [
        ([88.6, 91.4], True, "90.0 against 89.0: +1.0, standard error 0.4"),
        ([85.0, 87.0], False, "86.0 against 89.0: -3.0, standard error 0.0"),
        ([83.0, 91.0], True, "87.0 against 89.0: -2.0, standard error 3.0"),
    ],
)
def test_a_secure_sum_beside_one_curator_run_by_run(scores, holds, measured):
    parties = parties_of({(horizontal.CURATOR, 1): [88, 90], (horizontal.SUM, 10): scores})
    claim = verdict(among_parties(), "Sec. 5.3, Nursery: a secure sum, all but one honest", horizontal=parties)
    assert (claim.source, claim.holds, claim.measured) == ("ours", holds, measured)


def test_one_run_is_too_few_for_a_standard_error():
    parties = parties_of({(horizontal.CURATOR, 1): [88, 90], (horizontal.SUM, 10): [88]})
    assert verdict(among_parties(), "Sec. 5.3, Nursery: a secure sum, all but", horizontal=parties).holds is None


def test_two_halves_cost_the_sum():
    claim = verdict(in_halves(), "Alg. 6", vertical=halves_of({(vertical.PAPER, 0.5): [89, 90]}))
    assert (claim.paper, claim.measured, claim.holds) == ("0.5", "1", False)
    assert claim.why.startswith("the same people and their classes are in both halves")
    assert claim.fault == "paper"


@pytest.mark.parametrize(("shared", "holds"), [(89.0, True), (84.0, False)])
def test_halves_at_the_epsilon_that_is_truly_spent(shared, holds):
    lines = halves_of({
        (vertical.WHOLE, 0.5): [84, 84], (vertical.SHARED, 0.5): [shared, shared], (vertical.PAPER, 0.25): [80, 80],
        (vertical.PAPER, 0.5): [99, 99],
    })  # fmt: skip
    claim = verdict(in_halves(), "Fig. 5, Votes: two halves keep", vertical=lines)
    assert (claim.measured, claim.holds) == (f"{shared:.1f} shared, 80.0 as in the paper, 84.0 whole", holds)


@pytest.mark.parametrize(("at_half", "holds"), [([88, 91], False), ([82, 92], True)])
def test_a_lead_at_every_epsilon_is_no_chance(at_half, holds):
    lines = {(vertical.WHOLE, epsilon): [80, 82] for epsilon in (0.1, 0.25, 0.5)}
    lines |= {(vertical.SHARED, epsilon): [88, 90] for epsilon in (0.1, 0.25)}
    claim = verdict(
        in_halves(), "Fig. 5, Votes: halves", vertical=halves_of({**lines, (vertical.SHARED, 0.5): at_half})
    )
    assert claim.holds is holds


def test_what_the_paper_does_not_show_of_votes_is_ours():
    assert {(row.text.split(":")[0], row.ours) for row in in_batches()} == {
        ("Fig. 4, Nursery", False), ("Fig. 4, Mushroom", False), ("Fig. 4, Votes", True),
    }  # fmt: skip


def test_what_was_not_measured_stays_open():
    for row in (*in_batches(), *among_parties(), *in_halves()):
        assert verdict([row], row.text).holds is None
