"""The tables of the study of decisions, from its results."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata, wilcoxon

ENSEMBLE = "UnevenEnsembleClassifier"
ROPE = 0.01
FOLDS = 5
KINDS = ("10:1", "class ratio", "100:1")
WEIGHTED = "LR, weighted by costs"
BASES = ("LR", "RF", "ET", "LightGBM", "XGBoost", "CatBoost")
DECLARED_BASES = ("LR", "RF", "LightGBM", "CatBoost")
#: Families of the ensemble with the default members.
MEMBERS = ("linear", "kernel", "svc", "extra_trees", "lightgbm", "forest", "catboost")
FAMILIES = {
    "LR": ("linear",),
    "RF": ("forest",),
    "ET": ("extra_trees",),
    "LightGBM": ("lightgbm",),
    "XGBoost": ("xgboost",),
    "CatBoost": ("catboost", "catboost, depth 6"),
}

#: Relative costs by group, method, set and kind of costs.
Costs = dict[str, dict[str, dict[str, dict[str, float]]]]


def read(path: Path) -> list[dict[str, Any]]:
    """Results, one for each fold."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def relative_costs(results: Iterable[dict[str, Any]]) -> Costs:
    """Cost over that of the better constant rule, the mean over repetitions that are complete."""
    runs: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for one in results:
        runs[one["group"], one["name"], one["repeat"]].append(one)
    found: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for (group, name, _), folds in runs.items():
        if len(folds) < FOLDS:
            continue
        for kind in folds[0]["results"]:
            methods = set.intersection(*(set(fold["results"][kind]) for fold in folds))
            total = {method: sum(cost_of(fold, kind, method) for fold in folds) for method in methods}
            constant = min(total["all positive"], total["all negative"])
            for method in methods:
                found[group, method, name, kind].append(total[method] / constant)
    costs: Costs = defaultdict(lambda: defaultdict(lambda: defaultdict(dict)))
    for (group, method, name, kind), values in found.items():
        costs[group][method][name][kind] = float(np.mean(values))
    return costs


def cost_of(fold: dict[str, Any], kind: str, method: str) -> float:
    """What the decisions of a method cost in a fold, in false positives or in the unit of the rows' costs."""
    value = fold["results"][kind][method]
    if kind == "per row":
        return float(value)
    ratio = {"10:1": 10.0, "100:1": 100.0}.get(kind, (fold["rows"] - fold["positives"]) / fold["positives"])
    return value[0] + ratio * value[1]


def fold_costs(folds: Iterable[dict[str, Any]], method: str) -> dict[str, float]:
    """Of single folds: relative cost of a method by set, the mean over kinds of costs."""
    found = {}
    for fold in folds:
        each = []
        for kind in fold["results"]:
            constant = min(cost_of(fold, kind, rule) for rule in ("all positive", "all negative"))
            each.append(cost_of(fold, kind, method) / constant)
        found[fold["name"]] = float(np.mean(each))
    return found


def by_set(costs: Costs, groups: Sequence[str], method: str, kind: str | None = None) -> dict[str, float]:
    """Of each set: the mean over kinds of costs, or the value of one kind."""
    found = {}
    for group in groups:
        for name, kinds in costs[group][method].items():
            if kind is None:
                found[name] = float(np.mean(list(kinds.values())))
            elif kind in kinds:
                found[name] = kinds[kind]
    return found


def mean(values: dict[str, float]) -> float:
    """Over the sets."""
    return float(np.mean(list(values.values()))) if values else float("nan")


def compare(ours: dict[str, float], theirs: dict[str, float]) -> tuple[int, int, float]:
    """Sets where ours is cheaper, where it is dearer, and the p value of Wilcoxon's test, two-sided."""
    names = sorted(set(ours) & set(theirs))
    difference = np.array([ours[name] - theirs[name] for name in names])
    p = float(wilcoxon(difference, zero_method="zsplit").pvalue) if np.any(difference) else 1.0
    return int((difference < 0).sum()), int((difference > 0).sum()), p


