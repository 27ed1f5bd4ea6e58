"""The tables of the study of several classes, from its results. Written before the results were looked at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from decisions_table import ENSEMBLE, compare, failure_list, filled, header, holm, mean, number, p_value, read, row
from scipy.stats import rankdata

BASES = ("LR", "LightGBM", "CatBoost")
CALIBRATIONS = ("sigmoid", "isotonic", "temperature")
#: Matrices whose mean is the relative cost of a set; "refer" stands apart.
KINDS = ("ordinal", "dear", "random")
ALL_KINDS = (*KINDS, "refer")
FOLDS = 3
LINEAR = "UnevenMultinomialClassifier"
#: The six kinds of methods that the ensemble is compared with, and their methods.
OPPONENTS = {
    "argmax": tuple(f"{base}, argmax" for base in BASES),
    "class weights": tuple(f"{base}, class weights" for base in BASES),
    "argmin": tuple(f"{base}, argmin" for base in BASES),
    "calibration, argmin": tuple(f"{base}, {how}, argmin" for base in BASES for how in CALIBRATIONS),
    "costsensitive": (
        "costsensitive WeightedAllPairs (LR)",
        "costsensitive WeightedOneVsRest (LR)",
        "costsensitive FilterTree (LR)",
        "costsensitive RegressionOneVsRest (ridge)",
        "costsensitive WeightedAllPairs (LightGBM)",
        "costsensitive RegressionOneVsRest (LightGBM)",
    ),
    "MetaCost": ("LR, MetaCost", "LightGBM, MetaCost"),
}
OURS_LINEAR = (LINEAR, f"{LINEAR}, squared_hinge", f"{LINEAR}, phi logistic")
LINEAR_RIVALS = (
    "LR, argmin",
    *(f"LR, {how}, argmin" for how in CALIBRATIONS),
    "LR, class weights",
    *(method for method in OPPONENTS["costsensitive"] if "LightGBM" not in method),
    "LR, MetaCost",
)
PARTS = ("no shifts", "no calibration", "shifts always", "best member, no shifts")
#: Members of the ensemble, by the name of their seconds.
FAMILIES = {"LR": "linear", "LightGBM": "lightgbm", "CatBoost": "catboost"}

#: Relative costs by group, method, set and kind of matrix.
Costs = dict[str, dict[str, dict[str, dict[str, float]]]]


def relative_costs(results: Sequence[dict[str, Any]]) -> Costs:
    """Cost over that of the best constant action, the mean over repetitions that have all folds of all sets."""
    runs: dict[tuple[str, int], dict[str, list[dict[str, Any]]]] = defaultdict(lambda: defaultdict(list))
    for one in results:
        runs[one["group"], one["repeat"]][one["name"]].append(one)
    names = {group: set(runs[group, 0]) for group, _ in runs}
    found: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for (group, repeat), sets in runs.items():
        complete = {name: folds for name, folds in sets.items() if len(folds) == FOLDS}
        if repeat and set(complete) != names[group]:
            continue
        for name, folds in complete.items():
            for kind in ALL_KINDS:
                constant = float(np.sum([fold["constant"][kind] for fold in folds], axis=0).min())
                for method in set.intersection(*(set(fold["paid"][kind]) for fold in folds)):
                    total = sum(fold["paid"][kind][method] for fold in folds)
                    found[group, method, name, kind].append(total / constant)
    costs: Costs = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (group, method, name, kind), values in found.items():
        costs[group][method][name][kind] = float(np.mean(values))
    return costs


def by_set(costs: Costs, group: str, method: str, kind: str | None = None) -> dict[str, float]:
    """Of each set that the method finished: the mean over ordinal, dear and random costs, or one kind."""
    kinds = KINDS if kind is None else (kind,)
    found = costs[group].get(method, {})
    return {
        name: float(np.mean([value[one] for one in kinds]))
        for name, value in found.items()
        if all(one in value for one in kinds)
    }


def cheapest(costs: Costs, methods: Sequence[str], kind: str | None = None) -> str:
    """The method of the lowest mean on the fresh sets, among those that finished all of them."""
    count = len(by_set(costs, "fresh", ENSEMBLE))
    complete = [method for method in methods if len(by_set(costs, "fresh", method, kind)) == count]
    return min(complete, key=lambda method: mean(by_set(costs, "fresh", method, kind)))


def _comparisons(costs: Costs, pairs: Sequence[tuple[str, str, str]], *, corrected: bool = True) -> list[str]:
    """A row for each pair: what the opponent is, our method, theirs; on the fresh sets."""
    tail = ("p (Holm)",) if corrected else ()
    lines = header("compared with", "ours", "theirs", "cheaper by", "sets cheaper / dearer", "p", *tail)
    found = [compare(by_set(costs, "fresh", ours), by_set(costs, "fresh", theirs)) for _, ours, theirs in pairs]
    for (what, ours, theirs), (won, lost, p), by_holm in zip(pairs, found, holm([p for _, _, p in found]), strict=True):
        a, b = mean(by_set(costs, "fresh", ours)), mean(by_set(costs, "fresh", theirs))
        last = (p_value(by_holm),) if corrected else ()
        lines.append(row(what, number(a), number(b), f"{1 - a / b:.1%}", f"{won} / {lost}", p_value(p), *last))
    return lines


def primary_table(costs: Costs) -> list[str]:
    """The ensemble against the cheapest method of six kinds."""
    pairs = []
    for what, methods in OPPONENTS.items():
        theirs = cheapest(costs, methods)
        pairs.append((f"{what}: {theirs}", ENSEMBLE, theirs))
    return _comparisons(costs, pairs)


def rule_table(costs: Costs) -> list[str]:
    """UnevenThresholdClassifierCV against argmin and the cheapest calibration, for three learners."""
    pairs = []
    for base in BASES:
        calibrated = cheapest(costs, [f"{base}, {how}, argmin" for how in CALIBRATIONS])
        for theirs in (f"{base}, argmin", calibrated):
            pairs.append((theirs, f"{base}, UnevenThresholdClassifierCV", theirs))
    return _comparisons(costs, pairs)


def linear_table(costs: Costs) -> list[str]:
    """UnevenMultinomialClassifier with the cheapest of its losses against the cheapest linear rival."""
    ours, theirs = cheapest(costs, OURS_LINEAR), cheapest(costs, LINEAR_RIVALS)
    return _comparisons(costs, [(f"{theirs} (ours: {ours})", ours, theirs)], corrected=False)


def methods_table(costs: Costs, results: Sequence[dict[str, Any]]) -> list[str]:
    """All methods that a user could choose, cheapest on the fresh sets first."""
    methods = [method for method in costs["fresh"] if not method.startswith("ensemble, ")]
    names = list(by_set(costs, "fresh", ENSEMBLE))
    complete = [method for method in methods if len(by_set(costs, "fresh", method)) == len(names)]
    table = np.array([[by_set(costs, "fresh", method)[name] for name in names] for method in complete])
    ranks = dict(zip(complete, rankdata(table, axis=0).mean(axis=1), strict=True))
    seen = len(by_set(costs, "seen", ENSEMBLE))
    lines = header("method", f"fresh sets ({len(names)})", *KINDS, "rank", f"seen sets ({seen})", "refer, fresh", "s")
    for method in sorted(complete, key=lambda method: mean(by_set(costs, "fresh", method))):
        kinds = [number(mean(by_set(costs, "fresh", method, kind))) for kind in KINDS]
        refers = not method.endswith((", argmax", ", class weights"))
        refer = number(mean(by_set(costs, "fresh", method, "refer"))) if refers else ""
        shown = f"**{method}**" if "Uneven" in method else method
        others = number(mean(by_set(costs, "seen", method))), refer, f"{seconds(results, method):.2f}"
        lines.append(row(shown, number(mean(by_set(costs, "fresh", method))), *kinds, f"{ranks[method]:.1f}", *others))
    return lines


def seconds(results: Sequence[dict[str, Any]], method: str) -> float:
    """Processor seconds of one fit for one matrix with its inner fits: the median over the folds of the fresh sets."""
    base, _, what = method.partition(", ")
    rule = what.removesuffix(", argmin") if what in {f"{how}, argmin" for how in CALIBRATIONS} else "rule"
    found = []
    for one in results:
        if one["group"] != "fresh":
            continue
        spent = one["seconds"]
        if method == ENSEMBLE:
            own = sum(value for name, value in spent.items() if ", " not in name and not _told_costs(name))
            own += _of_one_matrix(spent, "ensemble, rule")
        elif base in FAMILIES and what not in ("class weights", "MetaCost"):
            own = spent[FAMILIES[base]]
            own += 0.0 if what in ("argmax", "argmin") else _of_one_matrix(spent, f"{base}, {rule}")
        else:
            own = _of_one_matrix(spent, method) + (spent["linear"] if method == LINEAR else 0.0)
        found.append(own)
    return float(np.median(found))


def _of_one_matrix(spent: dict[str, float], name: str) -> float:
    return spent[name] / len(ALL_KINDS)


def _told_costs(name: str) -> bool:
    return name.startswith(("costsensitive", LINEAR))


def parts_table(costs: Costs) -> list[str]:
    """The parts of the ensemble against the whole."""
    lines = header("part", "fresh sets", "seen sets", "fresh sets cheaper / dearer than the default", "p")
    own = by_set(costs, "fresh", ENSEMBLE)
    lines.append(row("the default", number(mean(own)), number(mean(by_set(costs, "seen", ENSEMBLE))), "", ""))
    for part in PARTS:
        values = by_set(costs, "fresh", f"ensemble, {part}")
        won, lost, p = compare(values, own)
        seen = number(mean(by_set(costs, "seen", f"ensemble, {part}")))
        lines.append(row(part, number(mean(values)), seen, f"{won} / {lost}", p_value(p)))
    return lines


def refer_table(costs: Costs) -> list[str]:
    """The ensemble against the other kinds where an action is to refer."""
    lines = header("compared with", "ours", "theirs", "sets cheaper / dearer", "p, not corrected")
    own = by_set(costs, "fresh", ENSEMBLE, "refer")
    for what in ("argmin", "calibration, argmin", "costsensitive", "MetaCost"):
        theirs = cheapest(costs, OPPONENTS[what], "refer")
        other = by_set(costs, "fresh", theirs, "refer")
        won, lost, p = compare(own, other)
        lines.append(row(theirs, number(mean(own)), number(mean(other)), f"{won} / {lost}", p_value(p)))
    return lines


def sets_table(costs: Costs, results: Sequence[dict[str, Any]]) -> list[str]:
    """Each set: its size, and what the ensemble and the cheapest method of each kind cost."""
    sizes = {(one["group"], one["name"]): (one["rows"], one["columns"], one["classes"]) for one in results}
    opponents = [cheapest(costs, methods) for methods in OPPONENTS.values()]
    lines = header("set", "rows", "columns", "classes", "smallest", ENSEMBLE, *opponents)
    for group in ("fresh", "seen"):
        own = by_set(costs, group, ENSEMBLE)
        for name in sorted(own):
            rows, columns, classes = sizes[group, name]
            values = [by_set(costs, group, method).get(name, float("nan")) for method in opponents]
            ours = f"**{number(own[name])}**" if own[name] < np.nanmin(values) else number(own[name])
            shown = name if group == "fresh" else f"{name} (seen)"
            lines.append(
                row(shown, f"{rows:,}", columns, len(classes), min(classes), ours, *(number(v) for v in values))
            )
    return lines


def all_tables(path: Path) -> dict[str, list[str]]:
    """Tables by name, as lines of Markdown."""
    results = read(path)
    costs = relative_costs(results)
    return {
        "primary": primary_table(costs),
        "rules": rule_table(costs),
        "linear": linear_table(costs),
        "methods": methods_table(costs, results),
        "parts": parts_table(costs),
        "refer": refer_table(costs),
        "sets": sets_table(costs, results),
        "failures": failure_list(results),
    }


def write(path: Path, page: Path) -> None:
    """Put the tables between their marks in the page."""
    text = page.read_text()
    for name, lines in all_tables(path).items():
        text = filled(text, name, lines)
    page.write_text(text)
