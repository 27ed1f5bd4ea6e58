"""The checks, one function each, in a table by code; and what they are told about a program or an estimator."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from uneven.calibration.implied_costs import ImpliedAlpha, implied_alpha
from uneven.errors import UnevenError
from uneven.observed_costs import undo_class_weights, undo_resampling
from uneven.zoo import declared, loss, parameters_for
from uneven.zoo.zoo_loss import decimal

#: What a program leaves open, such as a weight that is computed when it runs.
UNKNOWN: Any = object()
#: Ratios of costs that differ by less are taken for the same: nobody knows costs better, and 1/21 is written as 0.05.
_ALIKE = 0.1
#: Parameters that weight the positives, by how they are written.
_ONE_WEIGHT = ("scale_pos_weight", "pos_weight")
_TWO_WEIGHTS = ("class_weight", "weight", "class_weights")
#: Settings that weight the classes by how rare they are.
_BALANCED = {
    "class_weight": ("balanced", "balanced_subsample"),
    "is_unbalance": (True,),
    "auto_class_weights": ("Balanced",),
}


@dataclass(frozen=True)
class Place:
    """Where something stands in a file; 0 if there is no file."""

    line: int = 0
    column: int = 0


@dataclass(frozen=True, eq=False)
class Model:
    """A classifier or a loss with the parameters that were written.

    Attributes
    ----------
    name : str
        As a user calls it.
    zoo : str
        The loss of the zoo that it minimises, or one with the same costs.
    parameters : dict
        The parameters as written; ``UNKNOWN`` where a program computes them.
    place : Place
    is_loss : bool
        Whether it is a loss function, and not a classifier.
    """

    name: str
    zoo: str
    parameters: dict[str, Any] = field(default_factory=dict)
    place: Place = Place()
    is_loss: bool = False

    @property
    def assumed(self) -> ImpliedAlpha | None:
        """The costs that its loss assumes, by the prover; None if its parameters leave them open."""
        known = {parameter.name for parameter in declared(self.zoo).parameters}
        given = {key: value for key, value in self.parameters.items() if key in known}
        for key in _ONE_WEIGHT:  # a tensor of one number
            if isinstance(given.get(key), list | tuple) and len(given[key]) == 1:
                given[key] = given[key][0]
        if any(value is UNKNOWN for value in given.values()) or self.balanced:
            return None
        if isinstance(given.get("class_weight"), dict) and set(given["class_weight"]) == {-1, 1}:
            given["class_weight"] = (given["class_weight"][-1], given["class_weight"][1])
        try:
            return implied_alpha(loss(self.zoo, **given))
        except UnevenError:
            return None

    @property
    def ratio(self) -> Fraction | None:
        """How many false alarms a miss costs by its loss; None if that is open."""
        found = self.assumed
        alpha = None if found is None else found.exact or found.middle
        return None if alpha is None else (1 - alpha) / alpha

    @property
    def weight(self) -> tuple[str, Fraction] | None:
        """The parameter that weights the classes, and how much more a positive counts; None if there is none."""
        for key in (*_ONE_WEIGHT, *_TWO_WEIGHTS):
            value = self.parameters.get(key)
            if isinstance(value, dict) and set(value) in ({0, 1}, {-1, 1}):
                value = (value[min(value)], value[1])
            if isinstance(value, list | tuple) and len(value) == 1:
                value = value[0]
            pair = (1, value) if key in _ONE_WEIGHT else value
            if not isinstance(pair, list | tuple) or len(pair) != 2:
                continue
            if all(isinstance(one, int | float) and one > 0 for one in pair) and pair[0] != pair[1]:
                return key, decimal(key, pair[1]) / decimal(key, pair[0])
        return None

    @property
    def balanced(self) -> str:
        """The setting that weights the classes by how rare they are, as text; "" if there is none."""
        for key, values in _BALANCED.items():
            value = self.parameters.get(key)
            if isinstance(value, str | bool) and value in values:
                return f"{key}={value!r}"
        return ""


@dataclass(frozen=True)
class Decision:
    """Rows are decided with a model: by ``predict`` (cut None), or where its probability is above the cut."""

    model: Model
    place: Place
    cut: Fraction | None = None


@dataclass
class Scene:
    """What is known about a program or an estimator.

    Attributes
    ----------
    models : list of Model
    decisions : list of Decision
    probabilities : list of (Model, Place, str)
        Probabilities that are used as such, and for what.
    resamplers : list of (str, Place)
    scorings : list of (str, Place, str)
        Metrics that something is chosen by, and what.
    repaired : bool
        Whether weights or resampling are undone somewhere.
    costs : (Fraction, Fraction) or None
        Of a false positive and of a false negative.
    """

    models: list[Model] = field(default_factory=list)
    decisions: list[Decision] = field(default_factory=list)
    probabilities: list[tuple[Model, Place, str]] = field(default_factory=list)
    resamplers: list[tuple[str, Place]] = field(default_factory=list)
    scorings: list[tuple[str, Place, str]] = field(default_factory=list)
    repaired: bool = False
    costs: tuple[Fraction, Fraction] | None = None

    @property
    def ratio(self) -> Fraction | None:
        """How many false alarms a miss costs by the user's costs."""
        return None if self.costs is None else self.costs[1] / self.costs[0]


