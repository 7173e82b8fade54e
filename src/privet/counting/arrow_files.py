"""Arrow's own files, a batch at a time: the file format (.arrow, .feather) and the stream format (.arrows)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from privet.errors import DataError

_MAGIC = b"ARROW1"
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_SLICE_ROWS = 65_536


def arrow_schema(path: str | Path) -> Any:
    """Return the columns and types of an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        return _reader(file).schema


def arrow_batches(path: str | Path, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
    """Yield batches of the columns called ``names``, each with the share of the file that has been read."""
    import pyarrow as pa

    _check_end(path)
    positions = sorted(arrow_schema(path).get_field_index(name) for name in names)
    options = pa.ipc.IpcReadOptions(included_fields=positions)
    with pa.OSFile(str(path)) as file:
        for batch, share in _each(_reader(file, options), file):
            # Arrow takes offsets and dictionary codes as a file has them, and would read outside its buffers.
            batch.validate(full=True)
            # A writer may have put all rows in one batch; what is encoded at a time stays small all the same.
            for start in range(0, batch.num_rows, _SLICE_ROWS):
                yield batch.slice(start, _SLICE_ROWS).select(list(names)), share


def _reader(file: Any, options: Any = None) -> Any:
    import pyarrow as pa

    # The ending of a name does not tell the two formats apart in practice; the first bytes do.
    is_file = file.read(len(_MAGIC)) == _MAGIC
    file.seek(0)
    return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file, options=options)


def _each(reader: Any, file: Any) -> Iterator[tuple[Any, float]]:
    n_batches = getattr(reader, "num_record_batches", None)
    if n_batches is None:
        size = max(1, file.size())
        for batch in reader:
            yield batch, file.tell() / size
        return
    for number in range(n_batches):
        yield reader.get_batch(number), (number + 1) / n_batches


def _check_end(path: str | Path) -> None:
    """Refuse a stream that lacks its end mark: cut between two batches, it would read as a shorter table."""
    with Path(path).open("rb") as file:
        is_file = file.read(len(_MAGIC)) == _MAGIC
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(_END_OF_STREAM)))
        if not is_file and file.read() != _END_OF_STREAM:
            raise DataError(f"{str(path)!r} cannot be read to its end: it is cut short or damaged; write it again")
