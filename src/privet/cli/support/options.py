"""Options that several verbs share, declared once, and the model they describe."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from privet.counting.csv_format import CsvFormat, reading_csv
from privet.errors import ParameterError
from privet.methods import methods_of

if TYPE_CHECKING:
    from privet.schema import Schema
    from privet.signing import Roster

_CENTRAL, _LOCAL = methods_of("central"), methods_of("local")
DEFAULT_METHOD = _CENTRAL[0].name
_METHODS = f"{', '.join(method.name for method in _CENTRAL[:-1])} or {_CENTRAL[-1].name}"


def _complete_method(incomplete: str) -> list[tuple[str, str]]:
    """Return the methods that a shell offers, each with its line of help."""
    return [(method.name, method.help) for method in (*_CENTRAL, *_LOCAL) if method.name.startswith(incomplete)]


Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Force: TypeAlias = Annotated[bool, typer.Option("--force", help="Replace files that exist.")]
ModelFile: TypeAlias = Annotated[Path, typer.Argument(metavar="MODEL", help="A model file.")]
RowsFile: TypeAlias = Annotated[Path, typer.Argument(metavar="ROWS", help="The table: .csv, .csv.gz or .parquet.")]
Keep: TypeAlias = Annotated[
    list[str] | None, typer.Option("--keep", metavar="COLUMN", help="Copy a column of the table; repeat for more.")
]
Progress: TypeAlias = Annotated[bool, typer.Option("--progress", help="Lines on stderr where no terminal shows a bar.")]
SchemaFile: TypeAlias = Annotated[
    Path | None, typer.Option("--schema", metavar="FILE", help="What is public about the table. Required.")
]
Method: TypeAlias = Annotated[
    str, typer.Option("--method", help=f"The kind of forest: {_METHODS}.", autocompletion=_complete_method)
]
Delta: TypeAlias = Annotated[
    float | None, typer.Option("--delta", min=0, max=1, help="Above 0, a chance to fail that allows for less noise.")
]
Trees: TypeAlias = Annotated[
    int | None, typer.Option("--trees", min=1, help="How many trees; by default as the method has it.")
]
Variant: TypeAlias = Annotated[
    str | None,
    typer.Option("--variant", help="'paper' is the paper's form, of private-id3 and dpdf; for dpdf nothing is proven."),
]
Height: TypeAlias = Annotated[
    int | None, typer.Option("--height", min=1, help="Tests on a path; by default a rule of schema and size.")
]
Increasing: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--increasing",
        metavar="NAME",
        help="private-forest: a number or ordered categories with which the chance of the second class may only rise; "
        "repeat for more.",
    ),
]
Decreasing: TypeAlias = Annotated[
    list[str] | None, typer.Option("--decreasing", metavar="NAME", help="The same, where it may only fall.")
]
ClassWeight: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--class-weight",
        metavar="WEIGHT",
        help="What counts for more in predictions: 'balanced', or LABEL=NUMBER; repeat for more. Costs nothing.",
    ),
]
Jobs: TypeAlias = Annotated[int, typer.Option("--jobs", help="Threads; -1 uses all cores.")]
RandomState: TypeAlias = Annotated[
    int | None, typer.Option("--random-state", min=0, help="Fixes the public structure, never the noise.")
]
Unit: TypeAlias = Annotated[
    str, typer.Option("--unit", metavar="COLUMN", help="Who is protected: each row, or each value of this column.")
]
MaxRows: TypeAlias = Annotated[
    int, typer.Option("--max-rows", min=1, help="With --unit: how many rows of each are used, the first ones.")
]
LedgerFile: TypeAlias = Annotated[
    Path | None, typer.Option("--ledger", metavar="FILE", help="Where the cost is recorded, and refused.")
]
Part: TypeAlias = Annotated[
    str | None, typer.Option("--part", metavar="NAME", help="These rows are a part, disjoint from all others.")
]
NoPersonInTwoParts: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--no-person-in-two-parts",
        help="With --part on an account of people: you state that nobody is in two parts. It is recorded.",
    ),
]
Host: TypeAlias = Annotated[str, typer.Option("--host", help="The address to listen at.")]
Port: TypeAlias = Annotated[int, typer.Option("--port", min=1, max=65535, help="The port to listen at.")]
Certificate: TypeAlias = Annotated[
    Path | None, typer.Option("--certificate", metavar="FILE", help="For https: the chain.")
]
TlsKey: TypeAlias = Annotated[Path | None, typer.Option("--key", metavar="FILE", help="For https: its key.")]
WithoutTls: TypeAlias = Annotated[
    bool, typer.Option("--without-tls", help="Listen to other machines without TLS, as behind a proxy.")
]
Keys: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--keys", metavar="FILE", help="The public key of whoever may have signed, or a roster; repeat for more."
    ),
]
KeysHash: TypeAlias = Annotated[
    str | None, typer.Option("--keys-hash", metavar="HASH", help="Refuse keys that together have another hash.")
]
SignatureFile: TypeAlias = Annotated[
    Path | None, typer.Option("--signature", metavar="FILE", help="By default beside the model, as .sig.")
]
# For every verb that reads rows.
_CSV_OPTIONS = {
    "sep": Annotated[str, typer.Option("--sep", metavar="MARK", help="Of a CSV: what separates fields; or tab.")],
    "decimal": Annotated[str, typer.Option("--decimal", metavar="MARK", help="Of a CSV: its decimal mark.")],
    "encoding": Annotated[str, typer.Option("--encoding", metavar="NAME", help="Of a CSV: such as latin-1.")],
}


@dataclass(frozen=True, kw_only=True)
class ModelOptions:
    """What describes a model on the command line, apart from its epsilon."""

    method: str
    jobs: int
    trees: int | None = None
    height: int | None = None
    unit: str = "row"
    max_rows: int = 1
    variant: str | None = None
    delta: float | None = None
    increasing: Sequence[str] = ()
    decreasing: Sequence[str] = ()

    def estimator(self, schema: "Schema", *, epsilon: float, random_state: int | None) -> Any:
        """Return the unfitted model, its parameters checked before any data are read."""
        from privet.registry import METHODS

        check_known(self.method)
        estimator = METHODS[self.method](
            schema, epsilon=epsilon, unit=self.unit, max_rows=self.max_rows, random_state=random_state, n_jobs=self.jobs
        )
        estimator.set_params(**self._asked_for(estimator))
        estimator.check_parameters()
        return estimator

    @property
    def has_height(self) -> bool:
        """Whether the method's trees have a height that can be asked for."""
        from privet.registry import METHODS

        return "height" in METHODS[self.method]().get_params()

    def _asked_for(self, estimator: Any) -> dict[str, Any]:
        """Return the parameters that were given; a method may lack some."""
        options = {"--trees": "n_trees", "--height": "height", "--variant": "variant", "--delta": "delta"}
        given = {option: getattr(self, option.removeprefix("--")) for option in options}
        ways = {"--increasing": self.increasing, "--decreasing": self.decreasing}
        for option in (option for option, names in ways.items() if names):
            options[option], given[option] = "monotonic_cst", self._directions()
        given = {option: value for option, value in given.items() if value is not None}
        for option in given:
            if options[option] not in estimator.get_params():
                raise ParameterError(
                    f"{option} does not apply to {self.method}; leave it out, or choose another --method"
                )
        return {options[option]: value for option, value in given.items()}

    def _directions(self) -> dict[str, int]:
        twice = sorted(set(self.increasing) & set(self.decreasing))
        if twice:
            raise ParameterError(f"--increasing and --decreasing both name {twice[0]!r}; keep one of the two")
        return {**dict.fromkeys(self.increasing, 1), **dict.fromkeys(self.decreasing, -1)}


