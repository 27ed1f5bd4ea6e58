"""scikit-learn. class_weight="balanced" needs the counts of both classes in the training rows."""

from typing import Any

from uneven.zoo.shared_formulas import CLASS_WEIGHT, HINGE, LOGISTIC, PERCEPTRON, SQUARED_HINGE
from uneven.zoo.zoo_loss import Case, Choice, Formula, Library, Number, PerClass, ZooLoss

_HUBER = "where(abs(1 - t) <= epsilon, (1 - t)**2/2, epsilon*abs(1 - t) - epsilon**2/2)"
_INSENSITIVE = "relu(abs(1 - t) - epsilon)"
_BY_NAME = {
    "hinge": HINGE,
    "squared_hinge": SQUARED_HINGE,
    "log_loss": LOGISTIC,
    "modified_huber": Formula("where(t < -1, -4*t, relu(1 - t)**2)", "where(t > 1, 4*t, relu(1 + t)**2)"),
    "perceptron": PERCEPTRON,
    "squared_error": Formula("(1 - t)**2/2", "(1 + t)**2/2"),
    "huber": Formula(_HUBER, _HUBER.replace("1 - t", "1 + t")),
    "epsilon_insensitive": Formula(_INSENSITIVE, _INSENSITIVE.replace("1 - t", "1 + t")),
    "squared_epsilon_insensitive": Formula(f"{_INSENSITIVE}**2", f"{_INSENSITIVE.replace('1 - t', '1 + t')}**2"),
}
_WEIGHTS = (PerClass("class_weight", words=("balanced",)), PerClass("counts", facts=True))
_BALANCED = {"class_weight": "balanced", "counts": (900, 100)}


def _weighted(formula: Formula, **when: Any) -> tuple[Formula, Formula]:
    """With weights of both classes; those of "balanced" are n/(2 n_0) and n/(2 n_1)."""
    positive, negative = f"({formula.positive})", f"({formula.negative})"
    total = "(counts_0 + counts_1)/2"
    return (
        Formula(
            f"{total}/counts_1*{positive}", f"{total}/counts_0*{negative}", when={**when, "class_weight": "balanced"}
        ),
        Formula(f"class_weight_1*{positive}", f"class_weight_0*{negative}", when=when),
    )


LIBRARY = Library(
    "sklearn",
    "1.9.1",
    losses=(
        ZooLoss(
            "sklearn.linear_model.LogisticRegression",
            _weighted(LOGISTIC),
            _WEIGHTS,
            CLASS_WEIGHT,
            (Case(), Case({"class_weight": (1, 10)}, 10), Case(_BALANCED, 9)),
            (
                'class_weight="balanced" assumes that a mistake on the rare class costs as many times more as '
                "it is rarer.",
            ),
            score="the decision function",
        ),
        ZooLoss(
            "sklearn.linear_model.SGDClassifier",
            tuple(formula for name, one in _BY_NAME.items() for formula in _weighted(one, loss=name)),
            (Choice("loss", "hinge", tuple(_BY_NAME)), Number("epsilon", "0.1", at_least=0), *_WEIGHTS),
            CLASS_WEIGHT,
            (
                *(Case({"loss": name} if name != "hinge" else {}) for name in _BY_NAME),
                Case({"loss": "log_loss", **_BALANCED}, 9),
            ),
            ("loss='perceptron' is calibrated for no costs.",),
            score="the decision function",
        ),
        ZooLoss(
            "sklearn.linear_model.Perceptron",
            _weighted(PERCEPTRON),
            _WEIGHTS,
            None,
            remarks=("t = 0 is optimal for every example, so it is calibrated for no costs, whatever the weights.",),
            score="the decision function",
        ),
    ),
)
