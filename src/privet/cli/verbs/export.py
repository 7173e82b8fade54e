"""``privet export``: a predictor that runs without privet."""

from pathlib import Path
from typing import Annotated, Literal, TypeAlias

import typer

from privet.cli.support import options, output
from privet.cli.support.files import beside, check_output

# Listed here as well as in privet.export, which takes a second to import.
Format: TypeAlias = Literal["json", "js", "python", "onnx"]
_SUFFIXES: dict[Format, str] = {"json": ".json", "js": ".js", "python": ".py", "onnx": ".onnx"}


def export(
    model_file: options.ModelFile,
    file_format: Annotated[
        Format, typer.Option("--format", help="For any language, for browsers and node, for Python, for ONNX runtimes.")
    ],
    destination: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file; by default beside the model.")
    ] = None,
    force: options.Force = False,
    as_json: options.Json = False,
) -> None:
    """Write a model as a predictor that needs no privet: the model goes to the person, not the data to the model.

    It answers as privet does: forests of counts to the last bit, forests of weights up to rounding. It holds only
    released numbers and the guarantee, and costs nothing.

    Example:  privet export model.privet --format js -o model.js
    """
    destination = destination or beside(model_file, _SUFFIXES[file_format])
    check_output(destination, force=force, inputs=(model_file,))
    with output.working("exporting"):
        from privet.export import export_model
        from privet.registry import load

        export_model(load(model_file), destination, format=file_format)
    if as_json:
        output.print_json({"model": str(model_file), "format": file_format, "output": str(destination)})
    else:
        output.say(f"predictor written to {str(destination)!r}")
