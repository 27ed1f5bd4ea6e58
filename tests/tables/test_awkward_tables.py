"""Tables as analysts have them: written by Excel, with dates, IDs, leaks and typing errors; as a user sees them."""

from __future__ import annotations

import gzip
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from uneven.app.cli.main import main
from uneven.app.models.model_files import read_model

FIT = ["--target", "Betrug", "--positive", "ja", "--fp-cost", "1", "--fn-cost", "5", "--quick"]
ROWS = 240


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def german(value: float, digits: int = 2) -> str:
    """1234.5 as 1.234,50."""
    return f"{value:,.{digits}f}".replace(",", "_").replace(".", ",").replace("_", ".")


@pytest.fixture(scope="module")
def values() -> pd.DataFrame:
    """The plain values behind every file of this page."""
    random = np.random.default_rng(3)
    amount = np.round(random.lognormal(6.5, 1, ROWS), 2)
    country = random.choice(["Österreich", "Deutschland", "Schweiz"], ROWS)
    chance = 1 / (1 + np.exp(-(np.log(amount) - 7 + 1.5 * (country == "Schweiz"))))
    return pd.DataFrame(
        {
            "Kunde Nr": random.permutation(ROWS) + 70_000,
            "Betrag": amount,
            "Anteil": np.round(random.uniform(size=ROWS), 3),
            "Land": country,
            "Datum": pd.date_range("2025-11-20 08:00", periods=ROWS, freq="13h"),
            "Stammkunde": random.uniform(size=ROWS) < 0.4,
            "Betrug": np.where(random.uniform(size=ROWS) < chance, "ja", "nein"),
        }
    )


@pytest.fixture(scope="module")
def written(values: pd.DataFrame) -> pd.DataFrame:
    """The same as a German Excel writes it."""
    return values.assign(
        Betrag=[german(x) + " €" for x in values["Betrag"]],
        Anteil=[german(100 * x, 1) + " %" for x in values["Anteil"]],
        Datum=values["Datum"].dt.strftime("%d.%m.%Y %H:%M"),
        Stammkunde=np.where(values["Stammkunde"], "WAHR", "FALSCH"),
    )


def fitted(path: Path, *options: object) -> tuple[Result, dict[str, object]]:
    """The output of a fit that must succeed, and what the model file says about itself."""
    model = path.with_suffix(".skops")
    result = run("fit", path, *FIT, "--learner", "linear", "--save-anyway", *options, "-o", model)
    assert result.exit_code == 0, result.output
    return result, read_model(str(model))