def holm(values: Sequence[float]) -> list[float]:
    """p values with Holm's correction."""
    order = np.argsort(values)
    found = np.empty(len(values))
    largest = 0.0
    for place, number in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - place) * values[number]))
        found[number] = largest
    return found.tolist()


def bayesian(ours: dict[str, float], theirs: dict[str, float]) -> tuple[float, float, float]:
    """Probabilities that ours is cheaper by more than the rope, level, dearer: Bayesian signed-rank test (baycomp)."""
    import baycomp

    names = sorted(set(ours) & set(theirs))
    x, y = (np.array([method[name] for name in names]) for method in (theirs, ours))
    theirs_cheaper, level, ours_cheaper = baycomp.SignedRankTest.probs(x, y, rope=ROPE, nsamples=50_000, random_state=0)
    return float(theirs_cheaper), float(level), float(ours_cheaper)


def row(*cells: Any) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def header(*cells: str) -> list[str]:
    """The head of a table in Markdown."""
    return [row(*cells), "|" + "---|" * len(cells)]


def number(value: float) -> str:
    """Three digits after the point; nothing where there is no value."""
    return "" if np.isnan(value) else f"{value:.3f}".lstrip("0")


def p_value(value: float) -> str:
    """Short."""
    return "< .001" if value < 0.001 else f"{value:.3f}".lstrip("0")


def main_table(costs: Costs, seconds: Callable[[str], float]) -> list[str]:
    """All methods that a user could choose, cheapest on the fresh sets first."""
    methods = [
        method
        for method in costs["fresh"]
        if not method.startswith("ensemble, ") and ", ours, " not in method and not method.startswith("all ")
    ]
    fresh = {method: by_set(costs, ["fresh"], method) for method in methods}
    complete = [method for method in methods if len(fresh[method]) == len(fresh[ENSEMBLE])]
    table = np.array([[fresh[method][name] for name in fresh[ENSEMBLE]] for method in complete])
    ranks = dict(zip(complete, rankdata(table, axis=0).mean(axis=1), strict=True))
    lines = header("method", "fresh sets", *KINDS, "rank", "keel sets", "design sets", "s")
    for method in sorted(complete, key=lambda method: mean(fresh[method])):
        kinds = [number(mean(by_set(costs, ["fresh"], method, kind))) for kind in KINDS]
        shown = f"**{method}**" if method.startswith("Uneven") or "Uneven" in method else method
        others = [number(mean(by_set(costs, [group], method))) for group in ("keel", "design")]
        lines.append(
            row(shown, number(mean(fresh[method])), *kinds, f"{ranks[method]:.1f}", *others, _seconds(seconds(method)))
        )
    return lines


def _seconds(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.1f}"


def best_single(costs: Costs, groups: Sequence[str]) -> str:
    """The cheapest single learner that is cut at alpha."""
    return min((f"{base}, cut at alpha" for base in BASES), key=lambda method: mean(by_set(costs, groups, method)))


GROUPS = (["fresh"], ["keel"], ["fresh", "keel"], ["design"], ["fresh", "keel", "design"])


def primary_table(costs: Costs) -> list[str]:
    """The two declared comparisons, on the fresh sets, and the same on the other groups."""
    primary = (best_single(costs, ["fresh"]), WEIGHTED)
    lines = header("compared with", "sets", "ours", "theirs", "cheaper by", "sets cheaper / dearer", "p", "p (Holm)")
    for groups in GROUPS:
        ours = by_set(costs, groups, ENSEMBLE)
        found = [compare(ours, by_set(costs, groups, other)) for other in primary]
        corrected = holm([p for _, _, p in found])
        for other, (wins, losses, p), p_holm in zip(primary, found, corrected, strict=True):
            a, b = mean(ours), mean(by_set(costs, groups, other))
            cells = (number(a), number(b), f"{1 - a / b:.1%}", f"{wins} / {losses}", p_value(p), p_value(p_holm))
            lines.append(row(other, _sets(groups, len(ours)), *cells))
    return lines


def _sets(groups: Sequence[str], count: int) -> str:
    return f"{'all' if len(groups) > 2 else ' and '.join(groups)} ({count})"