@dataclass(frozen=True)
class Finding:
    """Something that a check found.

    Attributes
    ----------
    code : str
        Such as UNV001; docs/lint.md has them all.
    message, proof, remedy : str
        What is wrong, why it is, and what to do.
    line, column : int
        Where, counted from 1; 0 for an estimator.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> import uneven
    >>> [found] = uneven.lint(LogisticRegression(), fp_cost=1, fn_cost=20)
    >>> found.code, found.message
    ('UNV001', 'LogisticRegression decides at 0.5 although costs are 1:20')
    """

    code: str
    message: str
    proof: str
    remedy: str
    line: int = 0
    column: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain data."""
        return asdict(self)


Check = Callable[[Scene], Iterator[tuple[Place, str, str, str]]]


def in_words(ratio: Fraction) -> str:
    """Costs of a false positive and of a false negative, such as 1:20."""
    larger = max(ratio, 1 / ratio)
    shown = str(larger) if larger.denominator == 1 else f"{float(larger):.4g}"
    return f"1:{shown}" if ratio >= 1 else f"{shown}:1"


def _number(value: Fraction) -> str:
    return str(value) if value.denominator == 1 else f"{float(value):.4g}"


def _alike(first: Fraction, second: Fraction) -> bool:
    return abs(first / second - 1) <= _ALIKE


def _decided_ratio(one: Decision) -> tuple[Fraction, str] | None:
    """How many false alarms a miss costs by a decision, and why; None if that is open."""
    own = one.model.ratio
    if own is None:
        return None
    if one.cut is None or one.cut == Fraction(1, 2):
        found = one.model.assumed
        return own, "" if found is None else found.reason
    truth = undo_class_weights(float(one.cut), positive=own)
    ratio = Fraction((1 - truth) / truth).limit_denominator(10**6)
    return ratio, (
        f"where it says {_number(one.cut)} the probability is {truth:.4g}, and there both decisions cost the same if a "
        f"miss costs {_number(ratio)} false alarms"
    )


def _threshold(ratio: Fraction) -> str:
    return f"{float(1 / (1 + ratio)):.4g}"


def _remedy(model: Model, costs: tuple[Fraction, Fraction]) -> str:
    """What to pass to the model so that it assumes the costs, from the zoo; and the threshold for probabilities."""
    ratio = costs[1] / costs[0]
    cut = f"cut its probabilities at {_threshold(ratio)} (sklearn.model_selection.FixedThresholdClassifier), "
    keep = {k: v for k, v in model.parameters.items() if k in ("label_smoothing", "loss", "objective", "sigmoid")}
    try:
        recipe = parameters_for(model.zoo, fp_cost=costs[0], fn_cost=costs[1], **keep)
    except UnevenError:
        recipe = None
    if recipe is None or recipe.parameters is None or recipe.threshold:
        return f"{cut}or let uneven.UnevenThresholdClassifierCV find the threshold"
    weights = ", ".join(
        f"{k}={_written(k, v)}" for k, v in recipe.parameters.items() if k not in keep and v is not False
    )
    return f"pass {weights} (proved)" if model.is_loss else f"{cut}or pass {weights}, not both"


def _written(key: str, value: Any) -> str:
    """A parameter as a user writes it, without rounding: only the exact number is proved."""
    if isinstance(value, tuple):
        return f"{{0: {value[0]}, 1: {value[1]}}}" if key == "class_weight" else f"[{value[0]}, {value[1]}]"
    return str(value) if isinstance(value, Fraction) else repr(value)


# -- the checks --------------------------------------------------------------------------------------------------------


def decides_at_half(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Rows are decided at a probability of 0.5 although the costs of the two mistakes differ."""
    wanted = scene.ratio
    if wanted is None or _alike(wanted, Fraction(1)):
        return
    for one in scene.decisions:
        found = _decided_ratio(one)
        if found is not None and found[0] == 1 and one.cut in (None, Fraction(1, 2)):
            yield (
                one.place,
                f"{one.model.name} decides at 0.5 although costs are {in_words(wanted)}",
                f"{_sentence(found[1])}It treats both mistakes alike; at {in_words(wanted)} the cheapest decision "
                f"changes at the probability {_threshold(wanted)}.",
                _remedy(one.model, scene.costs or (Fraction(1), Fraction(1))),
            )


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}. " if reason else ""


