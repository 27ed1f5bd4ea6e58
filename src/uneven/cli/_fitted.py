"""What a fitted pipeline says about itself."""

from __future__ import annotations

from typing import Any

from uneven.cli.decisions.ensembles import is_ensemble, left_out_in_words, shift_in_words
from uneven.cli.decisions.logistic_rules import LogisticRule
from uneven.decisions.alpha import DECIDE

_LOGISTIC = {
    "plain": "Logistic regression; it flags a row where its probability is above 0.5, whatever the costs.",
    "weighted": "Logistic regression; the positives are weighted by the ratio of the costs.",
    "moved": "Logistic regression; its threshold is moved to the costs.",
}


def model_in_words(pipeline: Any) -> list[str]:
    """What the model is: what was tuned, and what is known of its loss or of its threshold."""
    last = pipeline[-1]
    if isinstance(last, LogisticRule):
        return [_LOGISTIC[last.way]]
    if is_ensemble(last):
        return [*left_out_in_words(last), *shift_in_words(last)]
    found = []
    if hasattr(last, "best_params_"):
        found.append(f"Tuned: {_parameters_in_words(last.best_params_)}.")
    way = getattr(last, "row_costs_", None)
    if way is not None:
        chosen = "decide each row by its own costs" if way == DECIDE else "learn with the costs of the rows"
        found.append(f"Of the two ways to use costs of rows the cheaper one is to {chosen}.")
    learner = getattr(last, "best_estimator_", getattr(last, "learner_", last))
    return [*found, f"The loss is {learner.loss_!r}: {learner.analysis_.verdict}."]


def _parameters_in_words(parameters: dict[str, Any]) -> str:
    shown = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in parameters.values())
    return ", ".join(f"{key} = {value}" for key, value in zip(parameters, shown, strict=True))
