"""Files as people have them: titles, units, totals, no names of columns; results are written as the table is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.files.table import read_table
from uneven.app.files.table_formats import Reading
from uneven.app.files.written_tables import sensible_digits, table_bytes
from uneven.errors import UnevenError

N = 60
NAMES = ["Kundennr", "Betrag", "Ort", "Gekündigt"]


def _rows(decimal: str = ",") -> list[list[str]]:
    random = np.random.default_rng(2)
    x = random.normal(size=N) * 20 + 100
    said = np.where(x + random.normal(size=N) * 10 > 105, "ja", "nein")
    towns = random.choice(["Köln", "Ulm"], N)
    return [
        [str(17 * k + 3), f"{v:.2f}".replace(".", decimal), town, s]
        for k, (v, town, s) in enumerate(zip(x, towns, said, strict=True))
    ]


def _text(rows: list[list[str]], sep: str = ";") -> str:
    return "".join(sep.join(row) + "\n" for row in rows)


def _read(path: Path, data: str | bytes, **how: object) -> tuple[list[str], list[list[str]], str]:
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    table = read_table(str(path), Reading(**how))  # type: ignore[arg-type]
    return list(table.frame.columns), table.frame.astype(str).to_numpy().tolist(), table.in_words()


@pytest.mark.parametrize(
    ("above", "below", "end", "said"),
    [
        ("", "", "", ""),
        ("Kunden 2026\nStand: 1.2.2026, Köln\n\n", "", "", "below 2 rows of title"),
        ("Kunden 2026;;;\n;;;\n", "", "", "below 1 row of title"),
        ("", ";[EUR];;\n", "", "the row of units skipped"),
        ("", "", ";;;\nSumme;6000,00;;\n", "the total at the end skipped"),
        ("", "", "Gesamt:;6000,00\n", "the total at the end skipped"),
        ("Kunden\n", ";EUR;;\n", "Summe;1,00;;\n", "below 1 row of title, the row of units skipped, the total"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
def test_the_same_rows_whatever_stands_around_them(
    tmp_path: Path, above: str, below: str, end: str, said: str, encoding: str
) -> None:
    text = above + _text([NAMES]) + below + _text(_rows()) + end
    names, rows, words = _read(tmp_path / "t.csv", text.encode(encoding))
    assert (names, rows) == (NAMES, _rows())
    assert said in words
    if not said:
        assert "skipped" not in words
        assert "title" not in words


def test_a_table_without_names_of_columns(tmp_path: Path) -> None:
    names, rows, words = _read(tmp_path / "t.csv", _text(_rows(".")))
    assert names == [f"column {k}" for k in range(1, 5)]
    assert rows == _rows(".")
    assert "no names of columns" in words
    same, _, _ = _read(tmp_path / "n.csv", _text([NAMES, *_rows()]), no_header=True)
    assert same == names


@pytest.mark.parametrize(
    "text",
    [
        "region,2019,2020\na,1,2\nb,3,4\nc,4,5\n",
        "2019,2020,2021\n1,2,3\n5,3,4\n7,4,5\n",
        "0,1,2\n3.5,1,2\n1.5,2,2\n",
        "name,town,ok\nann,rome,yes\nbob,paris,no\ncid,rome,yes\n",
        "a\n1\n2\n3\n",
        "x;y\n?;1\nlow;2\nlow;3\n",
        "t,m\n1,h\n2,h\n3,w\n",
    ],
)
def test_names_that_look_odd_stay_names(tmp_path: Path, text: str) -> None:
    names, rows, words = _read(tmp_path / "t.csv", text)
    lines = text.splitlines()
    sep = ";" if ";" in text else ","
    assert names == lines[0].split(sep)
    assert rows == [line.split(sep) for line in lines[1:]]
    assert "skipped" not in words


def test_the_row_that_was_asked_for(tmp_path: Path) -> None:
    text = "x;y;z;w\nfoo;bar;a;b\n\n" + _text([NAMES, *_rows()])
    names, rows, _ = _read(tmp_path / "t.csv", text, header_row=4)
    assert (names, rows) == (NAMES, _rows())
    with pytest.raises(UnevenError, match="got 3, which is empty"):
        _read(tmp_path / "t.csv", text, header_row=3)


def test_a_workbook_with_a_title_units_and_a_total(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    top: list[list[object]] = [["Kunden"], [None], list(NAMES), [None, "EUR"]]
    for row in [*top, *([int(a), float(b), c, d] for a, b, c, d in _rows(".")), ["Summe", 1.0]]:
        sheet.append(row)
    book.save(tmp_path / "t.xlsx")
    table = read_table(str(tmp_path / "t.xlsx"))
    assert list(table.frame.columns) == NAMES
    assert table.numbers("Betrag").values.tolist() == [float(row[1]) for row in _rows(".")]
    assert "below 1 row of title, the row of units skipped, the total at the end skipped" in table.in_words()
    assert read_table(str(tmp_path / "t.xlsx"), Reading(header_row=3)).frame.equals(table.frame)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


FIT = ["--target", "Gekündigt", "--positive", "ja", "--id", "Kundennr", "--learner", "linear"]


@pytest.mark.slow
def test_results_are_written_as_the_table_is(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_bytes(("Kunden\n" + _text([NAMES, *_rows()])).encode("cp1252"))
    model = tmp_path / "m.skops"
    costs = ["--fp-cost", 1, "--fn-cost", "Betrag", "--rows-per-year", 120000, "--unit", "EUR"]
    done = run("fit", data, *FIT, *costs, "--save-anyway", "-o", model)
    assert done.exit_code == 0, done.output
    assert "At 120,000 rows a year" in done.output
    for name in ("o.csv", "o.tsv", "o.xlsx", "o.parquet"):
        assert run("predict", model, data, "-o", tmp_path / name).exit_code == 0
    exact = pd.read_parquet(tmp_path / "o.parquet")
    found = {
        "o.csv": pd.read_csv(tmp_path / "o.csv", sep=";", decimal=",", encoding="cp1252"),
        "o.tsv": pd.read_csv(tmp_path / "o.tsv", sep="\t", decimal=",", encoding="cp1252"),
        "o.xlsx": pd.read_excel(tmp_path / "o.xlsx"),
    }
    for table in found.values():
        assert list(table.columns) == list(exact.columns)
        assert table["Kundennr"].astype(str).tolist() == exact["Kundennr"].tolist()
        np.testing.assert_allclose(table["cost_if_positive"], exact["cost_if_positive"], rtol=1e-5, atol=0.005)
        assert np.array_equal(table["probability"] > table["threshold"], exact["probability"] > exact["threshold"])
    assert max(map(len, (tmp_path / "o.csv").read_text(encoding="cp1252").split(";"))) < 20


@pytest.mark.slow
def test_bad_costs_are_counted_and_can_be_left_out(tmp_path: Path) -> None:
    rows = _rows()
    for k, cell in ((4, ""), (7, "offen"), (9, "")):
        rows[k][1] = cell
    rows[20][0] = rows[21][0]
    data, model = tmp_path / "t.csv", tmp_path / "m.skops"
    data.write_text(_text([NAMES, *rows]))
    costs = ["--fp-cost", 1, "--fn-cost", "Betrag"]
    done = run("fit", data, *FIT, *costs, "-o", model)
    assert done.exit_code == 2
    assert "row 5 below the header: column 'Betrag' is empty" in done.output
    assert "3 rows are like this): 2 empty or missing, 1 with other texts" in done.output
    assert "--skip-bad-costs" in done.output
    done = run("fit", data, *FIT, *costs, "--skip-bad-costs", "--save-anyway", "-o", model)
    assert done.exit_code == 0, done.output
    assert "3 rows left out" in done.output
    assert "1 ID occurs more than once, in 2 rows" in done.output
    for command in (["predict", model, data, "-o", tmp_path / "o.csv"], ["report", model, data]):
        assert run(*command).exit_code == 2
        done = run(*command, "--skip-bad-costs")
        assert done.exit_code == 0, done.output
        assert "3 rows left out" in done.output
    assert len(pd.read_csv(tmp_path / "o.csv", sep=";")) == N - 3


def test_digits_keep_the_order_of_what_is_compared() -> None:
    random = np.random.default_rng(0)
    p = np.concatenate([random.random(200), [0.123456789, 0.0, 1.0, 1e-12, np.nan]])
    t = np.concatenate([random.random(200), [0.123456788, 0.0, 0.5, 2e-12, 0.1]])
    frame = pd.DataFrame({"p": p, "t": t, "c": p * 1e6})
    found = sensible_digits(frame, (("p", "t"),))
    assert np.array_equal(found["p"] > found["t"], p > t)
    np.testing.assert_allclose(found["p"], p, rtol=5e-6)
    np.testing.assert_allclose(found["c"], frame["c"], atol=0.0051)
    assert sum(len(repr(v)) > 12 for v in found["p"]) <= 1  # but for the row whose order would turn


def test_a_character_that_the_encoding_lacks(tmp_path: Path) -> None:
    data = tmp_path / "t.csv"
    data.write_bytes("ä;b\n1;2\n3;4\n".encode("cp1252"))
    written = table_bytes(pd.DataFrame({"a": ["Ł"]}), "o.csv", read_table(str(data)))
    assert written.decode("utf-8-sig") == "a\nŁ\n"
    assert written.startswith(b"\xef\xbb\xbf")
