"""Other libraries on the Parquet files of ``scale.py``: seconds, memory, and how far above the optimum they end.

``python benchmarks/scale_peers.py FOLDER PYTHON`` measures each peer with PYTHON, which needs scikit-learn, pyarrow,
dask-ml, xgboost and vowpalwabbit. All minimise 0.5 |w|^2 plus the sum of the logistic losses. The optimum is that of
our own fit, with its proved gap. A time includes reading the files; that of
Vowpal Wabbit does not include writing them as text.
"""

from __future__ import annotations

import glob
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scale import NAMES, run


def batches(folder: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """One row group after the other."""
    import pyarrow.parquet as pq

    for path in sorted(glob.glob(f"{folder}/*.parquet")):
        file = pq.ParquetFile(path)
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            yield np.column_stack([table.column(name).to_numpy() for name in NAMES]), table.column("y").to_numpy()


def value(folder: str, w: np.ndarray, b: float) -> float:
    """The objective."""
    total = 0.5 * float(w @ w)
    for X, y in batches(folder):
        margins = np.where(y == 1, 1.0, -1.0) * (X.astype(np.float64) @ w + b)
        total += float(np.logaddexp(0, -margins).sum())
    return total


def ours(folder: str) -> tuple[np.ndarray, float]:
    import uneven

    model = uneven.UnevenLinearClassifier().fit(f"{folder}/*.parquet", target="y")
    return model.coef_.ravel(), float(model.intercept_[0])


def sgd(folder: str, reads: int) -> tuple[np.ndarray, float]:
    model = _sgd(folder)
    for _ in range(reads):
        for X, y in batches(folder):
            model.partial_fit(X, y, classes=[0, 1])
    return model.coef_.ravel(), float(model.intercept_[0])


def sgd_to(folder: str, above: float, best: float) -> tuple[np.ndarray, float]:
    """Row groups until the objective is at most so much above the optimum; finding that out is not timed."""
    model, used = _sgd(folder), 0
    for _ in range(50):
        for X, y in batches(folder):
            model.partial_fit(X, y, classes=[0, 1])
            used += len(y)
            found = model.coef_.ravel(), float(model.intercept_[0])
            began = time.perf_counter()
            reached = value(folder, *found) <= best * (1 + above)
            NOT_TIMED.append(time.perf_counter() - began)
            if reached:
                print(f"rows used: {used}", file=sys.stderr)
                return found
    return found


#: Seconds that do not count.
NOT_TIMED: list[float] = []


def _sgd(folder: str) -> Any:
    from sklearn.linear_model import SGDClassifier

    rows = sum(len(y) for _, y in batches(folder))
    # The default rate is far too large for so small an alpha; this one was the best of a few that were tried.
    settings = {"learning_rate": "constant", "eta0": 1e-2, "average": True}
    return SGDClassifier(loss="log_loss", alpha=1 / rows, random_state=0, **settings)


def vowpal_wabbit(folder: str) -> tuple[np.ndarray, float]:
    """Its L-BFGS. Numbers as names of features are their places, and all rows are used only with --holdout_off."""
    import vowpalwabbit

    began = time.perf_counter()
    path = f"{tempfile.mkdtemp()}/rows.txt"
    with open(path, "w", encoding="ascii") as file:
        for X, y in batches(folder):
            line = "%d | " + " ".join(f"{j}:%.7g" for j in range(X.shape[1])) + "\n"
            rows = np.column_stack([np.where(y == 1, 1, -1), X]).tolist()
            file.write("".join([line % tuple(row) for row in rows]))
    NOT_TIMED.append(time.perf_counter() - began)
    options = "--loss_function logistic --bfgs --passes 30 --holdout_off --l2 1e-9 -b 18 --quiet"
    model = vowpalwabbit.Workspace(f"-d {path} --cache_file {path}.cache {options}")
    constant = 11650396 & (2**18 - 1)  # the place of the intercept
    return np.array([model.get_weight(j) for j in range(len(NAMES))]), float(model.get_weight(constant))


def dask_ml(folder: str) -> tuple[np.ndarray, float]:
    import dask.dataframe as dd
    from dask_ml.linear_model import LogisticRegression

    table = dd.read_parquet(f"{folder}/*.parquet")
    X, y = table[NAMES].to_dask_array(lengths=True), table["y"].to_dask_array(lengths=True)
    model = LogisticRegression(C=1.0, solver="lbfgs", max_iter=100).fit(X, y)
    return np.ravel(model.coef_).astype(float), float(np.ravel(model.intercept_)[0])


def xgboost(folder: str) -> tuple[np.ndarray, float]:
    import xgboost as xgb

    class Files(xgb.DataIter):
        def __init__(self) -> None:
            super().__init__(cache_prefix=f"{tempfile.mkdtemp()}/cache")
            self.items = batches(folder)

        def next(self, input_data: Any) -> bool:
            found = next(self.items, None)
            if found is not None:
                input_data(data=found[0], label=found[1])
            return found is not None

        def reset(self) -> None:
            self.items = batches(folder)

    # Its penalty counts once for each row.
    parameters = {"booster": "gblinear", "objective": "binary:logistic", "reg_lambda": 1e-6, "eta": 0.5}
    booster = xgb.train({**parameters, "updater": "coord_descent", "base_score": 0.5}, xgb.DMatrix(Files()), 30)
    lines = [float(x) for x in booster.get_dump()[0].split() if x not in ("bias:", "weight:")]
    return np.array(lines[1:]), lines[0]


PEERS: dict[str, Callable[[str], tuple[np.ndarray, float]]] = {
    "uneven": ours,
    "scikit-learn SGD, 1 read": lambda folder: sgd(folder, 1),
    "scikit-learn SGD, to 1e-3": lambda folder: sgd_to(folder, 1e-3, float(sys.argv[4])),
    "scikit-learn SGD, 20 reads": lambda folder: sgd(folder, 20),
    "dask-ml lbfgs": dask_ml,
    "Vowpal Wabbit, bfgs": vowpal_wabbit,
    "xgboost gblinear": xgboost,
}


def main() -> None:
    if sys.argv[1] == "--one":
        began = time.perf_counter()
        w, b = PEERS[sys.argv[3]](sys.argv[2])
        seconds = time.perf_counter() - began - sum(NOT_TIMED)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps({"seconds": seconds, "memory": memory, "value": value(sys.argv[2], w, b)}))
        return
    folder, python = sys.argv[1], sys.argv[2]
    best = None
    for name in PEERS:
        mine = name == "uneven"
        found = run(["--one", folder, name, str(best)], sys.executable if mine else python, __file__, 60)
        if mine:
            run(["--one", folder, name], sys.executable, __file__)
            found = run(["--one", folder, name], sys.executable, __file__)
            best = found["value"]
        if "failed" in found:
            print(f"{name:28s} {found['failed']}")
            continue
        above = max(found["value"] / best - 1, 0.0) if best else float("nan")
        print(
            f"{name:28s} {found['seconds']:8.2f} s {found['memory']:6.0f} MB {above:9.1e} above the optimum", flush=True
        )


if __name__ == "__main__":
    main()
