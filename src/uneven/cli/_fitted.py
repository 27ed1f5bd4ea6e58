"""What a fitted pipeline says about itself."""

from __future__ import annotations

from typing import Any


def fitted_learner(pipeline: Any) -> Any:
    """The learner at the end of a pipeline; after tuning, the one that was chosen."""
    last = pipeline[-1]
    return getattr(last, "best_estimator_", getattr(last, "learner_", last))


def loss_in_words(pipeline: Any) -> str:
    """The loss of the classifier, and whether it is right for the costs."""
    learner = fitted_learner(pipeline)
    return f"The loss is {learner.loss_!r}: {learner.analysis_.verdict}."


def parameters_in_words(parameters: dict[str, Any]) -> str:
    """Tuned parameters on one line."""
    shown = (f"{value:.4g}" if isinstance(value, float) else str(value) for value in parameters.values())
    return ", ".join(f"{key} = {value}" for key, value in zip(parameters, shown, strict=True))
