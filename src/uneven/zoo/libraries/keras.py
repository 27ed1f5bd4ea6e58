"""Keras. Probabilities are also clipped to [1e-7, 1 - 1e-7], which is left out: it matters beyond |t| = 16."""

from uneven.zoo.shared_formulas import ALPHA, HINGE, SQUARED_HINGE
from uneven.zoo.zoo_loss import Case, Flag, Formula, Knob, Library, Number, Outside, ZooLoss

_BATCH = "it is a ratio of sums over a batch or an image, so the loss of one example depends on the others"
_SMOOTHING = Number("label_smoothing", 0, at_least=0, at_most=1)
# With the smoothed target y the focal weight is (1 - p_t)**gamma, where 1 - p_t = y (1 - p) + (1 - y) p.
_POSITIVE_ENTROPY = "((1 - label_smoothing/2)*softplus(-t) + label_smoothing/2*softplus(t))"
_NEGATIVE_ENTROPY = "((1 - label_smoothing/2)*softplus(t) + label_smoothing/2*softplus(-t))"
_POSITIVE = f"((1 - label_smoothing/2)*expit(-t) + label_smoothing/2*expit(t))**gamma*{_POSITIVE_ENTROPY}"
_NEGATIVE = f"((1 - label_smoothing/2)*expit(t) + label_smoothing/2*expit(-t))**gamma*{_NEGATIVE_ENTROPY}"
_HINGE_REMARK = (
    "y_pred must be a score. Behind a sigmoid the loss is another one, and the threshold 0 on it means p = 0.",
    "Labels 0 and 1 become -1 and 1 only if the whole batch holds 0 and 1.",
)

LIBRARY = Library(
    "keras",
    "3.15.1",
    losses=(
        ZooLoss(
            "keras.losses.BinaryCrossentropy",
            (Formula(_POSITIVE_ENTROPY, _NEGATIVE_ENTROPY),),
            (_SMOOTHING,),
            cases=(Case(), Case({"label_smoothing": "0.1"})),
        ),
        ZooLoss(
            "keras.losses.BinaryFocalCrossentropy",
            (
                Formula(_POSITIVE, _NEGATIVE, when={"apply_class_balancing": False}),
                Formula(
                    f"(alpha*(1 - label_smoothing/2) + (1 - alpha)*label_smoothing/2)*{_POSITIVE}",
                    f"((1 - alpha)*(1 - label_smoothing/2) + alpha*label_smoothing/2)*{_NEGATIVE}",
                ),
            ),
            (
                Flag("apply_class_balancing"),
                Number("alpha", "0.25", at_least=0, at_most=1),
                Number("gamma", 2, at_least=0),
                _SMOOTHING,
            ),
            Knob("alpha", ALPHA.value, also={"apply_class_balancing": True}),
            (Case(), Case({"apply_class_balancing": True}), Case({"label_smoothing": "0.1"})),
            (
                "alpha is ignored unless apply_class_balancing=True; then 0.25 makes a false positive cost "
                "three false negatives.",
            ),
        ),
        ZooLoss("keras.losses.Hinge", (HINGE,), remarks=_HINGE_REMARK, score="the score"),
        ZooLoss("keras.losses.SquaredHinge", (SQUARED_HINGE,), remarks=_HINGE_REMARK, score="the score"),
        ZooLoss(
            "keras.losses.CategoricalGeneralizedCrossEntropy",
            (Formula("(1 - expit(t)**q)/q", "(1 - expit(-t)**q)/q"),),
            (Number("q", "0.5", above=0, below=1),),
            score="the difference z1 - z0 of the two logits",
        ),
    ),
    outside=(
        Outside("keras.losses.Dice", _BATCH),
        Outside(
            "keras.losses.Tversky",
            f"{_BATCH}; besides, in version 3.15.1 alpha weights the false negatives and beta the false positives, the "
            "opposite of its documentation",
        ),
    ),
)
