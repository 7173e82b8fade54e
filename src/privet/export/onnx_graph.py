"""The model as an ONNX graph that adds up whole numbers, so that its sums are exact.

The ONNX-ML operator TreeEnsemble (domain version 5, the first with doubles throughout) gives the number of the leaf
that a row reaches in each tree. The graph then looks up and adds the numbers of the leaves: clipped counts as 64-bit
integers and weights as doubles. (Operators that hold weights themselves do so in single precision.) Of released weights
the operator finds only the cell of each attribute, and a table has the scores of the cells of all trees.

A node of TreeEnsemble tests whether its feature is below a split. False, and a missing number, go to the second branch.
A node with one child per code becomes a balanced search among its children, so that 65,000 categories take 16 steps.
Among the cells of a number the search uses their borders; a missing number is below none and ends at the last child.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from privet.central.weights.trees import Axis
from privet.errors import ParameterError
from privet.export.leaf_sums import Borders, CountSums, WeightSums, leaf_sums
from privet.lazy import of_extra
from privet.schema import Attribute, Categorical, Numeric
from privet.schema.labels import label_kind
from privet.tree.forest import LEAF, Forest

if TYPE_CHECKING:
    from privet.estimator import PrivateClassifier
    from privet.local.channels.coding import Coding

# The oldest versions that have all operators used here, so that more runtimes can read the file.
OPSET, ML_OPSET, IR_VERSION = 17, 5, 8
# A node takes at most some 40 bytes, and an ONNX file is limited to 2 GB.
_MAX_NODES = 2**25
_ADD_UP, _NO_TRANSFORM = 1, 0
# The operator's numbers for "<=" and "<".
AT_MOST, BELOW = 0, 1


def onnx_bytes(model: "PrivateClassifier") -> bytes:
    """Return the ONNX file of ``model``.

    Every attribute is an input of shape (rows, 1) with its name: doubles for numbers and numeric categories, text for
    text, doubles 0 and 1 for true/false. NaN is a missing number, and a value that is not a category counts as missing.
    The outputs are ``label`` and ``probabilities``, with underscores appended if an attribute has that name.
    """
    return bytes(onnx_model(model).SerializeToString())


def onnx_model(model: "PrivateClassifier") -> Any:
    """Return ``model`` as an ``onnx.ModelProto``."""
    helper = _onnx().helper
    sums, attributes = leaf_sums(model), model.schema_.attributes
    _check_size(sums.forest.n_nodes)
    graph = _Graph(model.schema_.names)
    borders = sums.borders(attributes)
    _inputs(graph, attributes)
    if isinstance(sums, WeightSums):
        shares = _probabilities(graph, _cells(graph, attributes, sums), sums)
    else:
        if sums.coding is None:
            features = _features(graph, attributes, sums.cell_of)
        else:
            features, borders = _bits(graph, attributes, borders, sums.coding), [np.array([0.5])] * sums.coding.n_bits
        shares = _shares(graph, _leaves(graph, features, BinaryNodes.of(sums.forest, borders)), sums)
    if sums.class_weights is not None:
        shares = _weighted(graph, shares, sums.class_weights)
    _outputs(graph, graph.add("Identity", shares, output=graph.name("probabilities")), model.classes_)
    proto = helper.make_model(
        helper.make_graph(graph.nodes, "privet", graph.inputs, graph.outputs, graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR_VERSION,
        producer_name="privet",
        doc_string=model.guarantee_.sentence,
    )
    helper.set_model_props(proto, {"guarantee": model.guarantee_.sentence})
    return proto


@dataclass(frozen=True, eq=False)
class BinaryNodes:
    """Arrays with one entry per binary node. A branch leads to the number of a leaf or to another binary node.

    ``root`` has one entry per tree, ``tree_of_leaf`` one per leaf.
    """

    feature: NDArray[np.int64]
    mode: NDArray[np.uint8]
    split: NDArray[np.float64]
    branch_true: NDArray[np.int64]
    branch_false: NDArray[np.int64]
    true_is_leaf: NDArray[np.bool_]
    false_is_leaf: NDArray[np.bool_]
    root: NDArray[np.int64]
    tree_of_leaf: NDArray[np.int64]

    @classmethod
    def of(cls, forest: Forest, borders: Sequence[Borders]) -> "BinaryNodes":
        """Return the binary nodes of ``forest``; ``borders`` are those between the cells of numbers."""
        is_leaf = forest.attribute == LEAF
        # The operator does not allow a tree of one leaf. Such a root becomes a test with both branches to that leaf.
        lone = np.flatnonzero(is_leaf[: forest.n_trees])
        size = np.where(is_leaf, 0, forest.n_children - 1)
        size[lone] = 1
        start = np.cumsum(size) - size
        # A branch to a node leads to the first of its binary nodes, or to its number among the leaves.
        target = np.where(is_leaf, np.cumsum(is_leaf) - 1, start)
        nodes = _NodeArrays(int(size.sum()))
        for n_children in np.unique(forest.n_children[~is_leaf]):
            own = np.flatnonzero(forest.n_children == n_children)
            nodes.fill(own, _Search.among(int(n_children)), forest, start, target, is_leaf)
        _set_thresholds(nodes, forest, start, borders)
        nodes.fill_lone(start[lone], target[lone])
        tree = forest.tree_of_node[forest.leaves]
        return cls(**vars(nodes), root=start[: forest.n_trees], tree_of_leaf=tree)


@dataclass(frozen=True, eq=False)
class _Search:
    """A balanced search among children by whether the code is below the split. A branch is a step or ``~child``."""

    split: NDArray[np.int64]
    below: NDArray[np.int64]
    above: NDArray[np.int64]

    @classmethod
    def among(cls, n_children: int) -> "_Search":
        steps: list[tuple[int, int, int]] = []

        def add(low: int, high: int) -> int:
            if high - low == 1:
                return ~low
            step, middle = len(steps), (low + high) // 2
            steps.append((middle, 0, 0))
            steps[step] = (middle, add(low, middle), add(middle, high))
            return step

        add(0, n_children)
        split, below, above = np.array(steps, dtype=np.int64).T
        return cls(split, below, above)


class _NodeArrays:
    """Arrays of binary nodes while they are filled."""

    def __init__(self, n_nodes: int) -> None:
        self.feature = np.zeros(n_nodes, dtype=np.int64)
        self.mode = np.full(n_nodes, BELOW, dtype=np.uint8)
        self.split = np.zeros(n_nodes)
        self.branch_true = np.zeros(n_nodes, dtype=np.int64)
        self.branch_false = np.zeros(n_nodes, dtype=np.int64)
        self.true_is_leaf = np.ones(n_nodes, dtype=np.bool_)
        self.false_is_leaf = np.ones(n_nodes, dtype=np.bool_)

    def fill(
        self,
        own: NDArray[np.int64],
        search: _Search,
        forest: Forest,
        start: NDArray[np.int64],
        target: NDArray[np.int64],
        is_leaf: NDArray[np.bool_],
    ) -> None:
        """Write the searches of the nodes ``own``, which have the same number of children."""
        at = start[own, None] + np.arange(len(search.split))
        self.feature[at] = forest.attribute[own, None]
        self.split[at] = search.split
        for branch, to_leaf, step in (
            (self.branch_true, self.true_is_leaf, search.below),
            (self.branch_false, self.false_is_leaf, search.above),
        ):
            child = forest.first_child[own, None] + np.where(step < 0, ~step, 0)
            branch[at] = np.where(step < 0, target[child], start[own, None] + step)
            to_leaf[at] = (step < 0) & is_leaf[child]

    def fill_lone(self, at: NDArray[np.int64], leaf: NDArray[np.int64]) -> None:
        """Write the tests of trees of one leaf."""
        self.branch_true[at] = leaf
        self.branch_false[at] = leaf


def _set_thresholds(nodes: _NodeArrays, forest: Forest, start: NDArray[np.int64], borders: Sequence[Borders]) -> None:
    """Replace the codes of numeric nodes by exact cell borders: a code is below k where x is below border k - 1."""
    cut = np.flatnonzero(forest.cut >= 0)
    nodes.split[start[cut]] = forest.cut[cut] + 1
    is_numeric = np.array([own is not None for own in borders])
    numeric = np.flatnonzero(is_numeric[nodes.feature] & (nodes.split > 0))  # trees of one leaf test nothing
    ends = [np.empty(0) if own is None else np.append(own, np.inf) for own in borders]
    first = np.cumsum([0, *map(len, ends)])
    split = np.concatenate(ends)[first[nodes.feature[numeric]] + nodes.split[numeric].astype(np.int64) - 1]
    nodes.split[numeric] = split
    # Every number is at most infinity; only a missing one fails the test.
    nodes.mode[numeric] = np.where(np.isinf(split), AT_MOST, BELOW)


class _Graph:
    """Nodes, constants, inputs and outputs, with names that no attribute has."""

    def __init__(self, used_names: tuple[str, ...]) -> None:
        self._used_names = set(used_names)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []

    def name(self, wanted: str) -> str:
        """Return ``wanted``, with underscores appended until it is unused."""
        while wanted in self._used_names:
            wanted += "_"
        self._used_names.add(wanted)
        return wanted

    def add(self, operator: str, *inputs: str, output: str | None = None, domain: str = "", **settings: Any) -> str:
        """Add a node and return the name of its output."""
        output = output or self.name(f"{operator}_{len(self.nodes)}")
        self.nodes.append(_onnx().helper.make_node(operator, list(inputs), [output], domain=domain, **settings))
        return output

    def constant(self, values: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        name = self.name(f"constant_{len(self.constants)}")
        self.constants.append(_tensor(values, name))
        return name


def _features(graph: _Graph, attributes: tuple[Attribute, ...], cell_of: tuple[NDArray[np.int64], ...]) -> str:
    """Return the table that the trees read: numbers as they are, categories as the numbers of their cells."""
    columns = [
        _category_cells(graph, a, own) if isinstance(a, Categorical) else a.name
        for a, own in zip(attributes, cell_of, strict=True)
    ]
    return graph.add("Concat", *columns, axis=1)


def _inputs(graph: _Graph, attributes: tuple[Attribute, ...]) -> None:
    for attribute in attributes:
        text = isinstance(attribute, Categorical) and label_kind(attribute.categories[0]) == "text"
        kind = _onnx().TensorProto.STRING if text else _onnx().TensorProto.DOUBLE
        graph.inputs.append(_onnx().helper.make_tensor_value_info(attribute.name, kind, ["rows", 1]))


def _bits(graph: _Graph, attributes: tuple[Attribute, ...], borders: list[Borders], coding: "Coding") -> str:
    """Return the table of bits that trees on coded values read."""
    double, int64 = _onnx().TensorProto.DOUBLE, _onnx().TensorProto.INT64
    columns = []
    for attribute, cuts, code in zip(attributes, borders, coding.codes, strict=True):
        if isinstance(attribute, Categorical):
            cell = _category_cells(graph, attribute, np.arange(attribute.n_values + 1))
        else:
            cell = _number_cell(graph, attribute.name, np.empty(0) if cuts is None else cuts)
        table = graph.constant(code.bits_of_value.astype(np.float64))
        found = graph.add("Gather", table, graph.add("Cast", cell, to=int64))  # rows x 1 x bits
        columns.append(graph.add("Squeeze", found, graph.constant(np.array([1]))))
    return graph.add("Cast", graph.add("Concat", *columns, axis=1), to=double)


def _number_cell(graph: _Graph, name: str, cuts: NDArray[np.float64]) -> str:
    """Return the number of cuts that are <= a value; for a missing value, the number of cells."""
    double = _onnx().TensorProto.DOUBLE
    # Without cuts, an infinite one keeps the sum from being empty.
    shown = cuts if len(cuts) else np.array([np.inf])
    reached = graph.add("GreaterOrEqual", name, graph.constant(shown[None, :]))
    if not len(cuts):
        reached = graph.add("And", reached, graph.constant(np.zeros((1, 1), dtype=np.bool_)))
    count = graph.add("ReduceSum", graph.add("Cast", reached, to=double), graph.constant(np.array([1])), keepdims=1)
    return graph.add("Where", graph.add("IsNaN", name), graph.constant(np.array([len(cuts) + 1.0])), count)


def _category_cells(graph: _Graph, attribute: Categorical, cells: NDArray[np.int64]) -> str:
    text = label_kind(attribute.categories[0]) == "text"
    return graph.add(
        "LabelEncoder", attribute.name, domain="ai.onnx.ml",
        keys_tensor=_tensor(np.array(attribute.categories, dtype=object if text else np.float64)),
        values_tensor=_tensor(cells[:-1].astype(np.float64)), default_tensor=_tensor(cells[-1:].astype(np.float64)),
    )  # fmt: skip


def _leaves(graph: _Graph, features: str, nodes: BinaryNodes) -> str:
    """Return the number of the leaf that a row reaches in every tree."""
    reached = graph.add(
        "TreeEnsemble", features, domain="ai.onnx.ml",
        aggregate_function=_ADD_UP, post_transform=_NO_TRANSFORM,
        n_targets=len(nodes.root), tree_roots=nodes.root.tolist(),
        nodes_featureids=nodes.feature.tolist(), nodes_modes=_tensor(nodes.mode), nodes_splits=_tensor(nodes.split),
        nodes_truenodeids=nodes.branch_true.tolist(), nodes_trueleafs=nodes.true_is_leaf.astype(int).tolist(),
        nodes_falsenodeids=nodes.branch_false.tolist(), nodes_falseleafs=nodes.false_is_leaf.astype(int).tolist(),
        leaf_targetids=nodes.tree_of_leaf.tolist(),
        leaf_weights=_tensor(np.arange(len(nodes.tree_of_leaf), dtype=np.float64)),
    )  # fmt: skip
    return graph.add("Cast", reached, to=_onnx().TensorProto.INT64)


def _cells(graph: _Graph, attributes: tuple[Attribute, ...], sums: WeightSums) -> str:
    """Return the cell that a row falls into in every tree, among all cells.

    A tree of one node for each axis finds the cell there. The cell of a tree is a sum of multiples of them.
    """
    trees, axes = sums.trees, sums.axes
    if not axes:
        nodes = BinaryNodes.of(sums.forest, sums.borders(attributes))
        return _leaves(graph, _features(graph, attributes, sums.cell_of), nodes)
    features = graph.add("Concat", *(_feature(graph, attributes[axis.attribute], axis) for axis in axes), axis=1)
    n_cells = [axis.n_cells for axis in axes]
    flat = np.append(np.arange(len(axes)), np.full(sum(n_cells), LEAF)).astype(np.int32)
    asked = [Categorical(str(i), range(n - 1)) for i, n in enumerate(n_cells)]
    forest = Forest.from_nodes(flat, np.full_like(flat, -1), len(axes), asked)
    searched = _leaves(graph, features, BinaryNodes.of(forest, [_borders(attributes[a.attribute], a) for a in axes]))
    starts = np.cumsum(n_cells) - n_cells
    # A missing number may lie in a cell that no number falls into.
    missing = graph.constant((starts + [axis.cell_of[-1] for axis in axes])[None, :])
    found = graph.add("Where", graph.add("IsNaN", features), missing, searched)
    factors = np.zeros((len(axes), trees.n_trees))
    for t, own in enumerate(trees.axes):
        for place, axis in enumerate(own):
            factors[axes.index(axis), t] = math.prod(later.n_cells for later in own[place + 1 :])
    # Whole numbers far below 2^53, so the products are exact.
    cells = graph.add("MatMul", graph.add("Cast", found, to=_onnx().TensorProto.DOUBLE), graph.constant(factors))
    shifted = graph.add("Add", cells, graph.constant((trees.cell_starts - starts @ factors)[None, :]))
    return graph.add("Cast", shifted, to=_onnx().TensorProto.INT64)


def _borders(attribute: Attribute, axis: Axis) -> Borders:
    """Return where each cell of a number begins but the first; one that no number falls into, where the next one does.

    Knots may lie so close together that there are more cells than codes between them.
    """
    if not isinstance(attribute, Numeric):
        return None
    first_codes = np.searchsorted(axis.cell_of[: axis.n_values], np.arange(1, axis.n_known_cells))
    borders: NDArray[np.float64] = np.append(attribute.cuts, np.inf)[first_codes - 1]
    return borders


def _feature(graph: _Graph, attribute: Attribute, axis: Axis) -> str:
    """Return what the search among the cells of an axis reads."""
    if isinstance(attribute, Categorical):
        return _category_cells(graph, attribute, axis.cell_of)
    return attribute.name


def _shares(graph: _Graph, leaves: str, sums: CountSums) -> str:
    """Return every row's class probabilities: the normalised sums of its leaves' counts."""
    double, int64 = _onnx().TensorProto.DOUBLE, _onnx().TensorProto.INT64
    # In the smallest type that fits. Runtimes widen a constant once, when they load it.
    compact = sums.weights.astype(np.min_scalar_type(int(sums.weights.max())))
    votes = _sum_over_trees(graph, graph.add("Cast", graph.constant(compact), to=int64), leaves)
    total = _total(graph, votes)
    shares = graph.add("Div", graph.add("Cast", votes, to=double), graph.add("Cast", total, to=double))
    some = graph.add("Greater", total, graph.constant(np.array([0])))
    fallback = graph.constant(sums.fallback[None, :])
    return graph.add("Where", some, shares, fallback)


def _probabilities(graph: _Graph, cells: str, sums: WeightSums) -> str:
    """Return every row's class probabilities: the link function of its scores."""
    weights = _sum_over_trees(graph, graph.constant(sums.of_cells), cells)
    scores = graph.add("Add", weights, graph.constant(sums.offsets[None, :]))
    shares = graph.add("Softmax", scores, axis=1)
    cut_off = graph.add("Mul", shares, graph.constant(np.array([sums.bend])))
    bent = graph.add("Mul", shares, graph.add("Sub", graph.constant(np.array([1.0])), cut_off))
    return graph.add("Div", bent, _total(graph, bent))


