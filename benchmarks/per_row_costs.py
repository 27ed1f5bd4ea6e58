"""Costs that differ from row to row: ours against empulse and logistic regression, on four sets bundled with empulse.

    pip install empulse xgboost-cpu                        # for this program only: empulse is under the AGPL
    python benchmarks/per_row_costs.py [--folds 5] [--repeats 1] [--sets churn,bank,pakdd,vub]
    python benchmarks/per_row_costs.py --speed             # time of a fit with costs of each row over one with numbers

Every method is fitted and tested on the same stratified folds, with its default parameters. Numbers are scaled, texts
are one-hot encoded (values in less than 0.5 % of the rows share a column), both on the training part. Printed are the
cost per row, the savings against the better constant rule, the difference per row to logistic regression cut at the
row's alpha (95 % interval over rows, paired), and the seconds of all fits.
"""

from __future__ import annotations

import argparse
import platform
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import uneven
from uneven.costs import RowCosts
from uneven.metrics.mean_interval import Cell, CountedRows, mean_interval

#: Rows that UnevenSVC is trained with; its kernel matrix grows with their square.
SVC_ROWS = 4000
REFERENCE = "LR, cut at the row's alpha"
COSTS = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")
Predict = Callable[[Any, dict[str, Any]], np.ndarray]


def load(name: str) -> tuple[Any, np.ndarray, RowCosts]:
    """Features, labels (1 is the event) and the costs of the literature, as empulse documents them."""
    from empulse import datasets

    loader = {
        "churn": datasets.load_churn_tv_subscriptions,
        "bank": datasets.load_upsell_bank_telemarketing,
        "pakdd": datasets.load_credit_scoring_pakdd,
        "vub": datasets.load_vub_credit_scoring,
    }[name]
    data = loader(backend="pandas")
    given = data.instance_costs
    if name == "churn":
        costs = given
    elif name == "bank":  # a contact costs 1; a success earns interest on a quarter of the balance
        earned = np.maximum(1.0, given["balance"] * 0.25 * 0.02463333)
        costs = {"fp_cost": 1.0, "fn_cost": earned, "tp_cost": 1.0, "tn_cost": 0.0}
    else:  # three quarters of the credit line are lost
        costs = {"fp_cost": given["fp_cost"], "fn_cost": 0.75 * given["cl"], "tp_cost": 0.0, "tn_cost": 0.0}
    y = np.asarray(data.target).astype(int)
    return data.data, y, RowCosts.read(y.size, **costs)


def methods(X: Any, y: np.ndarray, costs: RowCosts, seed: int) -> dict[str, Callable[[], Predict]]:
    """Functions that fit and return a predict function, by name."""
    given = {name: getattr(costs, name) for name in COSTS}

    def plain() -> Predict:
        model = LogisticRegression(max_iter=2000).fit(X, y)
        return lambda new, own: RowCosts.read(new.shape[0], **own).prefers_positive(model.predict_proba(new)[:, 1])

    def weighted() -> Predict:
        regrets = costs.regrets(y == 1)
        label = np.where(regrets < 0, 1 - y, y)
        weight = np.abs(regrets) / np.abs(regrets).mean()
        model = LogisticRegression(max_iter=2000).fit(X, label, sample_weight=weight)
        return lambda new, own: model.predict(new)

    def learn(learner: Any) -> Callable[[], Predict]:
        def fitted() -> Predict:
            model = learner.fit(X, y, **given)
            return lambda new, own: model.predict(new)

        return fitted

    def decide() -> Predict:
        model = uneven.UnevenLinearClassifier("logistic").fit(X, y)
        return lambda new, own: model.predict(new, **own)

    def search() -> Predict:
        model = uneven.UnevenClassifierCV("linear", Cs=[0.01, 0.1, 1.0], margin_gammas=[0.5, 1, 2], verbose=False)
        model.fit(X, y, **given)
        return lambda new, own: model.predict(new, **own)

    def kernel() -> Predict:
        few = np.sort(np.random.default_rng(seed).choice(y.size, min(SVC_ROWS, y.size), replace=False))
        part = costs.take(few)
        model = uneven.UnevenSVC().fit(X[few], y[few], **{name: getattr(part, name) for name in COSTS})
        return lambda new, own: model.predict(new)

    return {
        REFERENCE: plain,
        "LR, rows weighted by regret": weighted,
        "uneven logistic, learn": learn(uneven.UnevenLinearClassifier("logistic")),
        "uneven logistic, decide": decide,
        "uneven hinge, learn": learn(uneven.UnevenLinearClassifier("hinge", tol=1e-4)),
        "UnevenClassifierCV": search,
        f"UnevenSVC, learn ({SVC_ROWS} rows)": kernel,
        **empulse_methods(X, y, given),
    }


