"""Tables whose bytes lie: Arrow would read outside of its buffers, or for ever."""

import gzip
import io
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from privet import Categorical, PrivateRDTClassifier, Schema
from privet.counting.files import file_columns, read_batches
from privet.errors import DataError
from privet.schema.encoding import Encoder

SCHEMA = Schema([Categorical("job", ["cook", "nurses"])], classes=["no", "yes"], rows=2)
ROWS = pa.table({"job": ["cook", "nurses"], "class": ["no", "yes"]})


def encoded(path):
    encoder = Encoder(SCHEMA)
    return np.concatenate([encoder.encode(batch) for batch in read_batches(path, SCHEMA, SCHEMA.names)])


def arrow_file(path, rows, *, truth=b"", lie=b""):
    """Write an Arrow file, and put ``lie`` where it says ``truth``."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    content = sink.getvalue()
    if truth:
        assert content.count(truth) == 1
        content = content.replace(truth, lie)
    path.write_bytes(content)
    return path


def ends(*values):
    return np.array(values, dtype=np.int32).tobytes()


@pytest.mark.parametrize("lie", [ends(0, 2**30, 2**31 - 1), ends(0, 4, 100_000), ends(-8, 4, 10), ends(0, 10, 4)])
def test_an_arrow_file_whose_texts_end_outside_of_it_is_refused(tmp_path, lie):
    path = arrow_file(tmp_path / "rows.arrow", ROWS, truth=ends(0, 4, 10), lie=lie)
    with pytest.raises(DataError, match="cannot be read to its end: it is cut short or damaged; write it again"):
        PrivateRDTClassifier(SCHEMA, n_trees=1, height=1).fit(path)


def test_an_arrow_file_whose_dictionary_codes_lead_outside_is_refused(tmp_path):
    codes = pa.array([0, 10**6], pa.int32())
    jobs = pa.DictionaryArray.from_arrays(codes, pa.array(["cook"]), safe=False)
    path = arrow_file(tmp_path / "rows.arrow", pa.table({"job": jobs}))
    with pytest.raises(DataError, match="cannot be read to its end: it is cut short or damaged; write it again"):
        encoded(path)


def test_an_arrow_file_whose_names_are_no_text_is_refused(tmp_path):
    path = arrow_file(tmp_path / "rows.arrow", ROWS)
    path.write_bytes(path.read_bytes().replace(b"job", b"\x80ob"))
    with pytest.raises(DataError, match="is not UTF-8 text; save it as UTF-8"):
        file_columns(path)


def test_an_arrow_file_that_does_not_lie_is_read(tmp_path):
    assert encoded(arrow_file(tmp_path / "rows.arrow", ROWS)).tolist() == [[0], [1]]


def test_a_parquet_file_with_any_byte_of_its_texts_changed_is_refused_or_read(tmp_path):
    """Its pages hold dictionary codes, which Arrow takes as they are."""
    sink = io.BytesIO()
    pq.write_table(ROWS, sink, compression="none")
    content, path, outcomes = sink.getvalue(), tmp_path / "rows.parquet", {"read": 0, "refused": 0}
    column = pq.ParquetFile(io.BytesIO(content)).metadata.row_group(0).column(0)
    start = column.dictionary_page_offset
    for at in range(start, start + column.total_compressed_size):
        for value in (0x02, 0x7F, 0xFF):
            path.write_bytes(content[:at] + bytes([value]) + content[at + 1 :])
            try:
                assert encoded(path).max(initial=0) <= 2
                outcomes["read"] += 1
            except DataError:
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 10, outcomes


@pytest.mark.parametrize("name", ["rows.csv", "rows.csv.gz"])
def test_a_first_line_without_end_is_refused(tmp_path, name):
    content = b"job," * 2**20
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(DataError, match="has a first line that does not end; the first line must name the columns"):
        file_columns(tmp_path / name)


def test_a_long_first_line_that_ends_is_read(tmp_path):
    names = [f"Zoë {i}" for i in range(100_000)]
    (tmp_path / "rows.csv").write_text(",".join(names) + "\n1,2\n", encoding="utf-8")
    assert file_columns(tmp_path / "rows.csv") == names


def test_a_first_line_in_quotes_may_hold_line_ends(tmp_path):
    (tmp_path / "rows.csv").write_text('"a\nb",c\n1,2\n')
    assert file_columns(tmp_path / "rows.csv") == ["a\nb", "c"]


@pytest.mark.parametrize("name", ["rows.csv", "rows.parquet", "rows.arrow"])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path, name):
    os.mkfifo(tmp_path / name)
    with pytest.raises(DataError, match="it is not a regular file; write the table to a file and name that"):
        PrivateRDTClassifier(SCHEMA, n_trees=1, height=1).fit(tmp_path / name)
