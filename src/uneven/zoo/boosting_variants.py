r"""Cost-sensitive AdaBoost in the literature: the loss that each variant descends, and the costs that this assumes.

Every variant keeps weights of the rows and changes them from round to round. With :math:`f = \sum_t \alpha_t h_t`, the
votes :math:`h_t(x) = \pm 1`, and a cost c for each class, the weights after t rounds turn out to be

.. math:: D_i = m_{y_i} \exp(-s_{y_i} y_i f(x_i))

with two numbers for each class. Weights of boosting are slopes of a loss: here of :math:`\frac{m}{s} e^{-s y f}`. So
the variant descends, in its next round, the loss

.. math:: L(1, t) = \frac{m_+}{s_+} e^{-s_+ t}, \qquad L(-1, t) = \frac{m_-}{s_-} e^{s_- t},

which is calibrated for one ratio of costs, :math:`m_+/m_-`. :func:`uneven.implied_alpha` says the same with a proof. If
m changes from round to round, so does that ratio: the number of rounds decides what a false negative costs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from uneven import inputs
from uneven.errors import LossError, ParameterError
from uneven.inputs import Exact, require_integer
from uneven.losses import Loss

#: Factor m and scale s of a class with a cost, after a number of rounds of which each has the same step.
Weights = Callable[[Fraction, int, Fraction], tuple[str, str]]


@dataclass(frozen=True)
class Variant:
    """A cost-sensitive AdaBoost of the literature.

    Attributes
    ----------
    name, reference : str
    update : str
        How the weights of the rows change in a round.
    costs_meant : str
        The ratio of costs, of a false negative to a false positive, for which its loss is calibrated after t rounds.
        ``k`` is the ratio that the user gave.
    calibrated : bool
        Whether that is the user's ratio, after every number of rounds.
    remark : str
    """

    name: str
    reference: str
    update: str
    costs_meant: str
    calibrated: bool
    remark: str
    _weights: Weights | None

    def loss(self, *, fp_cost: Exact, fn_cost: Exact, rounds: int, step: Exact = "1/2") -> Loss:
        """The loss that the weights after some rounds are the slopes of.

        Parameters
        ----------
        fp_cost, fn_cost : positive number
            As the variant is given them.
        rounds : int
            Number of rounds so far.
        step : positive number
            The step alpha of each of these rounds; some variants depend on it.

        Raises
        ------
        LossError
            If the weights are not the slopes of any loss of the score.
        """
        require_integer("rounds", rounds, least=0, wanted="a whole number of at least 0")
        if self._weights is None:
            raise LossError(f"{self.name} descends no loss of the score: {self.remark}")
        length = inputs.positive("step", step)
        parts = []
        for name, cost, sign in (("fn_cost", fn_cost, "-"), ("fp_cost", fp_cost, "")):
            m, s = self._weights(inputs.positive(name, cost), rounds, length)
            parts.append(f"({m})/({s}) * exp({sign}({s})*t)")
        return Loss(parts[0], parts[1])


def _power(cost: Fraction, exponent: str | int) -> str:
    return f"({cost})**({exponent})"


VARIANTS: tuple[Variant, ...] = (
    Variant(
        "AdaMEC",
        "Ting, ICML 2000",
        "as AdaBoost: exp(-alpha y h)",
        "1 in training",
        False,
        "trained without costs; they move the threshold afterwards. Right if the score is read as a probability: "
        "predict(X, fp_cost=.., fn_cost=..) of a model that was fitted with equal costs does that.",
        lambda c, t, a: ("1", "1"),
    ),
    Variant(
        "CGAda",
        "Landesa-Vazquez and Alba-Castro, Neurocomputing 2013",
        "as AdaBoost, from weights in the ratio of the costs",
        "k",
        True,
        "UnevenAdaBoostClassifier(fp_cost=.., fn_cost=..), with margin_gamma=1.",
        lambda c, t, a: (f"{c}", "1"),
    ),
    Variant(
        "CSAda",
        "Masnadi-Shirazi and Vasconcelos, ICML 2007, PAMI 2011",
        "exp(-c alpha y h); tree and step are chosen with c times the weight",
        "k",
        True,
        "UnevenAdaBoostClassifier(fp_cost=.., fn_cost=.., margin_gamma=fp_cost/fn_cost).",
        lambda c, t, a: (f"{c}", f"{c}"),
    ),
    Variant(
        "AsymBoost",
        "Viola and Jones, NIPS 2001",
        "as AdaBoost, times k^(1/(2T)) or k^(-1/(2T)) by class, in each of T rounds",
        "k^(t/T)",
        False,
        "another loss in each round; that of the last round is calibrated for the costs, and is CGAda's.",
        lambda c, t, a: (_power(c, f"{t}/{_ASYMBOOST_ROUNDS}"), "1"),
    ),
    Variant(
        "AdaC1",
        "Sun, Kamel, Wong and Wang, Pattern Recognition 2007",
        "exp(-c alpha y h)",
        "1",
        False,
        "the weights are slopes of a loss for equal costs. The step length minimises a bound of another loss, "
        "exp(-c y f), which is calibrated for the costs: tree and step do not descend the same loss.",
        lambda c, t, a: ("1", f"{c}"),
    ),
    Variant(
        "AdaC2",
        "Sun, Kamel, Wong and Wang, Pattern Recognition 2007",
        "c exp(-alpha y h)",
        "k^t",
        False,
        "the cost is multiplied in again in each round.",
        lambda c, t, a: (_power(c, t), "1"),
    ),
    Variant(
        "AdaC3",
        "Sun, Kamel, Wong and Wang, Pattern Recognition 2007",
        "c exp(-c alpha y h)",
        "k^t",
        False,
        "as AdaC2, with the margins of CSAda.",
        lambda c, t, a: (_power(c, t), f"{c}"),
    ),
    Variant(
        "CSB0",
        "Ting and Zheng, ECML 1998; Ting, ICML 2000",
        "1 if h is right, c if it is wrong",
        "k^(t/2)",
        False,
        "the score is the plain sum of the votes, from equal weights. A class of cost 1 has weights that never change: "
        "its loss is a straight line, below 0 on one side.",
        None,
    ),
    Variant(
        "CSB1",
        "Ting, ICML 2000",
        "exp(-y h) if h is right, c exp(-y h) if it is wrong",
        "k^(t/2)",
        False,
        "the score is the plain sum of the votes, from equal weights.",
        lambda c, t, a: (_power(c, f"{t}/2"), f"1 + log({c})/2"),
    ),
    Variant(
        "CSB2",
        "Ting, ICML 2000",
        "exp(-alpha y h) if h is right, c exp(-alpha y h) if it is wrong",
        "k^(t/2)",
        False,
        "the weights depend on the number of wrong votes as well as on the score, so they are slopes of no loss of the "
        "score; at score 0 with as many right votes as wrong ones their ratio is k^(t/2).",
        None,
    ),
    Variant(
        "AdaCost",
        "Fan, Stolfo, Zhang and Chan, ICML 1999",
        "exp(-alpha y h b) with b = (1 - c)/2 if h is right, (1 + c)/2 if not, from weights in the ratio of costs",
        "k exp((c_FN - c_FP) A/2), A the sum of all steps",
        False,
        "the costs enter through their difference, and grow with the steps.",
        lambda c, t, a: (f"({c}) * exp({c * t * a / 2})", "1/2"),
    ),
)

#: T of AsymBoost: the number of rounds must be known before the first one.
_ASYMBOOST_ROUNDS = 100


def variant(name: str) -> Variant:
    """A variant by its name.

    Examples
    --------
    >>> import uneven
    >>> from uneven.zoo.boosting_variants import variant
    >>> loss = variant("AdaC2").loss(fp_cost=1, fn_cost=10, rounds=3)       # the user means 10 to 1
    >>> uneven.implied_alpha(loss).in_words()
    'This loss treats a false negative as 1000 times a false positive.'
    """
    for one in VARIANTS:
        if one.name == name:
            return one
    raise ParameterError(f"no variant is called {name!r}; there are {', '.join(one.name for one in VARIANTS)}")
