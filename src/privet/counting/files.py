"""Tables in files, read batch by batch: Parquet, CSV, and Arrow's file and stream formats.

Only the columns that are needed are read. In a CSV an empty field is a missing value, and no other text is.
"""

import codecs
import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from privet.counting.csv_format import CsvFormat, format_of_process
from privet.errors import DataError
from privet.schema import Attribute, Numeric, Schema
from privet.schema.days import Date
from privet.schema.encoding import without_dictionary
from privet.schema.labels import FALSE_WORDS, TRUE_WORDS, arrow_type_of
from privet.schema.table import check_present

# On 15 columns, batches of 65,536 rows with buffers of 1 MB took 35 MB more memory.
_BATCH_ROWS = 16_384
# Arrow reads up to 32 blocks of a CSV ahead. On 5 million rows, blocks of 8 MB took 270 MB more and saved no time.
_BLOCK_BYTES = 2 * 2**20
_DECIMAL_HINT = ". A decimal comma is read with --decimal , at the command line"
_KINDS = {"double": "numbers", "bool": "true/false"}
_BUFFER_BYTES = 2**17
_PARQUET, _CSV, _ARROW = "Parquet", "CSV", "Arrow"
_FORMATS = {".parquet": _PARQUET, ".pq": _PARQUET, ".arrow": _ARROW, ".feather": _ARROW, ".arrows": _ARROW}
_COMPRESSIONS = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}
_MAGIC = b"ARROW1"
_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"
_SLICE_ROWS = 65_536


def file_columns(path: str | Path, csv_format: CsvFormat | None = None) -> list[str]:
    """Return the names of a file's columns. A CSV is read as this process does, if no format is given."""
    form = csv_format or format_of_process()
    types = file_types(path)
    if types is not None:
        if not types.names:
            raise DataError(f"{str(path)!r} has no columns; pass a table that has one per attribute")
        return list(types.names)
    with _readable_errors(path, form):
        return _csv_header(path, form)


def file_types(path: str | Path) -> Any:
    """Return the Arrow schema that a file declares; None for a CSV, which declares no types."""
    import pyarrow.parquet as pq

    _check_is_file(path)
    kind = _format_of(path)
    with _readable_errors(path):
        types = {_PARQUET: pq.read_schema, _ARROW: _arrow_schema, _CSV: lambda _: None}[kind](path)
        if types is not None:
            types.names  # noqa: B018 - Arrow decodes names on access, and fails here where they are not UTF-8
    return types


def row_group_sizes(path: str | Path) -> list[int] | None:
    """Return the number of rows in each row group of a Parquet file; None for other formats."""
    import pyarrow.parquet as pq

    _check_is_file(path)
    if _format_of(path) != _PARQUET:
        return None
    with _readable_errors(path):
        metadata = pq.read_metadata(path)
    return [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]


def read_batches(
    path: str | Path,
    schema: Schema,
    names: Sequence[str],
    *,
    row_groups: Sequence[int] | None = None,
    watch: Callable[[float], None] | None = None,
    csv_format: CsvFormat | None = None,
) -> Iterator[Any]:
    """Yield Arrow batches of the columns ``names``, with the types that ``schema`` declares.

    ``watch`` is called with the share of the file that has been read; for a CSV the share is approximate.
    ``row_groups`` selects row groups of a Parquet file. A CSV is read as this process does, if no format is given.
    """
    form = csv_format or format_of_process()
    check_present(file_columns(path, form), names)
    kind = _format_of(path)
    with _readable_errors(path, form):
        if kind == _PARQUET:
            batches = _parquet_batches(path, names, row_groups)
        else:
            batches = _arrow_batches(path, names) if kind == _ARROW else _csv_batches(path, schema, names, form)
        for batch, share in batches:
            if watch is not None:
                watch(share)
            yield batch


def table_of(batches: Sequence[Any]) -> Any:
    """Return the batches as one table. Dictionaries may differ from batch to batch, so they are decoded."""
    import pyarrow as pa

    plain = [
        pa.RecordBatch.from_arrays([without_dictionary(column) for column in batch.columns], names=batch.schema.names)
        for batch in batches
    ]
    return pa.Table.from_batches(plain)


def read_whole(path: str | Path) -> Any:
    """Return the whole table with the types that Arrow infers, for use before there is a schema."""
    import pyarrow as pa
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq

    _check_is_file(path)
    kind, form = _format_of(path), format_of_process()
    with _readable_errors(path, form):
        if kind == _PARQUET:
            return pq.read_table(path)
        if kind == _ARROW:
            return pa.Table.from_batches(
                [batch for batch, _ in _arrow_batches(path, _arrow_schema(path).names)], _arrow_schema(path)
            )
        _csv_header(path, form)  # another separator is told by the header, and not by the lengths of the lines below
        convert = pa_csv.ConvertOptions(null_values=[""], strings_can_be_null=True, decimal_point=form.decimal)
        reading = pa_csv.ReadOptions(encoding=form.arrow_encoding)
        with pa.input_stream(str(path), compression="detect") as stream:
            return pa_csv.read_csv(stream, reading, _parsing(form), convert)


