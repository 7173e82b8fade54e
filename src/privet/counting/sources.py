"""Sources of Arrow batches that a fit can read: files, and streams that the caller provides.

The labels are among the columns. A source is recognised by its type: a path, a list of paths or of batches, a reader,
a dataset, an iterable, or a function that returns one.
"""

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, TypeAlias, TypeGuard

from privet.counting.engines.parts import FilePartition, Partition, TablePartition, row_group_runs
from privet.counting.files import file_columns, file_types, read_batches, row_group_sizes
from privet.errors import DataError, ParameterError
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.persons import check_person_type
from privet.schema.table import check_present, is_lazy, offers_arrow

PathLike: TypeAlias = str | os.PathLike[str]
# The rows of a part: enough work to be worth sending, and small beside the memory that a worker uses anyway.
_PARTITION_ROWS = 2**20
_SLICE_ROWS = 65_536

ITERATOR_USED_UP = (
    "this fit reads the rows more than once, and an iterator is used up by the first pass; pass a list of batches, or "
    "a function that returns a new iterator"
)


class Source(Protocol):
    """Arrow batches with the labels among their columns."""

    @property
    def once(self) -> bool:
        """Whether the source can be read only once."""
        ...

    def check(self, encoder: Encoder, names: Sequence[str]) -> None:
        """Refuse what does not fit, as far as it shows before a row is read."""
        ...

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield batches of the columns ``names``."""
        ...

    def partitions(self) -> Sequence[Partition]:
        """Return parts that can be read independently."""
        ...


class Files:
    """Files that together are one table, in the order of their names within a pattern or folder.

    Parameters
    ----------
    *named : path
        A file, a pattern such as ``"rows-*.parquet"``, or a folder of Parquet files.
    watch : callable, optional
        Called after every batch with the share of all bytes that has been read in this pass.
    """

    once = False

    def __init__(self, *named: PathLike, watch: Callable[[float], None] | None = None) -> None:
        self.named, self.watch = named, watch
        self._stamps: dict[Path, tuple[int, int]] = {}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files, each of them once."""
        paths = [path for name in self.named for path in _find(name)]
        seen: set[tuple[int, int]] = set()
        for path in paths:
            stat = path.stat() if path.exists() else None
            # A link leads to the same file. Its rows would count twice, and the noise covers them once.
            if stat is not None and (stat.st_dev, stat.st_ino) in seen:
                raise DataError(f"{str(path)!r} is named twice, or links to another of the files; name each file once")
            seen |= set() if stat is None else {(stat.st_dev, stat.st_ino)}
        return tuple(paths)

    def check(self, encoder: Encoder, names: Sequence[str]) -> None:
        """Refuse files that lack a column, or hold it in a type that does not fit, before a row is read."""
        for path in self.paths:
            try:
                check_present(file_columns(path), names)
                _check_types(path, encoder)
            except DataError as error:
                if len(self.paths) == 1 or str(path) in str(error):
                    raise
                raise DataError(f"{str(path)!r} differs: {error}") from None

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:
        """Yield Arrow batches of the columns ``names``, file after file."""
        sizes = [_stamp(path)[0] for path in self.paths]
        done, total = 0, max(1, sum(sizes))
        if self.watch is not None:
            self.watch(0.0)  # a pass begins
        for path, size in zip(self.paths, sizes, strict=True):
            self._check_unchanged(path)
            yield from read_batches(path, schema, names, watch=self._watch_file(done, size, total))
            self._check_unchanged(path)
            done += size

    def partitions(self) -> list[FilePartition]:
        """Return the parts: runs of row groups of a Parquet file, and every other file as a whole."""
        parts: list[FilePartition] = []
        for path in self.paths:
            sizes = row_group_sizes(path)
            runs = [None] if sizes is None else row_group_runs(sizes, _PARTITION_ROWS)
            # Absolute, because workers may run in another folder.
            parts += [FilePartition(f"{len(parts) + i}", path.absolute(), run) for i, run in enumerate(runs)]
        return parts

    def _watch_file(self, done: int, size: int, total: int) -> Callable[[float], None] | None:
        watch = self.watch
        return None if watch is None else lambda share: watch((done + min(share, 1.0) * size) / total)

    def _check_unchanged(self, path: Path) -> None:
        stamp = _stamp(path)
        if self._stamps.setdefault(path, stamp) != stamp:
            raise DataError(f"{str(path)!r} changed while it was read; leave it alone, and fit again")