def bayes_table(costs: Costs) -> list[str]:
    """Bayesian signed-rank tests of the same comparisons; needs baycomp."""
    primary = (best_single(costs, ["fresh"]), WEIGHTED)
    lines = header("compared with", "sets", "P(cheaper)", "P(level)", "P(dearer)")
    for groups in GROUPS:
        ours = by_set(costs, groups, ENSEMBLE)
        for other in primary:
            chances = [f"{value:.2f}" for value in bayesian(ours, by_set(costs, groups, other))]
            lines.append(row(other, _sets(groups, len(ours)), *chances))
    return lines


#: Relative costs of the best single learner at which sets are told apart.
LEVELS = (0.0, 0.4, 0.7, 2.0)


def signal_table(costs: Costs) -> list[str]:
    """How the gain depends on how much can be learnt: sets by the relative cost of logistic regression at alpha."""
    groups = ["fresh", "keel", "design"]
    reference = by_set(costs, groups, "LR, cut at alpha")
    others = ("LR, cut at alpha", WEIGHTED, "CatBoost, cut at alpha", "XGBoost, cut at alpha", "ET, cut at alpha")
    lines = header("relative cost of LR at alpha", "sets", "ensemble", *(f"against {other}" for other in others))
    ours = by_set(costs, groups, ENSEMBLE)
    for low, high in pairwise(LEVELS):
        names = [name for name, value in reference.items() if low <= value < high]
        a = mean({name: ours[name] for name in names})
        cells = []
        for other in others:
            theirs = by_set(costs, groups, other)
            b = mean({name: theirs[name] for name in names})
            cells.append(f"{a / b - 1:+.0%}")
        what = f"below {high}" if low == 0 else f"{low} to {high}" if high < 2 else f"{low} and more"
        lines.append(row(what, len(names), number(a), *cells))
    return lines


def threshold_table(costs: Costs) -> list[str]:
    """Our threshold rule against scikit-learn's and against none, for each base learner, on the fresh sets."""
    lines = header(
        "learner",
        "cut at alpha",
        "TunedThresholdClassifierCV",
        "ours",
        "ours against tuned",
        "p (Holm)",
        "ours against alpha",
        "p",
    )
    tuned, plain = {}, {}
    for base in BASES:
        ours = by_set(costs, ["fresh"], f"{base}, UnevenThresholdClassifierCV")
        tuned[base] = compare(ours, by_set(costs, ["fresh"], f"{base}, TunedThresholdClassifierCV"))
        plain[base] = compare(ours, by_set(costs, ["fresh"], f"{base}, cut at alpha"))
    corrected = dict(zip(DECLARED_BASES, holm([tuned[base][2] for base in DECLARED_BASES]), strict=True))
    for base in BASES:
        names = ("cut at alpha", "TunedThresholdClassifierCV", "UnevenThresholdClassifierCV")
        values = [number(mean(by_set(costs, ["fresh"], f"{base}, {name}"))) for name in names]
        p = p_value(corrected[base]) if base in corrected else f"({p_value(tuned[base][2])})"
        won, lost = tuned[base][:2]
        lines.append(
            row(base, *values, f"{won} / {lost}", p, "{} / {}".format(*plain[base][:2]), p_value(plain[base][2]))
        )
    return lines


def ablation_table(costs: Costs) -> list[str]:
    """Variants of the ensemble against it."""
    groups = ("fresh", "keel", "design")
    lines = header("variant", *(f"{group} sets" for group in groups), "cheaper / dearer than the default, all", "p")
    variants = [ENSEMBLE, f"{ENSEMBLE}, no boosting libraries"]
    variants += sorted(method for method in costs["fresh"] if method.startswith("ensemble, "))
    own = by_set(costs, groups, ENSEMBLE)
    for method in variants:
        values = [number(mean(by_set(costs, [group], method))) for group in groups]
        won, lost, p = compare(by_set(costs, groups, method), own)
        told = ("", "") if method == ENSEMBLE else (f"{won} / {lost}", p_value(p))
        shown = "the default" if method == ENSEMBLE else method.removeprefix("ensemble, ").removeprefix(f"{ENSEMBLE}, ")
        lines.append(row(shown, *values, *told))
    return lines


