"""The data of the demonstration: Wisconsin breast cancer, bundled with scikit-learn."""

from __future__ import annotations

from uneven.cli.decisions.answers import RULES, better_constant
from uneven.cli.decisions.candidates import ALTERNATIVES
from uneven.cli.decisions.fitting import Training
from uneven.cli.decisions.given_costs import GivenCosts
from uneven.cli.decisions.wish import Wish
from uneven.costs import RowCosts
from uneven.learners.frames.columns import NUMBER, Column
from uneven.metrics import CostEstimate

FP_COST, FN_COST = 1, 20


def patients(wish: Wish) -> Training:
    """All patients; a malignant tumour is positive."""
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer(as_frame=True)
    given = GivenCosts(str(FP_COST), str(FN_COST))
    costs = RowCosts.read(len(data.data), fp_cost=FP_COST, fn_cost=FN_COST)
    columns = [Column(name, NUMBER) for name in data.data.columns]
    return Training(wish, given, costs, columns, data.data.astype(float), (data.target == 0).to_numpy())


def result_in_words(rows: list[CostEstimate]) -> str:
    """What happened to the patients, in people; the first row is the model that was chosen."""
    ours, rule = rows[0], better_constant(rows)
    plain = next(row for row in rows if row.name == "plain logistic regression")
    simple = ours.name in ALTERNATIVES and ours is not plain
    kind = f"{ours.name} logistic regression" if simple else ours.name
    said = (
        f"Every patient was judged by a model that was fitted without that patient. The cheapest model, {kind}, "
        f"missed {ours.false_negatives:.0f} of 212 tumours and raised {ours.false_positives:.0f} false alarms among "
        f"357 others: a cost of {569 * ours.cost:.0f}."
    )
    if plain is not ours:
        said += (
            f" Plain logistic regression, which ignores the costs, missed {plain.false_negatives:.0f}: a cost of "
            f"{569 * plain.cost:.0f}."
        )
    return f"{said} {RULES[rule.name].capitalize()} costs {569 * rule.cost:.0f}."