def check_known(method: str) -> None:
    """Refuse a method that is none for clear rows, and name all there are."""
    if method not in {known.name for known in _CENTRAL}:
        known = ", ".join(sorted(method.name for method in (*_CENTRAL, *_LOCAL)))
        raise ParameterError(f"--method {method!r} is not known; choose from {known}")


def load_schema(path: Path | None) -> "Schema":
    """Return the schema at ``path``; without one say how to draft it."""
    from privet.schema import Schema

    if path is None:
        raise ParameterError(
            "a schema is needed: it says what is public about the table; draft one with "
            "`privet schema init ROWS --target COLUMN`, go through every entry, and pass it with --schema"
        )
    return Schema.load(path)


def reads_csv(verb: Callable[..., None]) -> Callable[..., None]:
    """Give a verb the options of how its CSV files are written."""

    @wraps(verb)
    def with_format(*args: Any, sep: str = ",", decimal: str = ".", encoding: str = "utf-8", **others: Any) -> None:
        with reading_csv(CsvFormat(sep, decimal, encoding)):
            verb(*args, **others)

    defaults, signature = CsvFormat(), inspect.signature(verb)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(defaults, name), annotation=kind)
        for name, kind in _CSV_OPTIONS.items()
    ]
    with_format.__signature__ = signature.replace(parameters=[*signature.parameters.values(), *added])  # type: ignore[attr-defined]
    with_format.__annotations__ = {**verb.__annotations__, **_CSV_OPTIONS}
    return with_format


def trusted(keys: list[Path], pin: str | None) -> "Roster":
    """Return those whose keys are in the files, if they have the hash that was agreed on."""
    from privet.signing import Roster
    from privet.signing.documents import check_pin

    found = Roster.gather(keys)
    check_pin(found.hash, pin, "the roster of these keys")
    return found
