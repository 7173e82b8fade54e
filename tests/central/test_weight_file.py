"""The file of a forest with soft trees and a second stage: it comes back as it was, and no other passes for it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from privet import Categorical, Numeric, PrivateForestClassifier, Schema, load
from privet.central.weight_file import released_from_json, released_to_json
from privet.central.weights.noise_groups import NoiseGroup, NoiseGroups
from privet.central.weights.released_weights import (
    DIGITS,
    GROUPS,
    LATER_DIGITS,
    LATER_WEIGHTS,
    WEIGHTS,
    ReleasedWeights,
)
from privet.central.weights.trees import CODES_A_BIN, GRID, MOST_CELLS, Trees, checked_trees, knots_to_json
from privet.errors import ModelFileError
from privet.model_file import write_document
from privet.privacy.events import ObjectivePerturbation, Sequential
from privet.privacy.guarantee import Guarantee
from privet.privacy.mechanisms.linear_noise import laplace_factor
from tests.central.test_private_forest import ATTRIBUTES, SCHEMA, table
from tests.draws import cached

SEEDED = {"random_state": 4, "unsafe_seeded_noise": True}
NO_KNOTS = "the knots are not codes of numbers that trees ask for; the file is damaged"
OTHER = "the guarantee is not that of this schema and these trees"
# Two numbers of 129 codes that may be soft, and one that is not.
SOFT = Schema(
    [
        Numeric("age", 0, 129, edges=range(1, 129)),
        Categorical("job", range(3)),
        Numeric("pay", 0, 4, bins=4),
        Categorical("night", [False, True]),
        Numeric("debt", 0, 129, edges=range(1, 129), never_missing=True),
    ],
    classes=["no", "yes"],
)
KNOTS = [[0, 64, 128], [], [], [], [5, 64, 90]]
NONE = [[], [], [], [], []]
LATER_KNOTS = [[0, 128], [], [], [], [64, 90, 100]]


@cached
def two_stages():
    """Return a forest with noise, of two stages."""
    return PrivateForestClassifier(SCHEMA, epsilon=20.0).fit(*table())


def structure(trees, knots=KNOTS, later=0, later_knots=NONE, grid=GRID):
    return {"trees": trees, "knots": knots, "grid": grid, "later": later, "later_knots": later_knots}


def kept_knots(*kept):
    return [own if a in kept else [] for a, own in enumerate(KNOTS)]


def as_mapping(knots):
    return {a: (tuple(own), GRID) for a, own in enumerate(knots) if own}


def read(trees, *args, most_leaves=4096, **options):
    return checked_trees(structure(trees, *args, **options), SOFT, most_leaves=most_leaves)


def test_trees_of_a_file_are_read_back():
    assert checked_trees({"trees": [[0], [3, 1]]}, SOFT, most_leaves=142) == Trees.of([[0], [3, 1]], SOFT)
    assert checked_trees({"trees": []}, SOFT, most_leaves=0) == Trees.of([], SOFT)
    first, later = [[0], [4], [3, 1], [2]], [[0, 4], [2, 4, 1, 3]]
    both = Trees.of(first, SOFT, as_mapping(KNOTS)).with_later(Trees.later(later, SOFT, as_mapping(LATER_KNOTS)))
    assert read([*first, *later], KNOTS, 2, LATER_KNOTS) == both
    assert structure([*first, *later], KNOTS, 2, LATER_KNOTS) == {"trees": [*first, *later], **knots_to_json(both, 5)}
    # Knots and missing values; two by three categories; four cells. Then 2 x 3 knots, and 5 x 3 x 4 x 3.
    assert both.sizes.tolist() == [4, 3, 12, 5, 6, 180]
    # Numbers that are not shared between knots.
    hard = Trees.of(first, SOFT, {a: (own, 1) for a, (own, _) in as_mapping(KNOTS).items()})
    assert read(first, grid=1) == hard != read(first)
    assert structure(first, grid=1) == {"trees": first, **knots_to_json(hard, 5)}


@pytest.mark.parametrize("data", [None, "0", {}, [0], [[]], [[0, 1, 2, 3]], [["0"], 1]])
def test_trees_of_another_form_are_refused(data):
    with pytest.raises(ModelFileError, match="the trees are not what privet writes there; the file is damaged"):
        read(data)


@pytest.mark.parametrize("later", [[[0]], [[]], [[0, 1, 2, 3, 4]]])
def test_a_tree_of_the_second_stage_asks_for_two_to_four_attributes(later):
    with pytest.raises(ModelFileError, match="the trees are not what privet writes there; the file is damaged"):
        read([[0], [1], [2], [3], [4], *later], later=1)


@pytest.mark.parametrize("data", [[[5]], [[-1]], [[0.0]], [[True]], [["age"]], [[0], [0]], [[1, 1]], [[None]], [[[0]]]])
def test_trees_of_strange_attributes_are_refused(data):
    with pytest.raises(ModelFileError, match="ask for attributes that are not there, or twice for one"):
        read(data)
    with pytest.raises(ModelFileError, match="ask for attributes that are not there, or twice for one"):
        read([[0], [4], [1], [1, 2, *data[0]] if len(data) == 1 else [1, 1]], later=1)


@pytest.mark.parametrize("later", [-1, 2, 3, 1.0, True, None, "1"])
def test_a_second_stage_of_too_many_trees_is_refused(later):
    with pytest.raises(ModelFileError, match="the number of trees of the second stage is not that of a fit"):
        read([[0, 1], [0, 1]], later=later)


def test_a_second_stage_needs_a_first_one():
    for trees in ([], [[0, 1]]):
        with pytest.raises(ModelFileError, match="the number of trees of the second stage is not that of a fit"):
            read(trees, later=1)


def test_a_second_stage_of_attributes_without_a_tree_is_refused():
    with pytest.raises(ModelFileError, match="the second stage asks for attributes that the first leaves out"):
        read([[0], [1], [1, 2]], kept_knots(0), later=1)


@pytest.mark.parametrize(
    "knots",
    [None, {}, "3", 3, [[0, 128], [], [], []], [[0, 128], [], [], [], [], []], [3, 0, 0, 0, 3], [None, [], [], [], []],
     [[0.0, 128], [], [], [], []], [[False, 128], [], [], [], []], [["0"], [], [], [], []], [[0, None], [], [], [], []],
     [{}, [], [], [], []], [[-1, 128], [], [], [], []], [[0, 129], [], [], [], []], [[64, 0], [], [], [], []],
     [[0, 64, 64], [], [], [], []], [[], [0, 2], [], [], []], [[], [], [], [0], []], [[], [], [0, 4], [], []],
     [[], [], [], [], [2**70]], [[[0]], [], [], [], []]],
)  # fmt: skip
@pytest.mark.parametrize("name", ["knots", "later_knots"])
def test_knots_that_are_not_codes_of_numbers_are_refused(name, knots):
    trees = [[0], [1], [2], [3], [4], [0, 1, 2, 3], [0, 4]]
    usual = {"knots": KNOTS, "later": 2, "later_knots": LATER_KNOTS}
    assert read(trees, **usual).n_later == 2
    with pytest.raises(ModelFileError, match=NO_KNOTS):
        read(trees, **{**usual, name: knots})


@pytest.mark.parametrize("grid", [0, 2, -GRID, 2 * GRID, float(GRID), True, None, "32", [GRID]])
def test_a_grid_that_no_fit_has_is_refused(grid):
    with pytest.raises(ModelFileError, match=NO_KNOTS):
        read([[0], [4]], grid=grid)


def test_an_attribute_without_a_tree_has_no_knots():
    with pytest.raises(ModelFileError, match=NO_KNOTS):
        read([[0], [1]])
    assert read([[0], [1]], kept_knots(0)).attributes == ((0,), (1,))
    # In the second stage only those that it asks for.
    with pytest.raises(ModelFileError, match=NO_KNOTS):
        read([[0], [1], [4], [0, 1]], later=1, later_knots=LATER_KNOTS)


def test_trees_that_nobody_fits_are_refused():
    wide = Schema([Categorical(f"a{j}", range(MOST_CELLS)) for j in range(4)], classes=[5, 9])
    message = "the trees have more leaves than privet fits; the file is damaged"
    for data in ([[0, 1, 2]], [[0], [1]]):
        with pytest.raises(ModelFileError, match=message):
            checked_trees({"trees": data}, wide, most_leaves=511)
    assert checked_trees({"trees": [[0], [1]]}, wide, most_leaves=512).attributes == ((0,), (1,))
    # A tree of the second stage may have as many as the whole first one.
    soft = {"trees": [[0], [1], [2], [3], [0, 1]], "knots": [[]] * 4, "later": 1, "later_knots": [[]] * 4, "grid": 1}
    with pytest.raises(ModelFileError, match=message):
        checked_trees(soft, wide, most_leaves=2**16 - 1)
    assert checked_trees(soft, wide, most_leaves=2**16).n_leaves == 4 * 256 + 2**16
    with pytest.raises(ModelFileError, match=message):
        checked_trees({**soft, "trees": [[0], [1], [2], [3], [0, 1, 2, 3]]}, wide, most_leaves=2**16)


def never_missing():
    return Schema([replace(a, never_missing=a.name in ("age", "night")) for a in ATTRIBUTES], classes=[5, 9], rows=2000)


def categories():
    return Schema([a for a in ATTRIBUTES if isinstance(a, Categorical)], classes=["no", "yes"], rows=2000)


@pytest.mark.parametrize(
    ("schema", "epsilon", "later"),
    [(SCHEMA, 1.0, False), (SCHEMA, 20.0, True), (SCHEMA, math.inf, True), (never_missing(), 20.0, True),
     (categories(), 50.0, True)],
)  # fmt: skip
def test_a_forest_comes_back_from_its_file_as_it_was(tmp_path, schema, epsilon, later):
    X, y = table()
    X, y = X[list(schema.names)], y if schema.classes[0] == "no" else np.where(y == "yes", 9, 5)
    model = PrivateForestClassifier(schema, epsilon=epsilon).fit(X, y)
    document = model.to_document()
    assert document["version"] == 5
    assert bool(document["structure"]["later"]) == later
    model.save(tmp_path / "m.privet")
    again = load(tmp_path / "m.privet")
    assert again.to_document() == document
    assert again.trees_ == model.trees_
    X = X.assign(night=X["night"].astype(object).where(np.arange(len(X)) % 3 > 0))  # also where it is never missing
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_the_file_says_how_trees_ask_and_counts_rows_by_leaf():
    model = two_stages()
    document = model.to_document()
    (age,) = (own[0] for own in model.trees_.first.axes if own[0].attribute == 0)
    assert document["structure"]["knots"] == [list(age.knots), [], [], [], []]
    assert (document["structure"]["grid"], len(age.knots) > 1) == (GRID, True)
    assert document["structure"]["later"] == model.trees_.n_later > 0
    later = {axis.attribute: axis.knots for own in model.trees_.axes[-model.trees_.n_later :] for axis in own}
    assert document["structure"]["later_knots"] == [list(later.get(a, ())) for a in range(5)]
    # Four codes a bin of age, and its missing values; three jobs, four cells of pay and of debt, two of nights.
    n_bins = (age.n_values + 1) // CODES_A_BIN + 1
    assert len(document["released"]["cells"]) == (n_bins + 1) + 4 + 5 + 5 + 3


def hard():
    """Return what a forest of hard trees in one stage releases, and its schema."""
    trees, counts = Trees.of([[1], [2, 3]], SOFT), np.arange(4 + 5 + 3)
    weights = np.arange(trees.n_leaves)[:, None]
    return ReleasedWeights(trees, 9, np.array([5, 4]), weights, -3, np.ones(2), np.ones(2), counts), SOFT


def test_hard_trees_without_a_second_stage_have_the_version_that_they_had():
    released, schema = hard()
    for other, version in ((released, 4), (replace(released, cells=None), 3)):
        document = released_to_json(other, schema)
        assert document["version"] == version
        assert set(document["structure"]) == {"trees", "variances", "noise_std", "margin"}
        assert_array_equal(released_from_json(document, schema).weights, released.weights)


def test_the_version_of_soft_trees_is_refused_where_none_is_soft():
    released, schema = hard()
    document = released_to_json(released, schema)
    soft = {**document["structure"], "knots": [[]] * 5, "grid": 1, "later": 0, "later_knots": [[]] * 5}
    with pytest.raises(ModelFileError, match="the released numbers do not fit the trees and classes"):
        released_from_json({**document, "version": 5, "structure": soft}, schema)


def test_other_knots_do_not_fit_the_weights():
    trees = Trees.of([[0], [1]], SOFT, as_mapping(kept_knots(0)))
    weights = np.arange(trees.n_leaves)[:, None]
    released = ReleasedWeights(trees, 9, np.array([5, 4]), weights, -3, np.ones(2), np.ones(2))
    document = released_to_json(released, SOFT)
    assert document["structure"]["knots"] == kept_knots(0)
    assert released_from_json(document, SOFT).trees == trees
    # Age may have two knots as well, but then it has two weights.
    other = {**document, "structure": {**document["structure"], "knots": [[0, 128], [], [], [], []]}}
    with pytest.raises(ModelFileError, match="the released numbers do not fit the trees and classes"):
        released_from_json(other, SOFT)


def changed(document, part, **values):
    return {**document, part: {**document[part], **values}}


@pytest.mark.parametrize(
    ("forge", "message"),
    [
        (lambda d: {**d, "version": 4}, "the structure lacks a part or has one too many"),
        (lambda d: {**d, "structure": {k: v for k, v in d["structure"].items() if k != "knots"}}, "lacks a part"),
        (lambda d: {**d, "structure": {k: v for k, v in d["structure"].items() if k != "later"}}, "lacks a part"),
        (lambda d: {**d, "structure": {k: v for k, v in d["structure"].items() if k != "grid"}}, "lacks a part"),
        (lambda d: changed(d, "structure", later=0), "the trees are not what privet|not there, or twice for one"),
        (lambda d: changed(d, "structure", trees=d["structure"]["trees"][:-1], later=d["structure"]["later"] - 1),
         "the released numbers do not fit the trees and classes"),
        (lambda d: changed(d, "released", weights=d["released"]["weights"][:-1]), "do not fit the trees and classes"),
        (lambda d: changed(d, "released", cells=d["released"]["cells"][:-1]), "do not fit the trees and classes"),
        (lambda d: changed(d, "structure", variances=d["structure"]["variances"][:-1]), "the prior or its noise is"),
    ],
    ids=["version", "no knots", "no later", "no grid", "later", "a tree less", "weights", "cells", "variances"],
)  # fmt: skip
def test_a_file_that_says_otherwise_is_refused(tmp_path, forge, message):
    write_document(tmp_path / "m.privet", forge(two_stages().to_document()))
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "m.privet")


def with_receipts(model, forge):
    """Return the model's document with other receipts, which agree with its guarantee."""
    own = model.guarantee_
    event = Sequential(tuple(forge(list(own.event.parts))))
    forged = Guarantee.from_event(event, public=own.public, unit=model._unit())
    return {**model.to_document(), "guarantee": replace(forged, versions=own.versions).to_json()}


