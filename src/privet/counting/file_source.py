"""Files that are one table together: paths, patterns, folders of Parquet files."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

from privet.counting.engines.partition import FilePartition, row_group_runs
from privet.counting.files import file_columns, file_types, read_batches, row_group_sizes
from privet.errors import DataError
from privet.schema import Schema
from privet.schema.encoding import Encoder
from privet.schema.persons import check_person_type
from privet.schema.table import check_present

PathLike: TypeAlias = str | os.PathLike[str]
# About so many rows a part: work enough to be worth sending, and small beside what a worker holds anyway.
_PARTITION_ROWS = 2**20


class Files:
    """Files that are one table, in the order of their names within a pattern or folder.

    Parameters
    ----------
    *named : path
        A file, a pattern such as ``"rows-*.parquet"``, or a folder of Parquet files.
    watch : callable, optional
        Told with every batch which share of all bytes has been read in this pass.
    """

    once = False

    def __init__(self, *named: PathLike, watch: Callable[[float], None] | None = None) -> None:
        self.named, self.watch = named, watch
        self._stamps: dict[Path, tuple[int, int]] = {}

    @cached_property
    def paths(self) -> tuple[Path, ...]:
        """The files, each of them once."""
        paths = [path for name in self.named for path in _found(name)]
        seen: set[tuple[int, int]] = set()
        for path in paths:
            stat = path.stat() if path.exists() else None
            # A link to a file is that file: its rows would count twice, and the noise would be for once.
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
        """Yield Arrow batches of the columns called ``names``, file after file."""
        sizes = [_stamp(path)[0] for path in self.paths]
        done, total = 0, max(1, sum(sizes))
        if self.watch is not None:
            self.watch(0.0)  # a pass begins
        for path, size in zip(self.paths, sizes, strict=True):
            self._check_unchanged(path)
            yield from read_batches(path, schema, names, watch=self._watched(done, size, total))
            self._check_unchanged(path)
            done += size

    def partitions(self) -> list[FilePartition]:
        """Return the parts: runs of row groups of a Parquet file, and other files whole."""
        parts: list[FilePartition] = []
        for path in self.paths:
            sizes = row_group_sizes(path)
            runs = [None] if sizes is None else row_group_runs(sizes, _PARTITION_ROWS)
            # Absolute: workers may stand in another folder.
            parts += [FilePartition(f"{len(parts) + i}", path.absolute(), run) for i, run in enumerate(runs)]
        return parts

    def _watched(self, done: int, size: int, total: int) -> Callable[[float], None] | None:
        watch = self.watch
        return None if watch is None else lambda share: watch((done + min(share, 1.0) * size) / total)

    def _check_unchanged(self, path: Path) -> None:
        stamp = _stamp(path)
        if self._stamps.setdefault(path, stamp) != stamp:
            raise DataError(f"{str(path)!r} changed while it was read; leave it alone, and fit again")


def _found(name: PathLike) -> list[Path]:
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
    """Encode a row of nothing in the file's types, and no label."""
    import pyarrow as pa

    types = file_types(path)
    if types is not None:
        names, target = list(encoder.schema.names), encoder.schema.target
        encoder.encode(pa.table([pa.nulls(1, types.field(name).type) for name in names], names=names))
        encoder.encode_labels(pa.nulls(0, types.field(target).type))
        if encoder.unit is not None:
            check_person_type(types.field(encoder.unit).type, encoder.unit)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0  # opening it has the better sentence
    return stat.st_size, stat.st_mtime_ns
