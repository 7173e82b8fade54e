"""CSV files that are written in another way."""

import gzip
import pickle

import pytest

from privet.counting.csv_format import CsvFormat, format_of_process, reading_csv
from privet.counting.engines.parts import FilePartition
from privet.counting.files import file_columns, read_batches, read_whole, table_of
from privet.errors import DataError, ParameterError
from privet.schema import Categorical, Numeric, Schema
from privet.schema.encoding import Encoder

SCHEMA = Schema(
    [Numeric("größe", 0, 10, edges=[2.6]), Categorical("stadt", ["Köln", "Ulm"])], classes=["ja", "nein"], target="weg"
)
TEXT = 'größe;stadt;weg\n2,5;Köln;ja\n2,75;"Ulm";nein\n;Köln;ja\n'
GERMAN = CsvFormat(";", ",", "latin-1")


@pytest.fixture
def path(tmp_path):
    (tmp_path / "rows.csv").write_bytes(TEXT.encode("latin-1"))
    return tmp_path / "rows.csv"


def codes_in(path, **options):
    table = table_of(list(read_batches(path, SCHEMA, ["größe", "stadt", "weg"], **options)))
    return Encoder(SCHEMA).encode(table.drop_columns("weg")).tolist()


CODES = [[0, 0], [1, 1], [2, 0]]


def test_a_file_is_read_in_the_format_of_the_process(path):
    with reading_csv(GERMAN):
        assert file_columns(path) == ["größe", "stadt", "weg"]
        assert codes_in(path) == CODES
        assert read_whole(path).column("größe").to_pylist() == [2.5, 2.75, None]
    assert format_of_process() == CsvFormat()


def test_a_format_that_is_given_comes_before_that_of_the_process(path):
    assert codes_in(path, csv_format=GERMAN) == CODES


def test_the_format_of_the_process_ends_with_an_error_too():
    with pytest.raises(ZeroDivisionError), reading_csv(GERMAN):
        1 / 0  # noqa: B018
    assert format_of_process() == CsvFormat()


def test_compressed_files_and_tabs_and_a_byte_order_mark_are_read(tmp_path):
    for text, form in ((TEXT, GERMAN), (TEXT.replace(";", "\t"), CsvFormat("tab", ",", "cp1252"))):
        (tmp_path / "rows.csv.gz").write_bytes(gzip.compress(text.encode("latin-1")))
        assert codes_in(tmp_path / "rows.csv.gz", csv_format=form) == CODES
    (tmp_path / "marked.csv").write_bytes(TEXT.encode("utf-8-sig"))
    assert codes_in(tmp_path / "marked.csv", csv_format=CsvFormat(";", ",", "UTF-8")) == CODES


def test_a_part_takes_its_format_to_another_process(path):
    with reading_csv(GERMAN):
        sent = pickle.dumps(FilePartition("0", path))
    part = pickle.loads(sent)
    assert [codes.tolist() for codes, _ in part.blocks(Encoder(SCHEMA))] == [CODES]
    assert part.exact_size(Encoder(SCHEMA)) == 3


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        (CsvFormat(), "is not UTF-8 text; save it as UTF-8, or name its encoding, such as by --encoding latin-1"),
        (CsvFormat(encoding="latin-1"), "seems to separate its fields by ';' and not by ','; pass --sep ';' at the"),
        (CsvFormat("|", encoding="latin-1"), "seems to separate its fields by ';' and not by '|'; pass --sep ';'"),
        (CsvFormat(";", encoding="latin-1"), "'größe' holds values that are not numbers.*A decimal comma is read with"),
        (CsvFormat(";", ",", "utf-16"), "is not utf-16 text"),
    ],
)
def test_a_wrong_format_is_noticed_and_the_option_named(path, form, sentence):
    with pytest.raises(DataError, match=sentence):
        codes_in(path, csv_format=form)


def test_commas_are_noticed_where_another_separator_is_named(tmp_path):
    (tmp_path / "rows.csv").write_text("a,b\n1,2\n")
    with pytest.raises(DataError, match="seems to separate its fields by ',' and not by ';'; pass --sep ','"):
        file_columns(tmp_path / "rows.csv", CsvFormat(";"))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sep": ""}, "--sep '' must be one character"),
        ({"sep": "ab"}, "--sep 'ab' must be one character"),
        ({"sep": "7"}, "--sep '7' must be one character that is in no number or word"),
        ({"sep": '"'}, "must be one character"),
        ({"decimal": ";"}, "--decimal ';' must be '.' or ','"),
        ({"decimal": ","}, "--decimal and --sep are the same mark; say what separates the fields"),
        ({"encoding": "klingon"}, "--encoding 'klingon' is not known; choose one that Python knows, such as latin-1"),
        ({"encoding": "base64"}, "--encoding 'base64' is not known"),
    ],
)
def test_a_format_that_is_none_is_refused(options, sentence):
    with pytest.raises(ParameterError, match=sentence):
        CsvFormat(**options)