def _parsing(form: CsvFormat) -> Any:
    import pyarrow.csv as pa_csv

    # Without newlines_in_values a block may end inside a quoted field, and where a row ends would depend on other rows.
    return pa_csv.ParseOptions(delimiter=form.sep, newlines_in_values=True)


def _check_is_file(path: str | Path) -> None:
    """Refuse a pipe or a device. A folder is refused when it is opened."""
    if Path(path).exists() and not (Path(path).is_file() or Path(path).is_dir()):
        # Reading a pipe may block, and a device may never end. Neither can be read twice, as some fits do.
        raise DataError(f"cannot read {str(path)!r}: it is not a regular file; write the table to a file and name that")


def _format_of(path: str | Path) -> str:
    suffixes = Path(path).suffixes
    if suffixes[-1:] and suffixes[-1] in _FORMATS:
        return _FORMATS[suffixes[-1]]
    if ".csv" in suffixes[-2:]:
        return _CSV
    raise DataError(
        f"cannot tell the format of {str(path)!r} from its name; name it .csv, .csv.gz, .parquet, .arrow or .arrows"
    )


def _csv_header(path: str | Path, form: CsvFormat) -> list[str]:
    import pyarrow as pa

    with pa.input_stream(str(path), compression="detect") as stream:
        beginning = stream.read(_BLOCK_BYTES)
    decoder = codecs.getincrementaldecoder("utf-8-sig" if form.is_utf8 else form.encoding)()
    text = io.StringIO(decoder.decode(beginning), newline="")
    header = next(csv.reader(text, delimiter=form.sep), [])
    if len(beginning) == _BLOCK_BYTES and not text.read(1):
        raise DataError(f"{str(path)!r} has a first line that does not end; the first line must name the columns")
    if not header:
        raise DataError(f"{str(path)!r} is empty; its first line must name the columns")
    other = [mark for mark in (";", "\t", "|", ",") if mark in header[0]]
    if len(header) == 1 and other:
        named = "tab" if other[0] == "\t" else f"'{other[0]}'"
        raise DataError(
            f"{str(path)!r} seems to separate its fields by {other[0]!r} and not by {form.sep!r}; pass --sep {named} "
            "at the command line, or save it with commas"
        )
    return header


def _csv_batches(
    path: str | Path, schema: Schema, names: Sequence[str], form: CsvFormat
) -> Iterator[tuple[Any, float]]:
    import pyarrow as pa
    import pyarrow.csv as pa_csv

    _refuse_carriage_returns(schema)
    types = {attribute.name: _csv_type(attribute) for attribute in schema.attributes}
    types[schema.target] = pa.float64() if schema.number is not None else arrow_type_of(schema.classes)
    # A column outside the schema stays text: Arrow would guess its type from the first rows.
    types.update({name: pa.large_string() for name in names if name not in types})
    options = pa_csv.ConvertOptions(
        column_types=types, include_columns=list(names), null_values=[""], strings_can_be_null=True,
        true_values=TRUE_WORDS, false_values=FALSE_WORDS, decimal_point=form.decimal,
    )  # fmt: skip
    reading = pa_csv.ReadOptions(block_size=_BLOCK_BYTES, encoding=form.arrow_encoding)
    with (
        pa.OSFile(str(path)) as file,
        pa.input_stream(file, compression=_COMPRESSIONS.get(Path(path).suffix)) as stream,
    ):
        try:
            reader = pa_csv.open_csv(
                stream, read_options=reading, parse_options=_parsing(form), convert_options=options
            )
        except pa.ArrowInvalid as error:
            if "Empty CSV" in str(error):  # a header without a line end, and no rows
                return
            raise
        size = max(1, file.size())
        for batch in reader:
            # This is the position in the compressed file, and Arrow reads blocks ahead of the batch.
            yield batch, file.tell() / size


def _refuse_carriage_returns(schema: Schema) -> None:
    # Arrow loses the "\n" of a quoted "\r\n" where a block ends between the two. What such a value reads as would
    # then depend on the rows before it.
    domains = {a.name: a.categories for a in schema.attributes if not isinstance(a, Numeric)}
    for name, labels in {**domains, schema.target: schema.classes}.items():
        if any(isinstance(label, str) and "\r" in label for label in labels):
            raise DataError(f"column {name!r} has a value with a carriage return, unsafe in a CSV; use Parquet")


def _csv_type(attribute: Attribute) -> Any:
    import pyarrow as pa

    if isinstance(attribute, Date):
        return pa.large_string()  # read as dates in data frames are
    return pa.float64() if isinstance(attribute, Numeric) else arrow_type_of(attribute.categories)


