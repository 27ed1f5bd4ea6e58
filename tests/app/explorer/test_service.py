"""The server: who is answered, with which limits, and what it says to the browser."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
import openpyxl
import pytest
from starlette.testclient import TestClient

from uneven.app.explorer import service
from uneven.app.explorer import service as application
from uneven.app.explorer.given_table import MOST_TABLE, GivenTable
from uneven.app.explorer.server import leaves_machine, names_this_server
from uneven.app.explorer.service import MOST_QUESTION, POLICY
from uneven.app.explorer.workers import Busy

HERE = "http://127.0.0.1:8765"
QUESTION = {"kind": "phi", "phi": "hinge", "gamma": "2", "beta": None, "fp": "1", "fn": "20"}


@pytest.fixture(scope="module")
def client() -> Iterator[TestClient]:
    with TestClient(application.application("127.0.0.1", 8765), base_url=HERE) as made:
        yield made


def test_the_page_loads_only_what_is_served(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/html")
    links = re.findall(r'(?:src|href)="([^"#]+)"', page.text)
    assert links
    assert all(link.startswith("/static/") for link in links)
    seen = set()
    while links:
        link = links.pop()
        if link in seen:
            continue
        seen.add(link)
        found = client.get(link)
        assert found.status_code == 200, link
        if link.endswith("plotly.min.js"):
            continue
        assert "//" not in re.sub(r"(?m)^\s*//.*$|\s// .*$|http://www\.w3\.org/\S*", "", found.text), link
        links += re.findall(r'from "(/static/[^"]+)"', found.text)
    assert "/static/plotly.min.js" in seen
    assert "/static/loss_pictures.js" in seen
    assert "<script>" not in page.text
    assert not re.search(r"\son\w+=|\sstyle=", page.text)


def test_every_answer_has_the_policy(client: TestClient) -> None:
    for reply in (
        client.get("/"),
        client.get("/nothing"),
        client.post("/api/verdict", json=QUESTION),
        client.get("/api/fit"),
    ):
        assert reply.headers["content-security-policy"] == POLICY
        assert reply.headers["x-content-type-options"] == "nosniff"
        assert reply.headers["cross-origin-resource-policy"] == "same-origin"
        assert reply.headers["x-frame-options"] == "DENY"
    scripts = next(part for part in POLICY.split("; ") if part.startswith("script-src"))
    assert scripts == "script-src 'self'"
    assert "default-src 'none'" in POLICY
    assert "http" not in POLICY


@pytest.mark.parametrize(
    "host",
    ["evil.example:8765", "127.0.0.1", "127.0.0.1:80", "localhost:8766", "127.0.0.1.evil.example:8765", "8.8.8.8:8765"],
)
def test_other_hosts_are_refused(client: TestClient, host: str) -> None:
    for path in ("/", "/api/verdict"):
        reply = client.get(path, headers={"host": host})
        assert reply.status_code == 421
        assert "own address" in reply.json()["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
        {"origin": "https://127.0.0.1:8765"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ],
)
def test_other_sites_are_refused(client: TestClient, headers: dict[str, str]) -> None:
    reply = client.post("/api/verdict", json=QUESTION, headers=headers)
    assert reply.status_code == 403
    assert "another site" in reply.json()["error"]
    assert client.get("/", headers=headers).status_code == 200  # a link from elsewhere may lead here


def test_our_own_page_is_answered(client: TestClient) -> None:
    for headers in ({}, {"origin": HERE}, {"origin": HERE, "sec-fetch-site": "same-origin"}):
        assert client.post("/api/verdict", json=QUESTION, headers=headers).json()["status"] == "calibrated"
    other = client.post(
        "/api/verdict", json=QUESTION, headers={"host": "localhost:8765", "origin": "http://localhost:8765"}
    )
    assert other.status_code == 200
    assert other.headers["cache-control"] == "no-store"


def test_which_hosts_are_this_machine() -> None:
    assert names_this_server("[::1]:8765", "::1", 8765)
    assert names_this_server("192.168.1.7:8765", "0.0.0.0", 8765)
    assert names_this_server("box.local:8765", "box.local", 8765)
    assert not names_this_server("evil.example:8765", "0.0.0.0", 8765)
    assert not names_this_server("192.168.1.7:8765", "127.0.0.1", 8765)
    assert [leaves_machine(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "box.local")] == [
        False
    ] * 3 + [True] * 2


@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        (b"{", "application/json", 400, "not JSON"),
        (b"[" * 60_000, "application/json", 400, "not JSON"),
        (b"[]", "application/json", 400, "JSON object"),
        (b"{}", "text/plain", 415, "application/json"),
        (b'{"kind": "phi"}', "application/json", 400, "must be a text"),
        (b" " * (MOST_QUESTION + 1), "application/json", 413, "larger than 64 KB"),
    ],
)
def test_bad_bodies(client: TestClient, body: bytes, kind: str, status: int, words: str) -> None:
    reply = client.post("/api/curves", content=body, headers={"content-type": kind})
    assert reply.status_code == status
    assert words in reply.json()["error"]


def test_a_body_that_hides_its_size(client: TestClient) -> None:
    reply = client.post(
        "/api/curves", content=(b" " * 1000 for _ in range(100)), headers={"content-type": "application/json"}
    )
    assert reply.status_code == 413


def test_wrong_paths_and_methods(client: TestClient) -> None:
    for path in (
        "/static/",
        "/static/../guard.py",
        "/static/%2e%2e/__init__.py",
        "/etc/passwd",
        "/api/",
        "/api/nothing",
    ):
        assert client.get(path).status_code == 404
    assert client.get("/api/curves").status_code == 405
    assert client.post("/").status_code == 405


def test_hostile_text_comes_back_as_data(client: TestClient) -> None:
    reply = client.post("/api/curves", json={**QUESTION, "kind": "own", "text": "<script>alert(1)</script>"})
    assert reply.status_code == 400
    assert reply.headers["content-type"] == "application/json"
    assert (reply.json()["field"], reply.json()["column"]) == ("text", 1)


def test_too_much_at_once(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(*_: Any) -> None:
        raise Busy

    with monkeypatch.context() as patch:
        patch.setattr("uneven.app.explorer.workers.Pool.submit", busy)
        reply = client.post("/api/curves", json=QUESTION)
        assert reply.status_code == 503
        assert reply.headers["retry-after"] == "1"
        assert "try again" in reply.json()["error"]
    monkeypatch.setattr(service, "MOST_REQUESTS", 0)
    assert client.get("/").status_code == 503


def upload(client: TestClient, path: str, content: bytes, **question: Any) -> Any:
    headers = {"content-type": "application/octet-stream", "x-question": quote(json.dumps(question))}
    return client.post(path, content=content, headers=headers)


def test_a_table_from_upload_to_threshold(client: TestClient) -> None:
    whole = client.post("/api/example", json={}).content
    assert whole.count(b"\n") == 570
    lines = [line.split(b",") for line in whole.splitlines()[:151]]  # fewer rows and columns: quicker
    content = b"\n".join(b",".join([*line[:4], line[-1]]) for line in lines)
    table = upload(client, "/api/table", content, name="tümours, <b>.csv").json()
    assert table["rows"] == 150
    assert table["targets"][-1]["name"] == "diagnosis"
    positives = next(one["rows"] for one in table["targets"][-1]["values"] if one["value"] == "malignant")
    asked = {"name": "a.csv", "target": "diagnosis", "positive": "malignant", "fp": "1", "fn": "20", "seconds": "60"}
    reply = upload(client, "/api/fit", content, **asked, members="quick", unit=" EUR ")
    *parts, last = [json.loads(line) for line in reply.text.splitlines()]
    shares = [part["share"] for part in parts if "share" in part]
    assert shares == sorted(shares)
    assert len(shares) > 10
    assert any("gamma_path" in part for part in parts)
    assert last["positives"] == positives
    threshold = last["threshold"]
    per_row = [(20 * miss + alarm) / 150 for miss, alarm in zip(threshold["misses"], threshold["alarms"], strict=True)]
    assert per_row[0] == pytest.approx(last["everyone"])
    assert per_row[-1] == pytest.approx(last["no_one"])
    assert threshold["at"] == sorted(threshold["at"])
    assert last["cost"]["cost"] < last["everyone"]
    limits, above = last["limits"], np.array(threshold["at"]) <= threshold["chosen"]
    k = int(above.sum()) - 1
    assert limits["cost"][limits["capacity"].index(limits["flags"])] == pytest.approx(1000 * per_row[k], rel=1e-5)
    assert limits["flags"] == positives - threshold["misses"][k] + threshold["alarms"][k]
    assert last["unit"] == "EUR"
    assert last["sentence"].count(" EUR") == 2


def leaking_table() -> bytes:
    """A useful column, and one that gives the target away."""
    random = np.random.default_rng(0)
    x = random.normal(size=160)
    positive = x + random.normal(size=160) > 0.5
    rows = [f"{a:.3f},{3.5 if p else 0},{'yes' if p else 'no'}" for a, p in zip(x, positive, strict=True)]
    return "\n".join(["x,refund paid,fraud", *rows]).encode()


def test_a_column_that_gives_the_target_away_is_said_first(client: TestClient) -> None:
    content = leaking_table()
    asked = {"name": "a.csv", "target": "fraud", "positive": "yes", "fp": "1", "fn": "5", "seconds": "60"}
    assert upload(client, "/api/table", content, name="a.csv").json()["columns"] == ["x", "refund paid", "fraud"]
    reply = upload(client, "/api/fit", content, **asked, members="quick")
    *parts, last = [json.loads(line) for line in reply.text.splitlines()]
    leaks = [{"column": "refund paid", "words": "alone predicts the target perfectly"}]
    warning = "Too good to be true? Column 'refund paid' alone predicts the target perfectly."
    told = next(k for k, part in enumerate(parts) if "leaks" in part)
    assert told < next(k for k, part in enumerate(parts) if "gamma_path" in part)  # before anything is fitted
    for part in (parts[told], last):
        assert (part["leaks"], part["warning"]) == (leaks, warning)
    reply = upload(client, "/api/fit", content, **asked, members="quick", leave_out=["refund paid"])
    *parts, without = [json.loads(line) for line in reply.text.splitlines()]
    assert (without["leaks"], without["warning"]) == ([], "")
    assert without["cost"]["cost"] > last["cost"]["cost"]
    assert "Left out at your wish: 'refund paid'." in next(part for part in parts if "about" in part)["about"]


@pytest.mark.parametrize(
    ("content", "question", "field", "words"),
    [
        (b"", {"name": "a.csv"}, "file", "is empty"),
        (b"a,b\n1,2\n", {"name": "a.xlsx"}, "file", "not an Excel workbook"),
        (b"PK\x03\x04....", {"name": "a.xlsx"}, "file", "not a readable Excel workbook"),
        (b"PAR1", {"name": "a.parquet"}, "file", "also reads Parquet"),
        (b"PK\x03\x04....", {"name": "a.csv"}, "file", "Excel workbook or a zip"),
        (b"\x1f\x8b\x08\x00\x00\x00", {"name": "a.csv"}, "file", "not a text file"),
        (b"<html><script>alert(1)</script>", {"name": "a.csv"}, "file", "web page"),
        (b"a,b\n1,2\n1,2,3\n", {"name": "a.csv"}, "file", "line 3"),
        (b"a,b\n1,x\n2,x\n", {"name": "a.csv"}, None, None),
        (b"a\n1\n1\n", {"name": "a.csv"}, "target", "between 2 and 20"),
    ],
)
def test_awkward_tables(
    client: TestClient, content: bytes, question: Any, field: str | None, words: str | None
) -> None:
    reply = upload(client, "/api/table", content, **question)
    if words is None:
        assert reply.status_code == 200
        return
    assert reply.status_code == 400
    assert reply.json()["field"] == field
    assert words in reply.json()["error"]


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"fp": "0"}, "fp", "positive"),
        ({"fn": ""}, "fn", "missing"),
        ({"seconds": "1e9"}, "seconds", "at most 1,200"),
        ({"members": "none"}, "members", "must be one of"),
        ({"target": "c"}, "target", "no column 'c'"),
        ({"positive": "z"}, "target", "no row of column"),
        ({"unit": "x" * 21}, "unit", "a short word"),
        ({"leave_out": "a"}, "columns", "must be a list"),
        ({"leave_out": [1]}, "columns", "must be a list"),
        ({}, "target", "at least 10 rows"),
    ],
)
def test_awkward_fits(client: TestClient, change: dict[str, str], field: str, words: str) -> None:
    asked = {"name": "a.csv", "target": "b", "positive": "x", "fp": "1", "fn": "2", "seconds": "9", "members": "quick"}
    reply = upload(client, "/api/fit", b"a,b\n1,x\n2,y\n", **{**asked, **change})
    last = json.loads(reply.text.splitlines()[-1])
    assert last["field"] == field
    assert words in last["error"]


@pytest.mark.parametrize(
    ("leave_out", "words"),
    [(["z"], "there is no column 'z'"), (["a"], "for prediction: all are left out")],
)
def test_awkward_choices_of_columns(client: TestClient, leave_out: list[str], words: str) -> None:
    asked = {"name": "a.csv", "target": "b", "positive": "x", "fp": "1", "fn": "2", "seconds": "9", "members": "quick"}
    reply = upload(client, "/api/fit", b"a,b\n" + b"1,x\n2,y\n" * 20, **asked, leave_out=leave_out)
    last = json.loads(reply.text.splitlines()[-1])
    assert last["field"] == "columns"
    assert words in last["error"]


def workbook(**sheets: list[list[Any]]) -> bytes:
    book, buffer = openpyxl.Workbook(), io.BytesIO()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    book.save(buffer)
    return buffer.getvalue()


def test_a_workbook_shows_its_sheets(client: TestClient) -> None:
    content = workbook(notes=[], first=[["a", "b"], [1, "x"], [2, "y"]], second=[["c", "d"], [3, "u"], [4, "v"]])
    found = upload(client, "/api/table", content, name="book.xlsx").json()
    assert (found["sheets"], found["sheet"], found["columns"]) == (["first", "second"], "first", ["a", "b"])
    found = upload(client, "/api/table", content, name="book.xlsx", sheet="second").json()
    assert (found["sheet"], found["columns"]) == ("second", ["c", "d"])
    refused = upload(client, "/api/table", content, name="book.xlsx", sheet="../x").json()
    assert (refused["field"], "no sheet" in refused["error"]) == ("file", True)


def test_a_workbook_that_would_fill_the_memory_is_refused(client: TestClient) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (40 * 2**20))
    refused = upload(client, "/api/table", buffer.getvalue(), name="bomb.xlsx").json()
    assert "made to fill the memory" in refused["error"]


def test_only_the_table_of_the_command_is_given_and_only_to_the_page(client: TestClient) -> None:
    assert client.post("/api/given", json={}).status_code == 204
    table = GivenTable("tümours.csv", b"a,b\n1,x\n", {"target": "b", "fp": "1"})
    with TestClient(application.application("127.0.0.1", 8765, table), base_url=HERE) as other:
        reply = other.post("/api/given", json={"name": "/etc/passwd", "path": "/etc/passwd"})
        assert reply.content == table.content
        assert json.loads(unquote(reply.headers["x-question"])) == {"target": "b", "fp": "1", "name": "tümours.csv"}
        assert reply.headers["cache-control"] == "no-store"
        assert other.get("/api/given").status_code == 405
        for headers in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
            assert other.post("/api/given", json={}, headers=headers).status_code == 403
        plain = {"content-type": "text/plain"}  # what a page of another site may send without asking
        assert other.post("/api/given", content=b"{}", headers=plain).status_code == 415


def test_uploads_have_their_form(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.post("/api/table", content=b"a", headers={"content-type": "text/csv"}).status_code == 415
    wrong = {"content-type": "application/octet-stream", "x-question": "[1]"}
    assert client.post("/api/table", content=b"a", headers=wrong).status_code == 400
    right = {**wrong, "x-question": "%7B%7D", "content-length": str(MOST_TABLE + 1)}
    reply = client.post("/api/table", content=b"a", headers=right)
    assert reply.status_code == 413
    assert "64 MB" in reply.json()["error"]