def _weighted(graph: _Graph, shares: str, class_weights: list[float]) -> str:
    """Return every row's probabilities as class weights have them."""
    parts = graph.add("Mul", shares, graph.constant(np.array([class_weights])))
    return graph.add("Div", parts, _total(graph, parts))


def _sum_over_trees(graph: _Graph, table: str, leaves: str) -> str:
    """Return the sums over all trees of the lines of ``table`` for the leaves."""
    return graph.add("ReduceSum", graph.add("Gather", table, leaves), graph.constant(np.array([1])), keepdims=0)


def _total(graph: _Graph, parts: str) -> str:
    return graph.add("ReduceSum", parts, graph.constant(np.array([1])), keepdims=1)


def _outputs(graph: _Graph, shares: str, classes: NDArray[Any]) -> None:
    onnx = _onnx()
    most_probable = graph.add("ArgMax", shares, axis=1, keepdims=0)
    labels = classes.astype(object) if classes.dtype.kind == "U" else classes
    label = graph.add("Gather", graph.constant(labels), most_probable, output=graph.name("label"))
    kind = onnx.helper.np_dtype_to_tensor_dtype(labels.dtype)
    graph.outputs += [
        onnx.helper.make_tensor_value_info(label, kind, ["rows"]),
        onnx.helper.make_tensor_value_info(shares, onnx.TensorProto.DOUBLE, ["rows", len(classes)]),
    ]


def _tensor(values: NDArray[Any], name: str = "") -> Any:
    return _onnx().numpy_helper.from_array(values, name)


def _check_size(n_nodes: int) -> None:
    if n_nodes > _MAX_NODES:
        raise ParameterError("the model is larger than an ONNX file may be (2 GB); export it as json instead")


def _onnx() -> Any:
    return of_extra("onnx", "onnx", "the ONNX format")
