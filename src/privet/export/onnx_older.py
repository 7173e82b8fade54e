"""The same graph in operators of ai.onnx.ml 3, the latest that skl2onnx knows.

TreeEnsemble becomes TreeEnsembleRegressor, which compares doubles, too, but answers in single precision: numbers of
leaves below 2^24 are exact there. LabelEncoder of text has an older form. That of numbers held them in single
precision, so they are compared one by one instead.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from privet.errors import ParameterError
from privet.export.onnx_graph import AT_MOST
from privet.lazy import of_extra

OLDER_ML_OPSET = 3
# Whole numbers up to here are exact in single precision.
_MOST_LEAVES = 2**24


def use_older_operators(proto: Any) -> None:
    """Replace the operators of a graph of `onnx_graph` that ai.onnx.ml 3 does not have."""
    onnx = of_extra("onnx", "onnx", "the ONNX format")
    nodes: list[Any] = []
    for node in proto.graph.node:
        if node.op_type == "TreeEnsemble":
            nodes.append(_regressor(node, onnx))
        elif node.op_type == "LabelEncoder":
            nodes += _encoder(node, proto.graph, onnx)
        else:
            nodes.append(node)
    kept = [*nodes]
    del proto.graph.node[:]
    proto.graph.node.extend(kept)
    for imported in proto.opset_import:
        if imported.domain == "ai.onnx.ml":
            imported.version = OLDER_ML_OPSET


def _regressor(node: Any, onnx: Any) -> Any:
    """Return a TreeEnsembleRegressor that gives the same numbers of leaves."""
    given = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
    trees = _Trees(given, onnx.numpy_helper.to_array)
    return onnx.helper.make_node(
        "TreeEnsembleRegressor", node.input, node.output, domain="ai.onnx.ml",
        aggregate_function="SUM", post_transform="NONE", n_targets=given["n_targets"],
        nodes_treeids=trees.tree.tolist(), nodes_nodeids=trees.place.tolist(),
        nodes_featureids=trees.feature.tolist(), nodes_modes=trees.modes.tolist(),
        nodes_values_as_tensor=onnx.numpy_helper.from_array(trees.split),
        nodes_truenodeids=trees.if_true.tolist(), nodes_falsenodeids=trees.if_false.tolist(),
        target_treeids=trees.tree[trees.is_leaf].tolist(), target_nodeids=trees.place[trees.is_leaf].tolist(),
        target_ids=trees.tree[trees.is_leaf].tolist(),
        target_weights_as_tensor=onnx.numpy_helper.from_array(trees.number.astype(np.float64)),
    )  # fmt: skip


class _Trees:
    """The nodes tree by tree, each root first, with a node for every branch that ends: arrays with an entry a node.

    ``number`` has an entry for each node that is a leaf alone: the number of the leaf that it stands for.
    """

    def __init__(self, given: dict[str, Any], to_array: Any) -> None:
        splits, modes = to_array(given["nodes_splits"]), to_array(given["nodes_modes"])
        targets = np.array([given["nodes_truenodeids"], given["nodes_falsenodeids"]]).T
        ends = np.array([given["nodes_trueleafs"], given["nodes_falseleafs"]]).T.astype(bool)
        if targets.max(initial=0) >= _MOST_LEAVES:
            raise ParameterError("the model has more leaves than a pipeline may; export it alone, with export_model")
        n_tests = len(splits)
        tree = _trees_of(np.array(given["tree_roots"]), targets, ends)
        # A node of its own for every branch that ends, since two branches may end at one leaf.
        new = n_tests + np.cumsum(ends.ravel()).reshape(ends.shape) - 1
        targets_of_all = np.where(ends, new, targets)
        all_trees = np.append(tree, np.repeat(tree, 2)[ends.ravel()])
        roots = np.isin(np.arange(len(all_trees)), given["tree_roots"])
        order = np.lexsort([~roots, all_trees])
        self.tree = all_trees[order]
        self.place = np.arange(len(order)) - np.searchsorted(self.tree, self.tree)
        place_of = np.empty(len(order), dtype=np.int64)
        place_of[order] = self.place
        n_ends = int(ends.sum())
        self.is_leaf = (np.arange(len(order)) >= n_tests)[order]
        self.feature = np.append(given["nodes_featureids"], np.zeros(n_ends, dtype=np.int64))[order]
        self.split = np.append(splits, np.zeros(n_ends))[order]
        words = np.where(modes == AT_MOST, "BRANCH_LEQ", "BRANCH_LT")
        self.modes = np.append(words, np.full(n_ends, "LEAF"))[order]
        branches = np.vstack([place_of[targets_of_all], np.zeros((n_ends, 2), dtype=np.int64)])[order]
        self.if_true, self.if_false = branches.T
        self.number = np.append(np.zeros(n_tests, dtype=np.int64), targets[ends])[order][self.is_leaf]


def _trees_of(roots: NDArray[Any], targets: NDArray[Any], ends: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return which tree each test belongs to."""
    tree = np.full(len(targets), -1, dtype=np.int64)
    at, own = roots, np.arange(len(roots))
    while len(at):
        tree[at] = own
        further = ~ends[at]
        at, own = targets[at][further], np.repeat(own, 2)[further.ravel()]
    return tree


def _encoder(node: Any, graph: Any, onnx: Any) -> list[Any]:
    """Return nodes that give the same doubles for categories."""
    given = {each.name: onnx.numpy_helper.to_array(onnx.helper.get_attribute_value(each)) for each in node.attribute}
    keys, values, default = (given[f"{name}_tensor"] for name in ("keys", "values", "default"))
    [source], [target] = node.input, node.output
    double = onnx.TensorProto.DOUBLE
    if keys.dtype.kind not in "fiu":
        texts = [key.decode() if isinstance(key, bytes) else key for key in keys.tolist()]
        encoder = onnx.helper.make_node(
            "LabelEncoder", [source], [f"{target}_single"], domain="ai.onnx.ml",
            keys_strings=texts, values_floats=values.astype(np.float32).tolist(), default_float=float(default[0]),
        )  # fmt: skip
        return [encoder, onnx.helper.make_node("Cast", encoder.output, [target], to=double)]
    for name, array in (("keys", keys[None, :]), ("steps", (values - default)[:, None]), ("default", default[None, :])):
        graph.initializer.append(onnx.numpy_helper.from_array(array, f"{target}_{name}"))
    make = onnx.helper.make_node
    return [
        make("Equal", [source, f"{target}_keys"], [f"{target}_same"]),
        make("Cast", [f"{target}_same"], [f"{target}_one"], to=double),
        make("MatMul", [f"{target}_one", f"{target}_steps"], [f"{target}_sum"]),
        make("Add", [f"{target}_sum", f"{target}_default"], [target]),
    ]