def each(name, **values):
    """Return what changes all receipts of a name."""
    return lambda parts: [replace(part, **values) if part.what == name else part for part in parts]


def without(name):
    def forge(parts):
        place = [part.what for part in parts].index(name)
        return parts[:place] + parts[place + 1 :]

    return forge


def twice(name):
    def forge(parts):
        place = [part.what for part in parts].index(name)
        return [*parts[: place + 1], *parts[place:]]

    return forge


def exchanged(first, second):
    """Return what exchanges two receipts and leaves each place its name."""

    def forge(parts):
        a, b = ([part.what for part in parts].index(name) for name in (first, second))
        parts[a], parts[b] = replace(parts[b], what=first), replace(parts[a], what=second)
        return parts

    return forge


@pytest.mark.parametrize(
    "forge",
    [
        without(GROUPS), twice(GROUPS), each(GROUPS, sensitivity=1), each(GROUPS, monotone=True),
        each(GROUPS, what="attributes worth a tree"), without(LATER_WEIGHTS), without(LATER_DIGITS),
        each(LATER_WEIGHTS, what=WEIGHTS), each(LATER_DIGITS, what=DIGITS), exchanged(WEIGHTS, LATER_WEIGHTS),
        each(LATER_WEIGHTS, curvature=1e-3), each(LATER_WEIGHTS, rows=2), each(LATER_WEIGHTS, linear=1e-3),
        each(LATER_DIGITS, sensitivity=1), lambda parts: [*parts[:-2], parts[-1], parts[-2]],
    ],
    ids=[
        "no groups", "groups twice", "sensitivity of groups", "monotone groups", "name of groups", "no later weights",
        "no later digits", "name of later weights", "name of later digits", "weights exchanged", "later curvature",
        "later rows", "later linear", "sensitivity of later digits", "order of the last two",
    ],
)  # fmt: skip
def test_a_second_stage_with_other_receipts_is_refused(tmp_path, forge):
    model = two_stages()
    write_document(tmp_path / "m.privet", with_receipts(model, lambda parts: parts))
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_
    write_document(tmp_path / "m.privet", with_receipts(model, forge))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