def _parquet_batches(
    path: str | Path, names: Sequence[str], row_groups: Sequence[int] | None
) -> Iterator[tuple[Any, float]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    types = pq.read_schema(path)
    text = [n for n in names if pa.types.is_string(types.field(n).type)]
    # Text is read as a dictionary, so that each distinct value is looked up once per batch instead of once per row.
    # Pre-buffering, Arrow's default, would hold the whole file in memory by its end.
    options = {"read_dictionary": text, "pre_buffer": False, "buffer_size": _BUFFER_BYTES}
    with pq.ParquetFile(path, **options) as file:
        chosen = range(file.num_row_groups) if row_groups is None else row_groups
        total, done = sum(file.metadata.row_group(i).num_rows for i in chosen), 0
        for batch in file.iter_batches(batch_size=_BATCH_ROWS, row_groups=list(chosen), columns=list(names)):
            # Arrow does not check that the dictionary codes of a page are in range.
            batch.validate(full=True)
            done += batch.num_rows
            yield batch, done / max(1, total)
    if done != total:
        raise DataError(f"{str(path)!r} holds more or fewer rows than it declares: it is damaged; write it again")
    # Give the reader's memory back before noise is drawn, which needs memory too.
    pa.default_memory_pool().release_unused()


@contextmanager
def _readable_errors(path: str | Path, form: CsvFormat | None = None) -> Iterator[None]:
    """Replace Arrow's errors, which quote values, by errors that name the file and the column."""
    import pyarrow as pa

    try:
        yield
    except (OSError, pa.ArrowException, UnicodeError, csv.Error) as error:
        if Path(path).is_dir():
            raise DataError(f"cannot read {str(path)!r}: it is a folder; name a file in it") from None
        if isinstance(error, OSError) and error.errno:
            raise DataError(f"cannot read {str(path)!r}: {os.strerror(error.errno)}; check the path") from None
        # On one core Arrow also names the row.
        column = re.search(r"[Cc]olumn '?#?([^':]+)'?: (?:Row #\d+: )?CSV conversion error to (\w+)", str(error))
        if column:
            raise DataError(
                f"{str(path)!r}: column {_column_name(path, column[1], form)!r} holds values that are not "
                f"{_KINDS.get(column[2], column[2])}, which the schema says they are; convert them, or leave "
                f"them empty where a value may be missing{_DECIMAL_HINT if column[2] == 'double' else ''}"
            ) from None
        if isinstance(error, UnicodeError) or "UTF8" in str(error):
            encoding = "UTF-8" if form is None or form.is_utf8 else form.encoding
            raise DataError(
                f"{str(path)!r} is not {encoding} text; save it as UTF-8, or name its encoding, such as by "
                "--encoding latin-1 at the command line"
            ) from None
        lines = "" if _format_of(path) != _CSV else ", or its lines differ in their number of fields"
        raise DataError(
            f"{str(path)!r} cannot be read to its end: it is cut short or damaged{lines}; write it again"
        ) from None


def _column_name(path: str | Path, number_or_name: str, form: CsvFormat | None) -> str:
    return file_columns(path, form)[int(number_or_name)] if number_or_name.isdecimal() else number_or_name


def _arrow_schema(path: str | Path) -> Any:
    """Return the columns and types of an Arrow file."""
    import pyarrow as pa

    with pa.OSFile(str(path)) as file:
        return _reader(file).schema


def _arrow_batches(path: str | Path, names: Sequence[str]) -> Iterator[tuple[Any, float]]:
    """Yield batches of the columns ``names``, each with the share of the file that has been read."""
    import pyarrow as pa

    _check_end(path)
    positions = sorted(_arrow_schema(path).get_field_index(name) for name in names)
    options = pa.ipc.IpcReadOptions(included_fields=positions)
    with pa.OSFile(str(path)) as file:
        for batch, share in _each_batch(_reader(file, options), file):
            # Arrow trusts the offsets and dictionary codes in a file, and would read outside its buffers.
            batch.validate(full=True)
            # A writer may have put all rows in one batch. Slices keep the memory of encoding small.
            for start in range(0, batch.num_rows, _SLICE_ROWS):
                yield batch.slice(start, _SLICE_ROWS).select(list(names)), share


def _reader(file: Any, options: Any = None) -> Any:
    import pyarrow as pa

    # File names do not reliably tell the two formats apart; the first bytes do.
    is_file = file.read(len(_MAGIC)) == _MAGIC
    file.seek(0)
    return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(file, options=options)


def _each_batch(reader: Any, file: Any) -> Iterator[tuple[Any, float]]:
    n_batches = getattr(reader, "num_record_batches", None)
    if n_batches is None:
        size = max(1, file.size())
        for batch in reader:
            yield batch, file.tell() / size
        return
    for number in range(n_batches):
        yield reader.get_batch(number), (number + 1) / n_batches


def _check_end(path: str | Path) -> None:
    """Refuse a stream without its end mark. Cut between two batches, it would read as a shorter table."""
    with Path(path).open("rb") as file:
        is_file = file.read(len(_MAGIC)) == _MAGIC
        file.seek(0, 2)
        file.seek(max(0, file.tell() - len(_END_OF_STREAM)))
        if not is_file and file.read() != _END_OF_STREAM:
            raise DataError(f"{str(path)!r} cannot be read to its end: it is cut short or damaged; write it again")
