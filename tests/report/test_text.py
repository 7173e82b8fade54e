import math
import re

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import privet.report
from privet import (
    Categorical,
    FieldSampling,
    PrivateRDTClassifier,
    RandomizedResponse,
    RandomResponseForestClassifier,
    SampledForestClassifier,
    Schema,
    Secret,
    perturb,
)
from privet.datasets import agrawal
from privet.errors import ParameterError
from privet.report import export_text
from tests.report.forests import cells_tree, one_tree, wide_forest


def test_a_small_tree_reads_as_expected():
    assert export_text(one_tree()).splitlines() == [
        "tree 0 of 1: released counts of no, yes; no noise in them",
        "|--- age < 50: no [3, 0]",
        "|--- age >= 50 or missing: yes [1, 2]",
    ]


def test_a_node_that_branches_on_cells_has_a_line_for_each():
    assert export_text(cells_tree()).splitlines()[1:] == [
        "|--- age < 20: no [9, 1]",
        "|--- 20 <= age < 40: yes [1, 9]",
        "|--- 40 <= age < 60: yes [2, 18]",
        "|--- age >= 60: no [7, 3]",
        "|--- age is missing: yes [0, 5]",
    ]


def test_every_node_has_a_line_and_every_line_released_counts():
    model = wide_forest()
    n_nodes = 0
    for tree in range(6):
        header, *lines = export_text(model, tree).splitlines()
        assert f"noise of standard deviation {model.noise_std_:.3g}" in header
        n_nodes += 1 + len(lines)  # the root has none
        counts = [[int(n) for n in re.search(r"\[([-\d, ]+)\]$", line)[1].split(",")] for line in lines]
        of_children = [c for c, line in zip(counts, lines, strict=True) if line.startswith("|---")]
        root = model.forest_.sums_of_leaves(model.noisy_counts_)[tree]
        assert np.sum(of_children, axis=0).tolist() == root.tolist()
    assert n_nodes == model.forest_.n_nodes


def test_what_is_cut_off_is_counted():
    model = wide_forest()
    whole = export_text(model, 1).splitlines()
    cut = export_text(model, 1, max_depth=1).splitlines()
    more = [int(line.split("… ")[1].split()[0]) for line in cut if "more nodes" in line]
    assert len(more) > 0
    assert sum(more) + len(cut) - len(more) == len(whole)


def test_labels_cannot_drive_the_terminal_or_pose_as_counts():
    text = export_text(one_tree(classes=("no [9, 9]\x1b[2J\n", "yes")))
    assert "\x1b" not in text
    assert len(text.splitlines()) == 3


@pytest.mark.parametrize("tree", [-1, 1, 0.0, "0"])
def test_a_tree_that_is_not_there_is_refused(tree):
    with pytest.raises(ParameterError, match=re.escape(f"tree={tree!r} must be a whole number from 0 to 0")):
        export_text(one_tree(), tree)


def test_a_depth_of_0_is_refused():
    with pytest.raises(ParameterError, match="max_depth=0 must be a whole number from 1"):
        export_text(one_tree(), max_depth=0)


def test_an_unfitted_model_is_refused():
    with pytest.raises(NotFittedError):
        export_text(PrivateRDTClassifier(one_tree().schema_))


def test_the_folders_names_are_there_and_no_others():
    assert all(callable(getattr(privet.report, name)) for name in privet.report.__all__)
    assert privet.report.__all__ == [
        "export_text", "plot_answers_plan", "plot_importances", "plot_reconstruction", "plot_rehearsal",
        "plot_reliability", "plot_shapes", "plot_tree", "write_report",
    ]  # fmt: skip


def test_trees_that_ask_for_bits_of_records_are_not_shown_as_trees_over_attributes():
    people = agrawal(300, function=1, random_state=1)
    channel = RandomizedResponse(people.schema, keep=0.95).channel
    model = RandomResponseForestClassifier(channel=channel, n_trees=2, max_depth=2, random_state=0)
    model.fit(perturb(people.X, channel, Secret()), people.y)
    with pytest.raises(ParameterError, match="ask for bits of coded records, not for attributes; read its rules"):
        export_text(model)


def test_a_tree_of_estimates_tells_the_noise_of_its_own_leaves():
    schema = Schema([Categorical("sex", ["f", "m"], never_missing=True)], classes=["no", "yes"])
    people = pd.DataFrame({"sex": ["f", "m"] * 450, "class": ["no", "yes"] * 450})
    channel = FieldSampling(schema, epsilon=math.log(3), label_alone=False).channel
    model = SampledForestClassifier(channel=channel).fit(perturb(people, channel, Secret.of_key(bytes(32))))
    # One of four cells is sent, each other than the true one by 1/6: 900 * 5/36 over (1/3)^2 is 1125.
    assert "noise of standard deviation 33.5" in export_text(model).splitlines()[0]
