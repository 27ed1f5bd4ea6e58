"""Random tables, written in a random dialect, are read as they were."""

from __future__ import annotations

import csv
import io
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from uneven.app.files.table import Table, read_table
from uneven.app.files.table_columns import plan_columns, type_columns
from uneven.app.files.table_formats import Reading
from uneven.errors import UnevenError
from uneven.tables.columns import CATEGORY, DATE, MANY, NUMBER, TEXT
from uneven.tables.dates import parsed

ROWS = 24
LETTERS = "abcäöüßé"
WORDS = st.text(alphabet=LETTERS + " ,;|'\"\n", min_size=1, max_size=8).map(lambda word: f"w{word}w")
NUMBERS = st.decimals(min_value=-(10**7), max_value=10**7, places=2, allow_nan=False)
DATES = st.dates(min_value=date(1990, 1, 1), max_value=date(2030, 12, 31))


def lists(values: st.SearchStrategy[object]) -> st.SearchStrategy[list[object]]:
    return st.lists(values, min_size=ROWS, max_size=ROWS)


def number_text(value: object, decimal: str, thousands: str, sign: str) -> str:
    grouped = f"{value:,.2f}".replace(",", "_").replace(".", decimal).replace("_", thousands)
    return grouped + sign


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    words=lists(WORDS),
    numbers=lists(NUMBERS),
    dates=lists(DATES),
    dialect=st.sampled_from([(",", "."), (";", ","), ("\t", ","), ("|", "."), (";", ".")]),
    grouping=st.sampled_from(["", "sign", " ", "'", "\u202f"]),
    sign=st.sampled_from(["", " €", " EUR"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    end=st.sampled_from(["\n", "\r\n"]),
    form=st.sampled_from(["%Y-%m-%d", "%d.%m.%Y"]),
    missing=st.sampled_from(["", "NA", "-", "?", "n/a"]),
)
def test_a_table_is_read_as_it_was_written(
    tmp_path: Path,
    words: list[str],
    numbers: list[object],
    dates: list[date],
    dialect: tuple[str, str],
    grouping: str,
    sign: str,
    encoding: str,
    end: str,
    form: str,
    missing: str,
) -> None:
    sep, decimal = dialect
    thousands = {",": ".", ".": ","}[decimal] if grouping == "sign" else grouping
    if encoding == "cp1252":
        thousands = thousands.replace("\u202f", "\u00a0")
    shown = [number_text(value, decimal, thousands, sign) for value in numbers]
    texts = io.StringIO()
    writer = csv.writer(texts, delimiter=sep, lineterminator=end)
    writer.writerow(["word", "number", "day", "target"])
    shown_dates = [day.strftime(form) for day in dates]
    for k in range(ROWS):
        gap = k == 7
        writer.writerow([words[k], missing if gap else shown[k], missing if gap else shown_dates[k], "yn"[k % 2]])
    path = tmp_path / "table.csv"
    path.write_bytes(texts.getvalue().encode(encoding))

    table = read_table(str(path))
    assert table.frame.shape == (ROWS, 4)
    assert table.texts("word").to_pylist() == words
    read = table.required_numbers("number")
    assert np.array_equal(read, [np.nan if k == 7 else float(value) for k, value in enumerate(numbers)], equal_nan=True)
    days = table.texts("day")
    assert days.to_pylist() == [None if k == 7 else day for k, day in enumerate(shown_dates)]
    roles = {column.name: column for column in plan_columns(table, "target", keep=["word", "number"]).columns}
    if len(set(words)) > 1:
        assert (roles["word"].role == CATEGORY) == (len(set(words)) <= 20)
        assert roles["word"].role in (CATEGORY, MANY, TEXT)
    if len(set(read)) > 2:
        assert roles["number"].role == NUMBER
    if len(set(dates)) > 2:
        assert roles["day"].role == DATE
        found = parsed(np.array(shown_dates, dtype=object), roles["day"].format)
        assert [str(value)[:10] for value in found] == [day.isoformat() for day in dates]


@pytest.mark.parametrize(
    ("texts", "decimal", "expected"),
    [
        (["1,5", "2,25"], None, [1.5, 2.25]),
        (["1,5", "1.234,5"], None, [1.5, 1234.5]),
        (["1.234.567", "2"], None, [1234567, 2]),
        (["1,234.5", "2,345"], None, [1234.5, 2345]),
        (["0,123", "1,234"], None, [0.123, 1.234]),
        (["1,234", "2,345"], None, [1234, 2345]),
        (["1,234", "2,345"], ",", [1.234, 2.345]),
        (["1.234", "2.345"], None, [1.234, 2.345]),
        (["1.234", "2.345"], ",", [1234, 2345]),
        (["1'234.5", "1’234"], None, [1234.5, 1234]),
        (["12 %", "5.5%"], None, [0.12, 0.055]),
        (["$5", "-$5", "$ -5", "(5)", "5-", "−5", "+5"], None, [5, -5, -5, -5, -5, -5, 5]),
        (["US$ 1,000", "R$ 2", "CHF 3.50", "4 zł", "5 kr"], None, [1000, 2, 3.5, 4, 5]),
        (["1e3", "2.5E-2", ".5", "7."], None, [1000, 0.025, 0.5, 7]),
        (["inf", "-Infinity", "1e999", "1"], None, [np.nan, np.nan, np.nan, 1]),
    ],
)
def test_numbers_as_people_write_them(
    texts: list[str], decimal: str | None, expected: list[float], tmp_path: Path
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["x,y", *(f'"{text}",1' for text in texts)]), encoding="utf-8")
    table: Table = read_table(str(path), Reading(decimal=decimal))
    found = table.required_numbers("x")
    assert np.allclose(found, expected, rtol=1e-15, equal_nan=True), found


@pytest.mark.parametrize(
    "text", ["1 2", "1,2,3", "12.34.56", "--5", "5 kg", "0x10", "1_000", "€", "%", "1.2e", "12:30"]
)
def test_what_is_not_a_number(text: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f'x,y\n"{text}",1\n', encoding="utf-8")
    assert read_table(str(path)).numbers("x").others.all()


PIECES = st.sampled_from(
    [b",", b";", b"\n", b"\r", b'"', b"a", b"1", b"1,5", b"31.12.2026", b" ", b"\xe4", b"\x00", b"\xff\xfe"]
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(pieces=st.lists(PIECES, min_size=1, max_size=40))
def test_any_file_is_a_table_or_refused(pieces: list[bytes], tmp_path: Path) -> None:
    path = tmp_path / "any.csv"
    path.write_bytes(b"".join(pieces))
    try:
        table = read_table(str(path))
        plan = plan_columns(table, str(table.frame.columns[0]))
        assert type_columns(table, plan.columns).shape[0] == len(table)
    except UnevenError as error:
        assert str(error)