def corrected_twice(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Weights and threshold are both moved for the same costs."""
    for one in scene.decisions:
        weight, cut = one.model.weight, one.cut
        if weight is None or cut is None or cut == Fraction(1, 2):
            continue
        key, factor = weight
        found = _decided_ratio(one)
        if found is None or (factor > 1) != (cut < Fraction(1, 2)) or one.model.ratio != factor:
            continue
        if scene.ratio is not None and _alike(found[0], scene.ratio):
            continue
        alone = (1 - cut) / cut
        yield (
            one.place,
            f"{key} and threshold both corrected: {_number(factor)} and {_number(cut)} together assume "
            f"{in_words(found[0])}",
            f"{_sentence(found[1])}The weights alone assume {in_words(factor)}, the threshold alone {in_words(alone)}; "
            "together they multiply.",
            f"leave {key} out and keep the threshold, or keep it and decide at 0.5",
        )


def smoothing_moves_costs(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Label smoothing changes the costs that weights ask for."""
    for model in scene.models:
        weight, smoothing = model.weight, model.parameters.get("label_smoothing")
        if weight is None or not isinstance(smoothing, int | float) or isinstance(smoothing, bool) or not smoothing:
            continue
        found = model.assumed
        if found is None:
            continue
        said = f"label smoothing {smoothing:g} with {weight[0]} {_number(weight[1])}"
        target = scene.ratio or weight[1]
        remedy = _remedy(model, (Fraction(1), target))
        if found.proved_none:
            yield model.place, f"{said} is calibrated for no costs", f"{_sentence(found.reason)}", remedy
        elif model.ratio is not None and not _alike(model.ratio, target):
            yield model.place, f"{said} assumes {_number(model.ratio)}:1", f"{_sentence(found.reason)}", remedy


def assumes_other_costs(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Weights or a threshold stand for other costs than those given."""
    wanted = scene.ratio
    if wanted is None:
        return
    doubled = {place for place, *_ in corrected_twice(scene)}
    for one in scene.decisions:
        found = _decided_ratio(one)
        if found is None or found[0] == 1 or one.place in doubled or _alike(found[0], wanted):
            continue
        how = f"{one.model.name} decides" if one.cut is None else f"the threshold {_number(one.cut)} decides"
        yield (
            one.place,
            f"{how} as if costs were {in_words(found[0])}, although they are {in_words(wanted)}",
            _sentence(found[1]),
            _remedy(one.model, scene.costs or (Fraction(1), Fraction(1))),
        )
    losses = [model for model in scene.models if model.is_loss and not model.parameters.get("label_smoothing")]
    for model in losses:
        if model.ratio is not None and not _alike(model.ratio, wanted):
            yield (
                model.place,
                f"{model.name} assumes {in_words(model.ratio)}, although costs are {in_words(wanted)}",
                _sentence(model.assumed.reason if model.assumed else ""),
                _remedy(model, scene.costs or (Fraction(1), Fraction(1))),
            )


def balanced_is_no_cost(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Weights by rarity are used although costs are known."""
    if scene.ratio is None:
        return
    for one in scene.decisions:
        if one.model.balanced and one.cut in (None, Fraction(1, 2)):
            shown = Model("", "sklearn.linear_model.LogisticRegression", {"class_weight": "balanced"})
            known = implied_alpha(loss(shown.zoo, class_weight="balanced", counts=(900, 100)))
            yield (
                one.place,
                f"{one.model.balanced} stands for the rarity of positives, not for costs of {in_words(scene.ratio)}",
                "It assumes that a miss costs as many false alarms as there are negatives for each positive: with 900 "
                f"and 100 rows, {known.cost_ratio:g}. {_sentence(known.reason)}",
                _remedy(one.model, scene.costs or (Fraction(1), Fraction(1))),
            )


def weighted_probabilities(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Probabilities of a weighted model are used as probabilities."""
    if scene.repaired:
        return
    for model, place, use in scene.probabilities:
        weight = model.weight
        if (weight is None or model.ratio != weight[1]) and not model.balanced:
            continue
        key, factor = weight or (model.balanced, Fraction(10))
        truth = undo_class_weights(0.5, positive=factor)
        given = f"{key} {_number(factor)}" if weight else f"{key}, where positives are ten times as rare"
        yield (
            place,
            f"probabilities of {model.name} with {given.partition(',')[0]} are used as such ({use})",
            f"Weights multiply the odds: with {given}, a probability of 0.5 means {truth:.4g}.",
            "fit without weights and move the threshold, or pass the probabilities through uneven.undo_class_weights",
        )


_ACCURACY = frozenset(
    {"accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_weighted", "precision", "recall", "jaccard"}
)


def chosen_by_another_metric(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Something is chosen by a metric that does not know the costs."""
    if scene.ratio is None or scene.costs is None:
        return
    for metric, place, what in scene.scorings:
        if metric not in _ACCURACY or (metric == "accuracy" and _alike(scene.ratio, Fraction(1))):
            continue
        why = {
            "accuracy": "Accuracy counts both mistakes alike: it is the cost at 1:1.",
            "balanced_accuracy": "Balanced accuracy is the cost at the ratio of the class sizes, not at yours.",
        }.get(
            metric, "It has no parameter for the cost of a mistake; the threshold that it prefers depends on the data."
        )
        fp, fn = map(_number, scene.costs)
        yield (
            place,
            f"{what} chooses by {metric} although costs are {in_words(scene.ratio)}",
            why,
            f"scoring=uneven.metrics.make_cost_scorer(fp_cost={fp}, fn_cost={fn})",
        )


def resampling_not_undone(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """Rows are resampled by class, and probabilities or thresholds are used as if they were not."""
    if scene.repaired or not scene.resamplers:
        return
    moved = any(one.cut not in (None, Fraction(1, 2)) for one in scene.decisions)
    if not (moved or scene.probabilities or scene.ratio is not None):
        return
    shown = float(undo_resampling(0.5, train=Fraction(1, 2), use=Fraction(1, 100)))
    for name, place in scene.resamplers:
        yield (
            place,
            f"probabilities after {name} are those of the resampled rows",
            f"Resampled to equal classes from 1 % positives, a probability of 0.5 means {shown:.2g}: deciding at 0.5 "
            "then assumes that a miss costs 99 false alarms.",
            "fit without resampling and move the threshold to your costs, or pass probabilities through "
            "uneven.undo_resampling(p, train=..., use=...)",
        )


def calibrated_for_no_costs(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """The loss is calibrated for no costs at all."""
    if scene.ratio is None:
        return
    for model in scene.models:
        found = model.assumed
        if found is not None and found.proved_none and not model.parameters.get("label_smoothing"):
            yield (
                model.place,
                f"{model.name} is calibrated for no costs",
                _sentence(found.reason),
                "use a loss that is, such as the logistic one; `uneven zoo` lists what others assume",
            )


def weight_without_effect(scene: Scene) -> Iterator[tuple[Place, str, str, str]]:
    """A weight is passed to a loss that ignores it."""
    for model in scene.models:
        if (
            model.zoo == "xgboost.XGBClassifier"
            and model.parameters.get("objective") == "binary:hinge"
            and model.weight
        ):
            yield (
                model.place,
                "binary:hinge ignores scale_pos_weight",
                f"{_sentence(model.assumed.reason if model.assumed else '')}Its costs stay 1:1.",
                "pass weights of rows (sample_weight), or use objective='binary:logistic'",
            )


#: Every check by its code; docs/lint.md has a section for each.
CHECKS: dict[str, Check] = {
    "UNV001": decides_at_half,
    "UNV002": corrected_twice,
    "UNV003": smoothing_moves_costs,
    "UNV004": assumes_other_costs,
    "UNV005": balanced_is_no_cost,
    "UNV006": weighted_probabilities,
    "UNV007": chosen_by_another_metric,
    "UNV008": resampling_not_undone,
    "UNV009": calibrated_for_no_costs,
    "UNV010": weight_without_effect,
}


def run_checks(scene: Scene, silenced: dict[int, set[str]] | None = None) -> list[Finding]:
    """What all checks find, by line; ``silenced`` has the codes that a comment turns off in a line (empty: all)."""
    found = []
    for code, check in CHECKS.items():
        for place, message, proof, remedy in check(scene):
            off = (silenced or {}).get(place.line)
            if off is not None and (not off or code in off):
                continue
            found.append(Finding(code, message, proof.strip(), remedy, place.line, place.column))
    unique = {(one.line, one.column, one.code, one.message): one for one in found}
    return sorted(unique.values(), key=lambda one: (one.line, one.column, one.code))


_NOQA = re.compile(r"#\s*noqa(?::\s*(?P<codes>[A-Z]+[0-9]+(?:[,\s]+[A-Z]+[0-9]+)*))?", re.IGNORECASE)


def silenced_lines(source: str) -> dict[int, set[str]]:
    """The codes that a comment turns off in each line, as in ``# noqa: UNV001``; an empty set: all."""
    found: dict[int, set[str]] = {}
    for number, line in enumerate(source.splitlines(), start=1):
        match = _NOQA.search(line)
        if match is not None:
            found[number] = {code.upper() for code in re.split(r"[,\s]+", match["codes"] or "") if code}
    return found