def refused(*arguments: object) -> str:
    """The sentence of a command that must refuse its input before it writes anything."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert len(result.stderr.strip().splitlines()) == 1
    assert "Traceback" not in result.stderr
    return result.stderr


def predictions(model: Path, table: Path, *options: object) -> pd.DataFrame:
    out = table.with_name("predictions.parquet")  # it keeps all digits
    result = run("predict", model, table, *options, "-o", out)
    assert result.exit_code == 0, result.output
    return pd.read_parquet(out)


@pytest.fixture(scope="module")
def scores(tmp_path_factory: pytest.TempPathFactory, values: pd.DataFrame) -> np.ndarray:
    """Scores of a model that was fitted to the plain values."""
    plain = tmp_path_factory.mktemp("plain") / "plain.parquet"
    values.to_parquet(plain)
    fitted(plain)
    return predictions(plain.with_suffix(".skops"), plain)["score"].to_numpy()


@pytest.mark.parametrize(
    ("encoding", "sep", "shown"),
    [
        ("utf-8-sig", ";", "separator ';', encoding UTF-8 with BOM, decimal sign ','; 240 rows, 7 columns."),
        ("cp1252", ";", "separator ';', encoding cp1252, decimal sign ','; 240 rows, 7 columns."),
        ("utf-16", "\t", "separator tab, encoding UTF-16, decimal sign ','; 240 rows, 7 columns."),
        ("utf-8", "|", "separator '|', encoding UTF-8, decimal sign ','; 240 rows, 7 columns."),
        ("utf-8", ",", "separator ',', encoding UTF-8, decimal sign ','; 240 rows, 7 columns."),
    ],
)
def test_every_dialect_gives_the_same_predictions(
    tmp_path: Path, scores: np.ndarray, written: pd.DataFrame, encoding: str, sep: str, shown: str
) -> None:
    path = tmp_path / "excel.csv"
    written.to_csv(path, sep=sep, encoding=encoding, index=False)
    result, content = fitted(path)
    assert f"excel.csv: {shown}" in result.stdout
    assert "€' is read as " in result.stdout
    assert (
        "Column 'Datum': '20.11.2025 08:00' is read as 2025-11-20 08:00:00; used as year, days since" in result.stdout
    )
    assert "Column 'Kunde Nr' skipped: looks like an ID or a row number (240 different values" in result.stdout
    assert content["about"]["decimal"] == ","
    here = predictions(path.with_suffix(".skops"), path)
    assert np.allclose(here["score"], scores, atol=1e-6)
    report = run("report", path.with_suffix(".skops"), path)
    assert report.exit_code == 0
    assert "240 rows, " in report.stdout


def test_a_model_reads_other_files_than_it_was_fitted_to(
    tmp_path: Path, values: pd.DataFrame, written: pd.DataFrame
) -> None:
    plain, excel, packed = tmp_path / "plain.csv", tmp_path / "excel.csv", tmp_path / "packed.csv.gz"
    values.assign(Stammkunde=np.where(values["Stammkunde"], "WAHR", "FALSCH")).to_csv(plain, index=False)
    written.to_csv(excel, sep=";", index=False)
    packed.write_bytes(gzip.compress(excel.read_bytes()))
    fitted(plain)
    scores = predictions(plain.with_suffix(".skops"), plain)["score"]
    assert np.allclose(predictions(plain.with_suffix(".skops"), excel)["score"], scores)
    assert np.allclose(predictions(plain.with_suffix(".skops"), packed)["score"], scores)


def test_options_decide_what_is_detected_otherwise(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    path = tmp_path / "odd.csv"
    rows = [f"{random.integers(1, 999)},{random.integers(100, 999)};{'ja' if k % 3 else 'nein'}" for k in range(60)]
    path.write_text("\n".join(["Betrag;Betrug", *rows]))
    assert "comma or point is taken for a decimal sign; --decimal decides" in fitted(path)[0].stdout
    assert "is taken for" not in fitted(path, "--decimal", ".")[0].stdout
    assert "there is no column 'Betrug'" in refused("fit", path, *FIT, "--sep", "|", "-o", tmp_path / "m.skops")
    assert "--sep must be one character" in refused("fit", path, *FIT, "--sep", "::", "-o", tmp_path / "m.skops")
    assert "--decimal must be . or ," in refused("fit", path, *FIT, "--decimal", "x", "-o", tmp_path / "m.skops")
    assert "--encoding must be a name such as" in refused("fit", path, *FIT, "--encoding", "x", "-o", tmp_path / "m")
    path.write_bytes("Betrag;Größe;Betrug\n".encode("cp1252"))
    assert "is not written in utf-8" in refused("fit", path, *FIT, "--encoding", "utf8", "-o", tmp_path / "m")


def test_workbooks(tmp_path: Path, scores: np.ndarray, values: pd.DataFrame, written: pd.DataFrame) -> None:
    path, out = tmp_path / "book.xlsx", tmp_path / "m.skops"
    with pd.ExcelWriter(path) as book:
        values.to_excel(book, sheet_name="Daten", index=False)
        written.head(3).to_excel(book, sheet_name="Hinweise", index=False)
    assert "has 2 sheets, 'Daten', 'Hinweise'; choose one with --sheet" in refused("fit", path, *FIT, "-o", out)
    assert "has no sheet 'daten'; its sheets are" in refused("fit", path, *FIT, "--sheet", "daten", "-o", out)
    assert "--sep is for text files" in refused("fit", path, *FIT, "--sheet", "Daten", "--sep", ";", "-o", out)
    result, _ = fitted(path, "--sheet", "Daten")
    assert "book.xlsx: sheet 'Daten'; 240 rows, 7 columns." in result.stdout
    here = predictions(path.with_suffix(".skops"), path, "--sheet", "Daten")
    assert np.allclose(here["score"], scores, atol=1e-6)
    plain = tmp_path / "plain.parquet"
    values.to_parquet(plain)
    assert np.allclose(predictions(path.with_suffix(".skops"), plain)["score"], scores, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.csv", b"", "a.csv is empty"),
        ("a.csv", b"\n\n", "it has no header"),
        ("a.csv", b"x,Betrug\n", "has a header but no rows"),
        ("a.csv", b",,\n1,2,3\n", "has a header but no rows"),
        ("a.csv", b"x,Betrug,x\n1,ja,2\n", "line 1: columns 1 and 3 are both named 'x'; rename one"),
        ("a.csv", b"x,Betrug\n1,ja\n2,nein,3\n", "line 3: 3 fields, but the header has 2 (separator ',')"),
        ("a.csv", b'x,Betrug\n"1\n2",ja\n\n2\n', "line 5: 1 field, but the header has 2"),
        ("a.csv", b"sep=;\nx;Betrug\n1;ja\n2;nein;3\n", "line 4: 3 fields, but the header has 2 (separator ';')"),
        ("a.csv", b'x,Betrug\n1,ja\n2,"nein\n3,ja\n', "a quotation mark that is not closed"),
        ("a.csv", b"Cases of 2026\n\nx;y;Betrug\n1;2;ja\n", "every row of column 'Betrug' is positive ('ja')"),
        ("a.csv", b"<!DOCTYPE html><html><body>Log in</body></html>", "is a web page (HTML), not a table"),
        ("a.csv", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is an old Excel file (.xls) or has a password"),
        ("a.xlsx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "is an old Excel file (.xls) or has a password"),
        ("a.xls", b"\xd0\xcf\x11\xe0", "ends in .xls, which is not read"),
        ("a.csv", b"PK\x03\x04" + bytes(90), "is an Excel workbook or a zip file"),
        ("a.csv", b"PAR1" + bytes(90), "is a Parquet file; rename it to end in .parquet"),
        ("a.xlsx", b"x,Betrug\n1,ja\n", "is not an Excel workbook, though its name says so"),
        ("a.xlsx", b"PK\x03\x04" + bytes(90), "is not a readable Excel workbook"),
        ("a.parquet", b"PAR1" + bytes(90), "is not a whole Parquet file"),
        ("a.csv.gz", b"\x1f\x8bnoise", "is a damaged gzip file"),
        ("a.csv", b"\x00\x01\x02" * 300, "it holds bytes that are 0"),
        ("a.json", b"{}", "a table is a file that ends in one of .csv, .csv.gz, .tsv"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, name: str, content: bytes, sentence: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert sentence in refused("fit", path, *FIT, "-o", tmp_path / "m.skops")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("package", "name"), [("pandas", "t.csv"), ("pyarrow", "t.csv"), ("openpyxl", "t.xlsx")])
def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"PK\x03\x04" if name.endswith("xlsx") else b"x,Betrug\n1,ja\n")
    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install 'uneven[data]'" in refused("fit", path, *FIT, "-o", tmp_path / "m.skops")


def small(path: Path, **columns: object) -> Path:
    """A table with 60 rows, a useful column and a target."""
    random = np.random.default_rng(1)
    x = random.normal(size=60)
    y = np.where(x + random.normal(size=60) > 0, "ja", "nein")
    pd.DataFrame({"x": np.round(x, 3), **columns, "Betrug": columns.get("Betrug", y)}).to_csv(path, index=False)
    return path


def test_outputs_are_checked_before_anything_is_read(tmp_path: Path) -> None:
    absent = tmp_path / "absent.csv"
    there_is_no = refused("fit", absent, *FIT, "-o", tmp_path / "folder" / "m.skops")
    assert "there is no folder" in there_is_no
    assert "to write 'm.skops' to; make it first" in there_is_no
    assert "is a folder; give the name of a file" in refused("fit", absent, *FIT, "-o", tmp_path)
    for out in (tmp_path / "folder" / "o.csv", tmp_path / "o.json"):
        assert "absent" not in refused("predict", tmp_path / "absent.skops", absent, "-o", out)
    assert "calibrated for no alpha" in refused("fit", absent, *FIT, "--loss", "perceptron", "-o", tmp_path / "m.skops")


def test_three_values_of_the_target(tmp_path: Path) -> None:
    labels = np.array(["ja", "nein", "nein", "offen", "ja", "nein"] * 10, dtype=object)
    path = small(tmp_path / "t.csv", Betrug=labels)
    said = refused("fit", path, *FIT, "-o", tmp_path / "m.skops")
    assert "column 'Betrug' has 3 different values, 'nein' (30), 'ja' (20), 'offen' (10)" in said
    assert "--others-negative, which takes all but 'ja' as negative" in said
    result, content = fitted(path, "--others-negative")
    assert "60 rows, 20 positive (33.3%)." in result.stdout
    assert content["about"]["negatives"] == ["nein", "offen"]
    assert run("report", path.with_suffix(".skops"), path).exit_code == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("labels", "positive", "kept"),
    [
        ([" ja", "nein "], "ja", "ja"),
        (["1", "0"], "1.0", "1"),
        (["1.0", "0.0"], "1", "1.0"),
        (["TRUE", "FALSE"], "true", "True"),
        (["Ja", "Nein"], "ja", "Ja"),
        (["+", "-"], "+", "+"),
        (["x", ""], "x", None),
        (["01", "1"], "01", "01"),
    ],
)
def test_labels_as_the_file_writes_them(tmp_path: Path, labels: list[str], positive: str, kept: str | None) -> None:
    path = small(tmp_path / "t.csv", Betrug=np.array(labels * 30, dtype=object))
    arguments = ("fit", path, "--target", "Betrug", "--positive", positive, *FIT[4:], "-o", tmp_path / "m.skops")
    if kept is None:
        assert "every row of column 'Betrug' is positive ('x')" in refused(*arguments)
        return
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "30 positive (50.0%)" in result.stdout
    assert read_model(str(tmp_path / "m.skops"))["about"]["positive"] == kept


@pytest.mark.slow
def test_columns_that_are_not_what_they_seem(tmp_path: Path) -> None:
    count = np.arange(60)
    path = small(
        tmp_path / "t.csv",
        **{
            "": count,
            "paid": count * 17 + 4,
            "customerId": count * 17 + 4,
            "code": np.array([f"{k % 3:05d}" for k in count]),
            "text": np.array([f"the customer said on day {k} that all was well with it" for k in count]),
            "card": np.array([f"{4_000_000_000_000_000 + 7 * k}" for k in count]),
            "empty": np.full(60, ""),
            "marks": np.array(["n/a", "-", "?", "#N/A", "NA"] * 12),
            "wide": np.where(count % 9 == 0, "inf", (count % 7).astype(str)),
            "price": np.array([f"({k},234.50)" if k % 2 else f"USD {k % 5 + 1}" for k in count + 1]),
            "dirty": np.where(count == 5, "unbekannt", (count * 37 % 11).astype(str)),
            "us": pd.date_range("2026-01-20", periods=60).strftime("%m/%d/%Y"),
            "open": np.array([f"0{k % 9 + 1}/0{k % 8 + 1}/2026" for k in count]),
            "at": np.array([f"{k % 24:02d}:30" for k in count]),
        },
    )
    result, content = fitted(path, "--drop", "x")
    for sentence in (
        "Column 'column 2' skipped: looks like an ID or a row number (60 different values; --keep uses it).",
        "Column 'customerId' skipped: looks like an ID or a row number (60 different values; --keep uses it).",
        "Column 'text': free text (60 different texts); its words are used.",
        "Column 'card' skipped: looks like an ID (60 different values)",
        "Column 'empty' skipped: it has no values.",
        "Column 'marks' skipped: it has no values.",
        "Column 'wide': 7 values are infinite, treated as missing.",
        "is read as -",
        "Column 'dirty': 'unbekannt' is not a number, treated as missing.",
        "Column 'us': '01/20/2026' is read as 2026-01-20; used as days since 2026-01-20, month, day of week.",
        "Column 'open': day or month first? The month is taken to be; --dates decides otherwise.",
        "Column 'open': '01/01/2026' is read as 2026-01-01;",
        "Column 'at': '00:30' is read as 00:30:00; used as time of day, hour.",
    ):
        assert sentence in result.stdout, result.stdout
    roles = {column["name"]: column["role"] for column in content["about"]["columns"]}
    assert roles == {
        "paid": "number",
        "code": "category",
        "text": "text",
        "wide": "number",
        "price": "number",
        "dirty": "number",
        "us": "date",
        "open": "date",
        "at": "date",
    }
    again, content = fitted(path, "--keep", "column 2", "--dates", "day-first", "--id", "card")
    assert "day or month first" not in again.stdout
    assert "column 2" in {column["name"] for column in content["about"]["columns"]}
    assert list(predictions(path.with_suffix(".skops"), path).columns)[:2] == ["card", "prediction"]
    assert "there is no column 'cart' (did you mean 'card'?)" in refused(
        "fit", path, *FIT, "--drop", "cart", "-o", tmp_path / "n.skops"
    )


def test_every_type_of_parquet(tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    count = np.arange(60)
    frame = pd.DataFrame(
        {
            "whole": pd.array(np.where(count % 7 == 0, None, count % 5), dtype="Int64"),
            "truth": pd.array(np.where(count % 11 == 0, None, count % 2 == 0), dtype="boolean"),
            "exact": [Decimal(f"{k % 13}.50") for k in count],
            "kind": pd.Categorical(random.choice(["a", "b"], 60)),
            "took": pd.to_timedelta(random.integers(1, 9, 60), unit="min"),
            "zone": pd.date_range("2026-01-01", periods=60, freq="31h", tz="Europe/Vienna"),
            "day": [date(2026, 1 + k % 9, 3) for k in count],
            "parts": [[k, k + 1] for k in count],
            "Betrug": pd.Categorical.from_codes(random.integers(0, 2, 60), categories=["ja", "nein"]),
        },
        index=pd.Index(count, name="row"),
    )
    path = tmp_path / "types.parquet"
    frame.to_parquet(path)
    result, content = fitted(path)
    assert "Column 'parts' skipped: it holds lists or other nested values." in result.stdout
    assert "Column 'row' skipped: looks like an ID or a row number" in result.stdout
    assert {column["name"]: column["role"] for column in content["about"]["columns"]} == {
        "whole": "number",
        "truth": "number",
        "exact": "number",
        "kind": "category",
        "took": "number",
        "zone": "date",
        "day": "date",
    }
    text = tmp_path / "types.csv"
    frame.assign(took=frame["took"].dt.total_seconds()).to_csv(text)
    scores = predictions(path.with_suffix(".skops"), path)["score"]
    assert np.allclose(predictions(path.with_suffix(".skops"), text)["score"], scores)
    frame.assign(whole=frame["whole"].astype(float)).to_parquet(path)
    assert np.allclose(predictions(path.with_suffix(".skops"), path)["score"], scores)


def test_columns_that_know_the_target_are_named_before_the_fit(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    rows = 400
    bad = random.uniform(size=rows) < 0.2
    near = bad.copy()
    near[7] = ~near[7]
    path = tmp_path / "leaks.csv"
    pd.DataFrame(
        {
            "x": random.normal(size=rows).round(2) + bad,
            "word": np.where(bad, random.choice(["chargeback", "stolen"], rows), "fine"),
            "number of letters": np.where(bad, random.integers(5, 9, rows), random.integers(0, 4, rows)),
            "closed": np.where(bad, "2026-03-01", "2025-03-01"),
            "near": np.where(near, "a", "b"),
            "refund": np.where(bad & (random.uniform(size=rows) < 0.5), random.integers(1, 99, rows).astype(str), ""),
            "Betrug": np.where(bad, "ja", "nein"),
        }
    ).to_csv(path, index=False)
    result, _ = fitted(path)
    for sentence in (
        "WARNING: column 'word' alone predicts the target perfectly. If it is not known when you decide, leave it out: "
        "--drop word\n",
        "WARNING: column 'number of letters' alone predicts the target perfectly.",
        '--drop "number of letters"\n',
        "WARNING: column 'closed' alone predicts the target perfectly.",
        "--drop closed\n",
        "WARNING: column 'near' alone predicts the target almost perfectly",
        "WARNING: column 'refund' is filled in almost only for positive rows",
    ):
        assert sentence in result.stdout, result.stdout
    assert result.stdout.count("WARNING") == 5
    assert result.output.index("WARNING") < result.output.index("fitting uneven linear to all rows")
    options = [word for name in ("word", "number of letters", "closed", "near", "refund") for word in ("--drop", name)]
    assert "WARNING" not in fitted(path, *options)[0].stdout


def test_a_wrong_value_is_named_at_predict(tmp_path: Path) -> None:
    dates = pd.date_range("2026-01-01", periods=60).strftime("%Y-%m-%d").to_numpy()
    path = small(tmp_path / "t.csv", when=dates, word=np.array(["a", "b", "c"] * 20))
    fitted(path)
    model, frame = path.with_suffix(".skops"), pd.read_csv(path)

    def changed(column: str, value: str) -> Path:
        odd = frame.astype(object)
        odd.loc[16, column] = value
        odd.loc[3, "Betrug"] = None
        odd.to_csv(tmp_path / "odd.csv", index=False)
        return tmp_path / "odd.csv"

    for command in (("predict", "-o", tmp_path / "o.csv"), ("report",)):
        said = refused(command[0], model, changed("x", "zwölf"), *command[1:])
        assert "odd.csv: column 'x', row 17 below the header: 'zwölf' is not a number; correct it or leave it" in said
        said = refused(command[0], model, changed("when", "gestern"), *command[1:])
        assert "odd.csv: column 'when', row 17 below the header: 'gestern' is not a date" in said
    assert not (tmp_path / "o.csv").exists()
    result = run("predict", model, changed("word", "zzz"), "-o", tmp_path / "o.csv")
    assert result.exit_code == 0
    assert "Column 'word': 1 row has a value that was rare or absent in training." in result.stdout
    renamed = tmp_path / "renamed.csv"
    frame.rename(columns={"when": "When"}).to_csv(renamed, index=False)
    said = refused("predict", model, renamed, "-o", tmp_path / "p.csv")
    assert "there is no column 'when' (did you mean 'When'?), which the model expects; it has 'x', 'When'" in said


def test_a_table_too_large_for_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = small(tmp_path / "t.csv")
    monkeypatch.setattr("uneven.app.files.table_columns.usable_memory", lambda: 1000)
    said = refused("fit", path, *FIT, "-o", tmp_path / "m.skops")
    assert "60 rows become a matrix of 1 columns, and a fit would need about 0.0 GB of memory" in said
    monkeypatch.setattr("uneven.app.files.file_kinds.usable_memory", lambda: 1000)
    assert "too much for the memory of this machine" in refused("fit", path, *FIT, "-o", tmp_path / "m.skops")


def test_many_categories_stay_sparse_and_few(tmp_path: Path) -> None:
    random = np.random.default_rng(4)
    rows = 4000
    path = tmp_path / "wide.csv"
    shops = random.zipf(1.3, (rows, 12)).clip(0, 3000)
    frame = pd.DataFrame({f"shop {k}": np.char.add("s", shops[:, k].astype(str)) for k in range(12)})
    frame["Betrug"] = np.where(random.uniform(size=rows) < 0.2 + 0.5 * (shops[:, 0] == 1), "ja", "nein")
    frame.to_csv(path, index=False)
    result, content = fitted(path)
    steps = content["pipeline"][0]
    assert steps.blocks_.sparse_output_
    encoder = steps.blocks_.named_transformers_["categories"]
    assert all(20 < len(kept) < 100 for kept in encoder.categories_)
    assert all(encoder.other_)
    scores = predictions(path.with_suffix(".skops"), path)["score"]
    assert scores[shops[:, 0] == 1].mean() > scores[shops[:, 0] != 1].mean() + 1
    names = steps.get_feature_names_out()
    assert f"The model sees {len(names):,} columns made from 12 of the table." in result.stdout
    assert "shop 0 = other" in names
