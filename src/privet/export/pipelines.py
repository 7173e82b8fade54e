"""A converter for skl2onnx: pipelines that end in a model of privet's become one ONNX graph.

skl2onnx passes on what the steps before the model make: a matrix, or columns with names. The graph of `onnx_graph`
takes columns of doubles and text, so nodes that cut and convert are put before it, and one that converts behind it
where the pipeline computes in single precision.
"""

from collections.abc import Container, Sequence, Sized
from itertools import chain
from typing import Any

import numpy as np

from privet import registry
from privet.errors import ParameterError
from privet.export.onnx_graph import OPSET, onnx_model
from privet.export.onnx_older import OLDER_ML_OPSET, use_older_operators
from privet.lazy import of_extra

_SETTINGS = {"zipmap": [True, False, "columns"], "nocl": [True, False]}


def register_converters() -> None:
    """Teach skl2onnx every method of privet's, so that it converts pipelines that end in one of them.

    Columns are taken by name where all names are the schema's attributes, else in the schema's order. In single
    precision a number beside a cell's border may fall into the next cell: let the pipeline take doubles. The guarantee
    covers the model alone, and no step that learns from rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import Binarizer
    >>> from privet import Numeric, PrivateForestClassifier, Schema
    >>> from privet.export import register_converters
    >>> schema = Schema([Numeric("age", 0, 100)], classes=["no", "yes"], target="smoker", rows=4)
    >>> X = np.array([[20.0], [40.0], [60.0], [80.0]])
    >>> pipeline = make_pipeline(Binarizer(threshold=50), PrivateForestClassifier(schema, epsilon=1.0))
    >>> pipeline = pipeline.fit(X, ["no", "no", "yes", "yes"])
    >>> register_converters()
    >>> graph = to_onnx(pipeline, X[:1], options={"zipmap": False})
    >>> [output.name for output in graph.graph.output]
    ['label', 'probabilities']
    """
    skl2onnx = _needed("skl2onnx")
    for kind in chain(registry.METHODS.values(), registry.LOCAL_METHODS.values(), registry.PARTY_METHODS.values()):
        skl2onnx.update_registered_converter(
            kind, f"Privet{kind.__name__}", _set_outputs, _convert, options=_SETTINGS, overwrite=True
        )


def _set_outputs(operator: Any) -> None:
    """Say which types and shapes the outputs have: chances are in the precision of what comes in."""
    types = _needed("skl2onnx.common.data_types")
    kinds = {"U": types.StringTensorType, "b": types.BooleanTensorType, "f": types.DoubleTensorType}
    classes = operator.raw_operator.classes_
    label, chances = operator.outputs
    label.type = kinds.get(classes.dtype.kind, types.Int64TensorType)([None])
    chances.type = (types.FloatTensorType if _is_single(operator) else types.DoubleTensorType)([None, len(classes)])


def _is_single(operator: Any) -> bool:
    return any(type(each.type).__name__ == "FloatTensorType" for each in operator.inputs)


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the model's graph to that of the pipeline."""
    least = {"": OPSET, "ai.onnx.ml": OLDER_ML_OPSET}
    if any(container.target_opset_any_domain(domain) < version for domain, version in least.items()):
        raise ParameterError(f"a model of privet's needs later operators; pass target_opset={least}, or leave it out")
    if not _is_single(operator) and scope.get_options(operator.raw_operator, {"zipmap": True})["zipmap"] is True:
        raise ParameterError("ONNX has no dictionaries of doubles; pass options={'zipmap': False} to skl2onnx")
    graph = onnx_model(operator.raw_operator)
    use_older_operators(graph)
    _take_inputs(graph, operator)
    if _is_single(operator):
        _give_single(graph)
    for number, node in enumerate(graph.graph.node):
        node.name = f"privet_{number}"  # skl2onnx makes unique names of these
    _needed("skl2onnx.helpers.integration").add_onnx_graph(scope, operator, container, graph)


def _take_inputs(proto: Any, operator: Any) -> None:
    """Put nodes before the graph that make its columns of what the pipeline passes on."""
    onnx, graph = _needed("onnx"), proto.graph
    columns = {each.name: each.type.tensor_type.elem_type for each in graph.input}
    passed, nodes, infos = [], [], []
    for number, variable in enumerate(operator.inputs):
        name = _unused(f"passed_{number}", columns)
        kind = variable.type.to_onnx_type().tensor_type.elem_type
        width = variable.type.shape[1]
        infos.append(onnx.helper.make_tensor_value_info(name, kind, [None, width]))
        passed += [(variable.raw_name, name, kind, column) for column in range(width)]
    _check_number(passed, columns)
    for own, (_, source, kind, column) in zip(_names_in_order(operator, passed), passed, strict=True):
        _check_kind(own, wanted=columns[own], given=kind, text=onnx.TensorProto.STRING)
        index = _unused(f"{source}_column_{column}", columns)
        graph.initializer.append(onnx.numpy_helper.from_array(np.array([column]), index))
        nodes.append(onnx.helper.make_node("Gather", [source, index], [_unused(f"{index}_values", columns)], axis=1))
        nodes.append(onnx.helper.make_node("Cast", nodes[-1].output, [own], to=columns[own]))
    _replace(graph.input, infos)
    _replace(graph.node, [*nodes, *graph.node])


def _names_in_order(operator: Any, passed: Sequence[tuple[str, str, int, int]]) -> list[str]:
    """Return which attribute each column that is passed on belongs to: by its name, or else by its place."""
    own = list(operator.raw_operator.schema_.names)
    names = [raw for raw, *_ in passed]
    return names if sorted(names) == sorted(own) else own


def _give_single(proto: Any) -> None:
    """Convert the chances to single precision behind the graph."""
    onnx, graph = _needed("onnx"), proto.graph
    chances = graph.output[1]
    single = _unused("single", {name for node in graph.node for name in (*node.input, *node.output)})
    graph.node.append(onnx.helper.make_node("Cast", [chances.name], [single], to=onnx.TensorProto.FLOAT))
    shape = [None, chances.type.tensor_type.shape.dim[1].dim_value]
    chances.CopyFrom(onnx.helper.make_tensor_value_info(single, onnx.TensorProto.FLOAT, shape))


def _check_number(passed: Sized, columns: Sized) -> None:
    if len(passed) != len(columns):
        raise ParameterError(
            f"the pipeline passes {len(passed)} columns to the model, whose schema has {len(columns)} attributes; name "
            "the types of all columns to skl2onnx"
        )


def _check_kind(name: str, *, wanted: int, given: int, text: int) -> None:
    if (wanted == text) != (given == text):
        kinds = ("text", "numbers") if wanted == text else ("numbers", "text")
        raise ParameterError(
            f"the attribute {name!r} has {kinds[0]}, and the pipeline passes on {kinds[1]}; name the types of the "
            "columns to skl2onnx one by one"
        )


def _needed(module: str) -> Any:
    return of_extra(module, "onnx", "the conversion of a pipeline")


def _unused(wanted: str, used: Container[str]) -> str:
    while wanted in used:
        wanted += "_"
    return wanted


def _replace(repeated: Any, entries: Sequence[Any]) -> None:
    kept = list(entries)
    del repeated[:]
    repeated.extend(kept)
