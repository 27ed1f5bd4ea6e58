"""Money that probabilities say against money that decisions cost, on new rows, by how the average is calibrated.

Two members (linear, histogram) learn from 60 % of each set. The line and the bent line are found on the same
out-of-fold rows. Needs the packages of peers.txt for the data. Run: python benchmarks/probabilities.py [name ...]
"""

from __future__ import annotations

import sys
import warnings

import decisions_data
import numpy as np
from scipy.special import expit
from sklearn.model_selection import train_test_split

import uneven
from uneven.decisions import platt
from uneven.decisions.correction import AS_IT_IS, CorrectedOdds
from uneven.decisions.out_of_fold_rows import OutOfFoldRows

RATIOS = (10.0, 50.0)
#: Rows used of each set.
MOST_ROWS = 50_000


def maps(rows: OutOfFoldRows) -> dict[str, CorrectedOdds]:
    """The candidates."""
    bent, pieces = rows.find_calibration(), platt._MOST_PIECES
    platt._MOST_PIECES = 1
    try:
        return {"none": AS_IT_IS, "line": rows.find_calibration(), "bent": bent}
    finally:
        platt._MOST_PIECES = pieces


def measured(group: str, name: str) -> dict[str, list[float]]:
    """For each candidate the log loss of new rows, and money said and paid for each ratio."""
    problem = decisions_data.load(group, name)
    X, new, y, truth = train_test_split(problem.X, problem.y, test_size=0.4, stratify=problem.y, random_state=0)
    model = uneven.UnevenEnsembleClassifier(
        fn_cost=10, members=["linear", "histogram"], method="none", keep_training_rows=True
    ).fit(X.reset_index(drop=True), y)
    raw, found = model.predict_proba(new.reset_index(drop=True))[:, 1], {}
    for label, odds in maps(model.out_of_fold_rows_).items():
        score = np.clip(odds.log_odds(raw), -745, 745)
        p = expit(score)
        line = [float(np.mean(np.logaddexp(0, score) - truth * score))]
        for ratio in RATIOS:
            flag = p > 1 / (1 + ratio)
            line += [
                float(np.where(flag, 1 - p, ratio * p).sum()),
                float(np.where(flag, 1 - truth, ratio * truth).sum()),
            ]
        found[label] = line
    print(f"| {name} | {problem.y.size:,} |", in_words(found), flush=True)
    return found


def in_words(found: dict[str, list[float]]) -> str:
    """Log loss and said over paid, candidate by candidate."""
    ratios = [" | ".join(f"{line[k] / line[k + 1]:.2f}" for k in (1, 3)) for line in found.values()]
    return " | ".join([*(f"{line[0]:.4f}" for line in found.values()), *ratios]) + " |"


def main(wanted: list[str]) -> None:
    """Print a line for each set, and the totals."""
    warnings.simplefilter("ignore")
    decisions_data.MOST_ROWS.update(dict.fromkeys(decisions_data.MOST_ROWS, MOST_ROWS))
    print("| set | rows | log loss: none | line | bent | none 10:1 | 50:1 | line 10:1 | 50:1 | bent 10:1 | 50:1 |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    total: dict[str, np.ndarray] = {}
    sets = [(group, name) for group, name in decisions_data.names() if name in wanted or not wanted]
    for group, name in sets:
        for label, line in measured(group, name).items():
            total[label] = total.get(label, np.zeros(len(line))) + line
    means = {label: [line[0] / len(sets), *line[1:]] for label, line in total.items()}
    print("| all, in total | |", in_words(means))


if __name__ == "__main__":
    main(sys.argv[1:])