@pytest.mark.parametrize("name", ["noise_std", "variances"])
@pytest.mark.parametrize("tree", [0, -1])
def test_each_stage_has_the_noise_and_the_prior_of_its_own_receipt(tmp_path, name, tree):
    document = two_stages().to_document()
    values = list(document["structure"][name])
    values[tree] = 90.0
    write_document(tmp_path / "m.privet", changed(document, "structure", **{name: values}))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


@cached
def shared(n_classes):
    """Return a forest of which some trees share noise and others have noise of their own."""
    X, y = table()
    classes = [f"class {c}" for c in range(n_classes)]
    schema = Schema(ATTRIBUTES, classes=classes, rows=2000)
    y = np.where(y == "yes", classes[0], np.where(X["night"], *classes[-2:]))
    return PrivateForestClassifier(schema, epsilon=4.0, random_state=1, group_size=1).fit(X, y)


def linear_of(model):
    (linear,) = (part.linear for part in model.guarantee_.event.parts if part.what == WEIGHTS)
    return linear


def deviations_of(model, groups):
    """Return the deviations of the first stage's trees in these groups, and those of the second as they are."""
    n_classes, later = len(model.classes_), model.released_.noise_std[model.trees_.first.n_trees :]
    sizes = model.trees_.first.sizes
    made = NoiseGroups(
        tuple(NoiseGroup(tuple(own), tuple(int(sizes[tree]) for tree in own), n_classes) for own in groups)
    )
    return [*made.deviations(linear_of(model)).tolist(), *later.tolist()]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_noise_that_does_not_belong_to_its_receipt_is_refused(tmp_path, n_classes):
    model = shared(n_classes)
    document, n_trees = model.to_document(), model.trees_.first.n_trees
    groups = [list(own.trees) for own in NoiseGroups.of(model.trees_.first.sizes, n_classes)]
    assert any(len(own) > 1 for own in groups)
    stated = np.array(document["structure"]["noise_std"])
    np.testing.assert_allclose(deviations_of(model, groups), stated, rtol=1e-5)
    write_document(tmp_path / "m.privet", document)
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_
    others = [
        deviations_of(model, [[tree] for tree in range(n_trees)]),
        *([deviations_of(model, [list(range(n_trees))])] if len(groups) > 1 else []),
        *(stated * (1 + sign * 1e-4) for sign in (-1, 1)),
        np.where(np.arange(len(stated)) == 0, stated * (1 - 1e-4), stated),
        np.zeros(len(stated)),
    ]
    for other in others:
        write_document(tmp_path / "m.privet", changed(document, "structure", noise_std=np.array(other).tolist()))
        with pytest.raises(ModelFileError, match=OTHER):
            load(tmp_path / "m.privet")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_shared_noise_does_not_pass_for_noise_that_every_tree_has_of_its_own(tmp_path, n_classes):
    model = shared(n_classes)

    def of_their_own(parts):
        return [ObjectivePerturbation(**vars(part)) if part.what == WEIGHTS else part for part in parts]

    write_document(tmp_path / "m.privet", with_receipts(model, of_their_own))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")
    # With as much noise as one over each scale pays for, it is a file of earlier fits.
    each_alone = laplace_factor(n_classes) * model.trees_.first.n_trees / linear_of(model)
    earlier = [each_alone] * model.trees_.first.n_trees
    stated = [*earlier, *model.released_.noise_std[len(earlier) :].tolist()]
    document = changed(with_receipts(model, of_their_own), "structure", noise_std=stated)
    write_document(tmp_path / "m.privet", document)
    assert load(tmp_path / "m.privet").tree_noise_std_.tolist() == stated


def test_the_receipts_of_people_are_for_all_their_rows(tmp_path):
    X, y = table()
    X = X.assign(person=np.arange(len(X)) // 2)
    model = PrivateForestClassifier(SCHEMA, epsilon=60.0, unit="person", max_rows=2).fit(X, y)
    assert model.trees_.n_later
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_
    alone = next(part.sensitivity // 2 for part in model.guarantee_.event.parts if part.what == GROUPS)
    write_document(tmp_path / "m.privet", with_receipts(model, each(GROUPS, sensitivity=alone)))
    with pytest.raises(ModelFileError, match=OTHER):
        load(tmp_path / "m.privet")


def test_seeded_noise_is_recognised_in_both_stages(tmp_path):
    model = PrivateForestClassifier(SCHEMA, epsilon=20.0, **SEEDED).fit(*table())
    model.save(tmp_path / "m.privet")
    assert load(tmp_path / "m.privet").guarantee_ == model.guarantee_