def per_row_table(costs: Costs) -> list[str]:
    """Sets with costs of each row."""
    sets = list(costs["per row"][ENSEMBLE])
    methods = [m for m in costs["per row"] if not m.startswith(("ensemble, ", "all ")) and ", ours, " not in m]
    lines = header("method", "mean", *sets)
    for method in sorted(methods, key=lambda method: mean(by_set(costs, ["per row"], method))):
        values = by_set(costs, ["per row"], method)
        if len(values) == len(sets):
            shown = f"**{method}**" if "Uneven" in method else method
            lines.append(row(shown, number(mean(values)), *(number(values[name]) for name in sets)))
    return lines


def set_table(costs: Costs, results: Iterable[dict[str, Any]]) -> list[str]:
    """Each fresh set: its size and what the main methods cost."""
    sizes = {one["name"]: (one["rows"], one["columns"], one["positives"]) for one in results}
    methods = (
        ENSEMBLE,
        "CatBoost, cut at alpha",
        "LightGBM, cut at alpha",
        "LR, cut at alpha",
        "LR, weighted by costs",
    )
    lines = header("set", "rows", "columns", "positive", *methods)
    for group in ("fresh", "keel", "design"):
        for name in sorted(costs[group][ENSEMBLE]):
            rows, columns, positives = sizes[name]
            values = [number(by_set(costs, [group], method)[name]) for method in methods]
            shown = name if group == "fresh" else f"{name} ({group})"
            lines.append(row(shown, f"{rows:,}", columns, f"{positives / rows:.0%}", *values))
    return lines


def seconds_of(results: Sequence[dict[str, Any]]) -> Callable[[str], float]:
    """Processor seconds of a fit with all its inner fits: the median over folds of the fresh sets."""

    def of(method: str) -> float:
        base = method.partition(",")[0]
        own = [one["seconds"] for one in results if one["group"] == "fresh"]
        if method == ENSEMBLE:
            parts: tuple[str, ...] = MEMBERS
        elif method in own[0]:
            kinds = [len(one["results"]) for one in results if one["group"] == "fresh"]
            each = [times.get(method, np.nan) / kind for times, kind in zip(own, kinds, strict=True)]
            return float(np.nanmedian(each))
        elif base in FAMILIES and "weighted" not in method:
            parts = FAMILIES[base]
        else:
            return float("nan")
        return float(np.median([sum(times.get(part, 0.0) for part in parts) for times in own]))

    return of


def all_tables(path: Path, *, bayes: bool = True) -> dict[str, list[str]]:
    """Tables by name, as lines of Markdown."""
    results = read(path)
    costs = relative_costs(results)
    found = {
        "primary": primary_table(costs),
        "thresholds": threshold_table(costs),
        "signal": signal_table(costs),
        "methods": main_table(costs, seconds_of(results)),
        "ablations": ablation_table(costs),
        "per row": per_row_table(costs),
        "sets": set_table(costs, results),
        "failures": failure_list(results),
    }
    return {**found, "bayes": bayes_table(costs)} if bayes else found


def failure_list(results: Iterable[dict[str, Any]]) -> list[str]:
    """Methods that raised an error, and on how many folds."""
    found: dict[str, int] = defaultdict(int)
    for one in results:
        for method, why in one["failed"].items():
            found[f"{method}: {why}"] += 1
    return [f"- {what} ({count} folds)" for what, count in sorted(found.items())] or ["None."]


def write(path: Path, page: Path) -> None:
    """Put the tables between the marks ``<!-- name -->`` and ``<!-- end of name -->`` of a page."""
    text = page.read_text()
    for name, lines in all_tables(path).items():
        text = filled(text, name, lines)
    page.write_text(text)


def filled(text: str, name: str, lines: Sequence[str]) -> str:
    """The text with lines between two marks."""
    first, last = f"<!-- {name} -->", f"<!-- end of {name} -->"
    if first not in text:
        return text
    before, _, rest = text.partition(first)
    _, _, after = rest.partition(last)
    return before + "\n".join([first, "", *lines, "", last]) + after
