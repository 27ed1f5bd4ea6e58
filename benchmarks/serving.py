"""Time of predictions, one row at a time and a million at once, against what a model cannot do without; and over HTTP.

    python benchmarks/serving.py [--case linear ensemble million http] [--seconds 3]

``linear``: UnevenLinearClassifier and LogisticRegression; one row of 30 columns, as an array and as a data frame.
``ensemble``: an ensemble, and the sum of what its members take, each with the part of the ensemble that it needs:
``members`` is the sum of ``predict_proba`` of ``members_`` (each reads X by itself), ``models`` that of the models
alone on a matrix that was made before, plus making each matrix once.
``million``: 1e6 rows of 20 columns, with one thread.
``http``: examples/serve_decisions.py in a process of its own, one client, one connection: 50 and 99 % of the answers
came within so many milliseconds.

A ratio is our time divided by the other: below 1, ours is faster. Medians of works done in turn; in brackets the
quickest, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import http.client
import json
import platform
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import uneven
from uneven.tables import FrameEncoder

EXAMPLE = Path(__file__).parent.parent / "examples" / "serve_decisions.py"
MEMBERS = ["linear", "extra_trees", "lightgbm", "forest"]
REPEATED = 20


def in_turn(works: dict[str, Callable[[], Any]], seconds: float, repeated: int) -> dict[str, list[float]]:
    """Times of each work; all are done in turn, so many times at once, until the time is used up."""
    for work in works.values():
        work()
    times: dict[str, list[float]] = {name: [] for name in works}
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or len(next(iter(times.values()))) < 3:
        for name, work in works.items():
            started = time.perf_counter()
            for _ in range(repeated):
                work()
            times[name].append((time.perf_counter() - started) / repeated)
    return times


def show(title: str, ours: list[float], other: list[float], note: str = "") -> None:
    """One line."""
    middle, theirs = statistics.median(ours), statistics.median(other)
    print(
        f"{title:44s} ours {1e3 * middle:9.3f} ms   other {1e3 * theirs:9.3f} ms   ratio {middle / theirs:5.2f} "
        f"[{min(ours) / min(other):5.2f}]{note}",
        flush=True,
    )


def table(rows: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Eight columns of numbers and two of categories."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({f"x{k}": random.normal(size=rows) for k in range(8)})
    X["region"] = random.choice(["north", "south", "east", "west"], rows)
    X["kind"] = random.choice([f"k{k}" for k in range(30)], rows)
    eta = 1 / (1 + np.exp(2 - X["x0"] - X["x1"] * X["x2"] - (X["region"] == "north")))
    return X, (random.random(rows) < eta).astype(int).to_numpy()


def linear(seconds: float) -> None:
    X, y = make_classification(2000, 30, n_informative=10, random_state=0)
    for name, rows in (("array", X), ("data frame", pd.DataFrame(X, columns=[f"x{k}" for k in range(30)]))):
        ours = uneven.UnevenLinearClassifier("logistic", fn_cost=20).fit(rows, y)
        theirs, row = LogisticRegression().fit(rows, y), rows[:1]
        works: dict[str, Callable[[], Any]] = {}
        for method in ("predict", "predict_proba"):
            works[f"ours {method}"] = lambda method=method, ours=ours, row=row: getattr(ours, method)(row)
            works[method] = lambda method=method, theirs=theirs, row=row: getattr(theirs, method)(row)
        works["ours at other costs"] = lambda ours=ours, row=row: ours.predict(row, fn_cost=40)
        times = in_turn(works, seconds, REPEATED)
        for method in ("predict", "predict_proba"):
            show(f"linear, one row, {name}, {method}", times[f"ours {method}"], times[method])
        show(f"linear, one row, {name}, predict(fn_cost=40)", times["ours at other costs"], times["predict"])


def ensemble(seconds: float) -> None:
    frame, y = table(2000)
    for name, X in (("array", frame[[f"x{k}" for k in range(8)]].to_numpy()), ("data frame", frame)):
        model = uneven.UnevenEnsembleClassifier(fn_cost=20, members=MEMBERS, n_jobs=1, cv=3).fit(X, y)
        for count in (1, 100, 2000):
            compare(f"ensemble, {count} rows, {name}", model, X[:count], seconds / 2, max(1, REPEATED // (4 * count)))


def million(seconds: float) -> None:
    X, y = make_classification(1_000_000, 20, n_informative=10, random_state=0)
    ours, theirs = uneven.UnevenLinearClassifier(fn_cost=20).fit(X, y), LogisticRegression().fit(X, y)
    times = in_turn({"ours": lambda: ours.predict(X), "other": lambda: theirs.predict(X)}, seconds, 1)
    show("linear, 1,000,000 rows", times["ours"], times["other"])
    model = uneven.UnevenEnsembleClassifier(fn_cost=20, members=["linear", "lightgbm"], n_jobs=1).fit(
        X[:5000], y[:5000]
    )
    compare("ensemble of 2, 1,000,000 rows", model, X, seconds, 1)


def compare(title: str, model: Any, X: Any, seconds: float, repeated: int) -> None:
    """An ensemble with the sum of its members."""
    mixture = list(model._mixture.members.values())
    encoders = {id(encoder): encoder for member in mixture for encoder in member.encoders}
    matrices = {key: encoder.transform(X) for key, encoder in encoders.items()}
    works: dict[str, Callable[[], Any]] = {"ours": lambda: model.predict(X)}
    for name, (estimator,) in model.members_.items():
        works[f"member {name}"] = lambda estimator=estimator: estimator.predict_proba(X)
    for number, member in enumerate(mixture):
        matrix = matrices[id(member.encoders[0])]
        works[f"model {number}"] = lambda one=member.models[0], matrix=matrix: one.predict_proba(matrix)
    for key, encoder in encoders.items():
        works[f"model matrix {key}"] = lambda encoder=encoder: encoder.transform(X)
    times = in_turn(works, seconds, repeated)
    for what in ("member", "model"):
        parts = [values for name, values in times.items() if name.startswith(f"{what} ")]
        show(f"{title}, {what}s", times["ours"], [sum(one) for one in zip(*parts, strict=True)])


def over_http(seconds: float) -> None:
    sys.path.insert(0, str(EXAMPLE.parent))
    from serve_decisions import save

    X, y = table(2000)
    fit = {"fp_cost": 1, "fn_cost": 20}
    models = {
        "linear": make_pipeline(FrameEncoder("linear"), uneven.UnevenLinearClassifier(**fit)).fit(X, y),
        "ensemble": uneven.UnevenEnsembleClassifier(members=MEMBERS, n_jobs=1, cv=3, **fit).fit(X, y),
    }
    rows = json.loads(X.to_json(orient="records"))
    questions: dict[str, Callable[[int], dict[str, Any]]] = {
        "one row": lambda k: {"rows": [rows[k]]},
        "one row, its own cost": lambda k: {"rows": [rows[k]], "costs": {"fn_cost": [10 + k]}},
        "one row, two reasons": lambda k: {"rows": [rows[k]], "reasons": 2},
        "100 rows": lambda k: {"rows": rows[k : k + 100]},
    }
    for name, model in models.items():
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/model.skops"
            save(model, X, path, **fit)
            size = Path(path).stat().st_size / 1e6
            with Server(path) as server:
                for what, question in questions.items():
                    took = server.latencies(question, seconds)
                    p50, p99 = np.percentile(took, [50, 99])
                    print(
                        f"http, {name} ({size:.1f} MB), {what:24s} p50 {1e3 * p50:7.1f} ms   p99 {1e3 * p99:7.1f} ms   "
                        f"{len(took)} answers",
                        flush=True,
                    )


class Server:
    """The example in a process of its own."""

    def __init__(self, path: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([sys.executable, str(EXAMPLE), path, "--port", str(self.port)])

    def __enter__(self) -> Server:
        for _ in range(300):
            try:
                self.ask("GET", "/health", None, http.client.HTTPConnection("127.0.0.1", self.port))
            except OSError:
                time.sleep(0.2)
            else:
                return self
        raise RuntimeError("the server did not start within a minute")

    def __exit__(self, *error: object) -> None:
        self.process.terminate()
        self.process.wait()

    @staticmethod
    def ask(method: str, path: str, body: str | None, connection: http.client.HTTPConnection) -> Any:
        connection.request(method, path, body, {"content-type": "application/json"})
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise RuntimeError(content.decode())
        return json.loads(content)

    def latencies(self, question: Callable[[int], dict[str, Any]], seconds: float) -> list[float]:
        """Seconds from question to answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.connect()
        assert connection.sock is not None
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        took: list[float] = []
        ends = time.perf_counter() + seconds
        while time.perf_counter() < ends or len(took) < 100:
            body = json.dumps(question(len(took) % 1500))
            started = time.perf_counter()
            self.ask("POST", "/decide", body, connection)
            took.append(time.perf_counter() - started)
        return took[5:]  # without the first, which import and compile


CASES: dict[str, Callable[[float], None]] = {
    "linear": linear,
    "ensemble": ensemble,
    "million": million,
    "http": over_http,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="*", choices=list(CASES), default=list(CASES))
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args()
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
    for case in given.case:
        CASES[case](given.seconds)


if __name__ == "__main__":
    main()