class BatchStream:
    """Arrow batches or tables with the labels among their columns. An iterator can be read once."""

    def __init__(self, given: Iterable[Any] | Callable[[], Iterable[Any]]) -> None:
        self.given, self._used = given, False
        self._n_rows: int | None = None

    @property
    def once(self) -> bool:
        """Whether the stream can be read only once."""
        return hasattr(self.given, "__next__") or hasattr(self.given, "read_next_batch")

    def check(self, encoder: Encoder, names: Sequence[str]) -> None:
        """Refuse a missing column, and persons that cannot be matched. A generator is checked while it is read."""
        import pyarrow as pa

        known = self.given if isinstance(self.given, (list, tuple)) else [self.given]
        if encoder.unit is None and len(set(map(id, known))) < len(known):
            raise DataError("a batch is in the list twice, and its rows would be counted twice; pass each batch once")
        for types in (getattr(batches, "schema", None) for batches in known):
            if isinstance(types, pa.Schema):
                check_present(types.names, names)
                if encoder.unit is not None:
                    check_person_type(types.field(encoder.unit).type, encoder.unit)

    def batches(self, schema: Schema, names: Sequence[str]) -> Iterator[Any]:  # noqa: ARG002 - batches have types
        """Yield the columns ``names`` of the batches."""
        if self.once and self._used:
            raise DataError(ITERATOR_USED_UP)
        self._used, n_rows = True, 0
        for table in _without_arrow_errors(self._open(names)):
            _check_batch(table)
            check_present(table.schema.names, names)
            n_rows += table.num_rows
            for start in range(0, table.num_rows, _SLICE_ROWS):
                yield table.slice(start, _SLICE_ROWS).select(list(names))
        # A function may return an iterator that an earlier pass has used up.
        if self._n_rows not in (None, n_rows):
            raise DataError("the batches differed when they were read again; return the same ones every time")
        self._n_rows = n_rows

    def partitions(self) -> list[TablePartition]:
        """Return one part for each batch of a list."""
        if not isinstance(self.given, (list, tuple)):
            raise ParameterError(
                "an executor counts rows in parts, and a stream of batches has none; pass files, a list of batches or "
                "a table, or leave the executor out"
            )
        for table in self.given:
            _check_batch(table)
        return [TablePartition(f"{i}", table) for i, table in enumerate(self.given)]

    def _open(self, names: Sequence[str]) -> Iterator[Any]:
        given: Any = self.given() if callable(self.given) else self.given
        if hasattr(given, "scanner"):  # a dataset; reading far ahead would fill the memory
            check_present(given.schema.names, names)
            scanner = given.scanner(
                columns=list(names), batch_size=_SLICE_ROWS, batch_readahead=2, fragment_readahead=1
            )
            return iter(scanner.to_batches())
        if not hasattr(given, "__iter__"):
            raise DataError("the function returned no iterable of Arrow batches; let it return a list or a generator")
        return iter(given)


def source_of(rows: Any) -> Source | None:
    """Return the source of batches; None for a table in memory and for a frame of a cluster."""
    if isinstance(rows, (Files, BatchStream)):
        return rows
    if _is_path(rows):
        return Files(rows)
    if isinstance(rows, (list, tuple)):
        if rows and all(map(_is_path, rows)):
            return Files(*rows)
        return BatchStream(rows) if rows and _is_batch(rows[0]) else None
    return BatchStream(rows) if _is_stream(rows) else None


def engine_of(rows: Any) -> str | None:
    """Return the engine of a cluster's frame, "dask" or "pyspark", and None of all else. No engine is imported."""
    engine = type(rows).__module__.partition(".")[0]
    return engine if engine in {"dask", "pyspark"} and hasattr(rows, "columns") else None


def _find(name: PathLike) -> list[Path]:
    path = Path(name)
    if path.is_dir():
        inside = sorted(p for p in path.rglob("*") if p.suffix in {".parquet", ".pq"} and p.name[0] not in "._")
        if not inside:
            raise DataError(f"the folder {str(path)!r} holds no .parquet file; name files, or a pattern like 'a-*.csv'")
        return inside
    if path.exists() or not glob.has_magic(str(name)):
        return [path]
    found = sorted(Path(match) for match in glob.glob(str(name), recursive=True))  # noqa: PTH207 - absolute ones too
    if not found:
        raise DataError(f"no file matches {str(name)!r}; check the pattern")
    return found


def _check_types(path: Path, encoder: Encoder) -> None:
    """Encode one row of nulls, and no label, in the types that the file declares."""
    import pyarrow as pa

    types = file_types(path)
    if types is not None:
        names, target = list(encoder.schema.names), encoder.schema.target
        nulls = pa.table([pa.nulls(1, types.field(name).type) for name in names], names=names)
        encoder.encode(nulls, allow_missing=True)
        encoder.encode_labels(pa.nulls(0, types.field(target).type))
        if encoder.unit is not None:
            check_person_type(types.field(encoder.unit).type, encoder.unit)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0  # opening the file reports what is wrong
    return stat.st_size, stat.st_mtime_ns


def _check_batch(table: Any) -> None:
    import pyarrow as pa

    if not isinstance(table, (pa.RecordBatch, pa.Table)):
        raise DataError(
            "a batch is neither a RecordBatch nor a Table of Arrow; convert it, such as by pyarrow.Table.from_pandas"
        )


def _without_arrow_errors(batches: Iterator[Any]) -> Iterator[Any]:
    """Yield the batches. Arrow's errors quote values, so they are replaced by one that does not."""
    import pyarrow as pa

    try:
        yield from batches
    except (pa.ArrowException, OSError):
        raise DataError(
            "the batches cannot be read to their end: their source is cut short or damaged; write it again"
        ) from None


def _is_path(rows: Any) -> TypeGuard[str | os.PathLike[str]]:
    return isinstance(rows, (str, os.PathLike))


def _is_batch(table: Any) -> bool:
    return type(table).__module__.partition(".")[0] == "pyarrow" and hasattr(table, "num_rows")


def _is_stream(rows: Any) -> bool:
    """Return whether batches come one after the other. A table has a length, an array or columns."""
    if is_lazy(rows) or offers_arrow(rows):  # read to the end and kept, as `as_table` does
        return False
    if hasattr(rows, "__array__") or hasattr(rows, "__len__") or hasattr(rows, "columns"):
        return False
    return callable(rows) or hasattr(rows, "__iter__") or hasattr(rows, "scanner")