def empulse_methods(X: Any, y: np.ndarray, given: dict[str, Any]) -> dict[str, Callable[[], Predict]]:
    """CSLogit, CSBoost and CSThreshold as they come."""
    from empulse.models import CSBoostClassifier, CSLogitClassifier, CSThresholdClassifier

    def without_costs(model: Any) -> Callable[[], Predict]:
        def fitted() -> Predict:
            model.fit(X, y, **given)
            return lambda new, own: model.predict(new)

        return fitted

    def threshold() -> Predict:
        model = CSThresholdClassifier(LogisticRegression(max_iter=2000), random_state=0).fit(X, y, **given)
        return lambda new, own: model.predict(new, **own)

    return {
        "empulse CSLogit": without_costs(CSLogitClassifier()),
        "empulse CSBoost": without_costs(CSBoostClassifier()),
        "empulse CSThreshold(LR)": threshold,
    }


def measure(name: str, folds: int, repeats: int) -> None:
    frame, y, costs = load(name)
    paid: dict[str, np.ndarray] = {}
    seconds: dict[str, float] = {}
    failures: dict[str, str] = {}
    split = RepeatedStratifiedKFold(n_splits=folds, n_repeats=repeats, random_state=0)
    for number, (train, test) in enumerate(split.split(frame, y)):
        columns = make_column_transformer(
            (StandardScaler(), make_column_selector(dtype_include=np.number)),
            (
                OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=0.005, sparse_output=False),
                make_column_selector(dtype_exclude=np.number),
            ),
        )
        known, new = columns.fit_transform(frame.iloc[train]), columns.transform(frame.iloc[test])
        own = {name: getattr(costs.take(test), name) for name in COSTS}
        for method, fit in methods(known, y[train], costs.take(train), number).items():
            started = time.perf_counter()
            try:
                predict = fit()
                seconds[method] = seconds.get(method, 0.0) + time.perf_counter() - started
                said = np.asarray(predict(new, own)).astype(int) == 1
            except Exception as error:  # a peer that fails is named
                failures[method] = f"{type(error).__name__}: {str(error)[:100]}"
                continue
            paid.setdefault(method, np.zeros(y.size))[test] += costs.take(test).paid(y[test] == 1, said) / repeats
    everyone = np.ones(y.size, dtype=bool)
    constant = min(float(costs.paid(y == 1, rule).mean()) for rule in (everyone, ~everyone))
    turned = int((costs.regrets(y == 1) < 0).sum())
    print(f"\n{name}: {y.size:,} rows, {y.mean():.1%} positive, better constant rule {constant:.4g} per row, ", end="")
    print(f"{turned:,} rows whose mistake pays, {int((costs.regrets(y == 1) == 0).sum()):,} without regret")
    print("| method | cost per row | savings | difference to the first | s |\n|---|---|---|---|---|")
    for method, values in paid.items():
        difference = values - paid[REFERENCE]
        rows = CountedRows.of(difference)
        interval = mean_interval([Cell(rows, rows)])
        cost, mean = values.mean(), difference.mean()
        print(
            f"| {method} | {cost:.4g} | {1 - cost / constant:.1%} | {mean:+.3g} "
            f"({interval.low:+.3g} to {interval.high:+.3g}) | {seconds[method]:.1f} |",
            flush=True,
        )
    for method, why in failures.items():
        print(f"{method} failed: {why}")


def speed() -> None:
    """The same fit with numbers and with one for each row, which differ by so little that both take the same steps."""
    random = np.random.default_rng(0)
    linear = uneven.UnevenLinearClassifier
    cases = [(linear(loss), n, d) for loss in ("logistic", "squared_hinge") for n, d in ((1000, 20), (20_000, 20))]
    cases += [(linear("logistic"), 500_000, 50), (linear("hinge", tol=1e-4), 1000, 20), (uneven.UnevenSVC(), 1000, 20)]
    for learner, n, d in cases:
        X = random.normal(size=(n, d))
        y = (X[:, 0] + random.logistic(size=n) > 2).astype(int)
        row = {"fp_cost": 1 + 1e-9 * random.random(n), "fn_cost": 10 + 1e-9 * random.random(n)}
        seconds: dict[str, list[float]] = {"numbers": [], "rows": []}
        runs = 40 if n <= 1000 else 15 if n <= 20_000 else 5
        for _ in range(runs):
            for name, costs in (("numbers", {"fp_cost": 1.0, "fn_cost": 10.0}), ("rows", row)):
                started = time.perf_counter()
                learner.fit(X, y, **costs)
                seconds[name].append(time.perf_counter() - started)
        numbers, rows = (float(np.median(seconds[name])) for name in ("numbers", "rows"))
        least = min(seconds["rows"]) / min(seconds["numbers"])
        what = f"{type(learner).__name__} {learner.loss} {n:,} x {d}"
        print(
            f"{what:48s} numbers {1e3 * numbers:8.2f} ms, rows {1e3 * rows:8.2f} ms, ratio {rows / numbers:.2f} "
            f"(of the fastest runs {least:.2f})",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--sets", default="churn,bank,pakdd,vub")
    parser.add_argument("--speed", action="store_true")
    arguments = parser.parse_args()
    if arguments.speed:
        speed()
        return
    import empulse
    import sklearn

    print(f"Python {platform.python_version()}, scikit-learn {sklearn.__version__}, empulse {empulse.__version__}")
    warnings.simplefilter("ignore")
    for name in arguments.sets.split(","):
        measure(name, arguments.folds, arguments.repeats)


if __name__ == "__main__":
    main()
