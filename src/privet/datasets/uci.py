"""The UCI tables that the papers use, from a local folder or from OpenML."""

from __future__ import annotations

import os
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from privet.datasets.dataset import Dataset
from privet.errors import DataError, DatasetUnavailable, ParameterError, SchemaError
from privet.schema import Numeric, Schema

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

FOLDER_VARIABLE = "PRIVET_DATA"
_BESIDE_THE_PROJECT = Path("..", "shared", "datasets")


class _OpenML(NamedTuple):
    data_id: int
    rows: int
    target: str = "default-target"


# The number of rows identifies the right version of a table among filtered or sampled ones. Columns and labels may
# have other names there (bank-marketing has V1..V16), so domains are read from the downloaded table.
_ON_OPENML: dict[str, _OpenML | None] = {
    "adult": _OpenML(1590, 48_842),
    "bank-marketing": _OpenML(1461, 45_211),
    "breast-cancer-wisconsin": _OpenML(15, 699),
    "car-evaluation": _OpenML(40975, 1_728),
    "census-income-kdd": _OpenML(4535, 299_285, target="V42"),
    "chess-krk": _OpenML(1481, 28_056),
    # OpenML has only derived tables: other rows, and categories as indicators.
    "compas": None,
    "congressional-voting": _OpenML(56, 435),
    "connect-4": _OpenML(40668, 67_557),
    "german-credit": _OpenML(31, 1_000),
    "mushroom": _OpenML(24, 8_124),
    "nursery": _OpenML(26, 12_960),
    "page-blocks": _OpenML(30, 5_473),
    "pima-diabetes": _OpenML(37, 768),
    "tic-tac-toe": _OpenML(50, 958),
}

UCI_NAMES = tuple(_ON_OPENML)


def uci(name: str) -> Dataset:
    """Load a UCI table with its public domains.

    Looks in the folder of `uci_folder`, then asks OpenML through scikit-learn. A table from OpenML holds the
    same rows, but may name and code them differently, and its domains are read from them.

    Parameters
    ----------
    name : str
        One of ``UCI_NAMES``.

    Returns
    -------
    Dataset

    Raises
    ------
    DatasetUnavailable
        The table is neither in the folder nor can it be fetched, or its file is damaged.
    DataError
        The table does not fit the schema beside it.
    """
    if name not in UCI_NAMES:
        raise ParameterError(f"name={name!r} is not a table privet knows; choose from {', '.join(UCI_NAMES)}")
    folder = uci_folder()
    if folder is not None and (folder / f"{name}.csv.gz").exists():
        return _from_folder(folder, name)
    return _from_openml(name)


def uci_folder() -> Path | None:
    """Return the folder with the UCI tables, or None where there is none.

    That is the folder named by the environment variable PRIVET_DATA; where it is not set,
    ``../shared/datasets`` as seen from the project's checkout or from the current directory.

    Returns
    -------
    Path or None

    Raises
    ------
    DatasetUnavailable
        PRIVET_DATA is set but names no folder.
    """
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        if Path(named).is_dir():
            return Path(named)
        raise DatasetUnavailable(f"{FOLDER_VARIABLE} is set but names no folder; correct it or unset it")
    checkout = Path(__file__).resolve().parents[3]
    roots = ([checkout] if (checkout / "pyproject.toml").is_file() else []) + [Path.cwd()]
    return next((folder for root in roots if (folder := root / _BESIDE_THE_PROJECT).is_dir()), None)


def _from_folder(folder: Path, name: str) -> Dataset:
    try:
        schema = Schema.load(folder / f"{name}.json")
    except SchemaError as error:
        raise _damaged(f"{name}.json") from error
    table = _read_csv(folder / f"{name}.csv.gz", schema)
    if schema.rows is not None and schema.rows != len(table):
        raise DataError(f"{name}.csv.gz does not have as many rows as {name}.json says; replace both by intact copies")
    labels = table.pop(schema.target)
    if not labels.isin(schema.classes).all():
        raise DataError(f"{name}.csv.gz has labels that are not in {name}.json; add them to its classes")
    return Dataset(X=table, y=np.asarray(labels, dtype=np.str_), schema=schema, name=name)


def _read_csv(path: Path, schema: Schema) -> pd.DataFrame:
    """Read text unchanged: only an empty field is missing, and "NA" is a value like any other."""
    import pandas as pd
    import pyarrow as pa
    from pyarrow import csv

    text = pa.dictionary(pa.int32(), pa.string())
    types = {a.name: pa.float64() if isinstance(a, Numeric) else text for a in schema.attributes}
    types[schema.target] = text
    options = csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
    try:
        table = csv.read_csv(path, convert_options=options)
    except pa.ArrowInvalid:
        # Arrow's message would quote the value that it could not read.
        raise DataError(
            f"{path.name} has a line that does not fit its header, or text in a numeric column; "
            "replace it by an intact copy"
        ) from None
    except (OSError, EOFError) as error:
        raise _damaged(path.name) from error
    if table.column_names != [*schema.names, schema.target]:
        raise DataError(f"the columns of {path.name} are not those of its json; the label comes last in both")
    return pd.DataFrame({column: _plain(table[column].to_pandas()) for column in table.column_names})


def _plain(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers as float; anything else as text, with None for a missing value."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    codes, values = pd.factorize(column)
    # Code -1 stands for a missing value and picks the last entry.
    texts = np.array([*map(str, values), None], dtype=object)
    return pd.Series(texts[codes], dtype=object)


def _from_openml(name: str) -> Dataset:
    from privet.schema import infer_schema

    bunch = _fetch(name)
    X = bunch.data.reset_index(drop=True).apply(_plain)
    y: NDArray[np.str_] = np.asarray(_plain(bunch.target.reset_index(drop=True)), dtype=np.str_)
    # The whole table is public, and so are its domains.
    return Dataset(X=X, y=y, schema=infer_schema(X, y, target=str(bunch.target.name)), name=name)


def _fetch(name: str) -> Any:
    from sklearn.datasets import fetch_openml

    place = _ON_OPENML[name]
    if place is None:
        raise _unavailable(name)
    try:  # one retry is the least that scikit-learn takes
        bunch = fetch_openml(data_id=place.data_id, target_column=place.target, as_frame=True, n_retries=1)
    except (OSError, EOFError, HTTPException, ValueError, KeyError) as error:
        raise _unavailable(name) from error
    if bunch.target is None or len(bunch.data) != place.rows:
        raise _unavailable(name)
    return bunch


def _damaged(file_name: str) -> DatasetUnavailable:
    return DatasetUnavailable(f"{file_name} is missing or damaged; replace it by an intact copy")


def _unavailable(name: str) -> DatasetUnavailable:
    return DatasetUnavailable(
        f"the table {name!r} is not on this machine and could not be fetched from OpenML; "
        f"set {FOLDER_VARIABLE} to a folder with {name}.csv.gz and {name}.json"
    )
