"""
More rows, and what they are worth
==================================

If a loss is calibrated for the costs, a learner that minimises it over a rich class comes as close to the cheapest rule
as one likes, as rows are added (Theorem C in docs/theory.md). A learner over a poor class does not: it ends at the
best that its class has for its loss.

The *cost regret* is the expected cost minus the smallest possible one. Here the distribution is known, so the cost
regret of a fitted classifier is computed, not estimated: nothing but the training rows is random.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

import uneven

ALPHA = 0.1  # a false positive costs 0.1, a false negative 0.9
SIZES = (100, 200, 400, 800, 1600, 3200, 6400)
REPEATS = 6
GAMMAS = (1.0, 2.0)

# %%
# Points are uniform in a square. The cheapest rule says "positive" above a curve, which no straight line follows.


def probability(X: np.ndarray) -> np.ndarray:
    """P(Y = 1 | x)."""
    return expit(6 * (X[:, 1] - 0.6 * np.sin(4 * X[:, 0])) - 1.5)


side = (np.arange(120) + 0.5) / 60 - 1
SQUARE = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
ETA = probability(SQUARE)


def cost_regret(classifier: object) -> float:
    """The mean of abs(eta - alpha) over the square, where the decision is wrong (lemma 1)."""
    wrong = classifier.predict(SQUARE) != (ETA > ALPHA)
    return float(np.mean(np.abs(ETA - ALPHA) * wrong))


# %%
# Theorem C asks for a penalty whose share of the objective vanishes, but more slowly than 1/n: C tends to 0 and n C
# grows. C = 30/n**(1/4) does both. A fixed C does not: the share of its penalty vanishes like 1/n.


def learners(n: int, gamma: float) -> dict[str, object]:
    """A kernel SVM and a linear SVM for n rows."""
    given = {"fp_cost": ALPHA, "fn_cost": 1 - ALPHA, "margin_gamma": gamma, "C": 30 / n**0.25}
    return {
        "kernel": uneven.UnevenSVC(kernel="rbf", gamma=8.0, **given),
        "linear": uneven.UnevenLinearClassifier("hinge", **given),
    }


regrets: dict[tuple[str, float], np.ndarray] = {
    (name, gamma): np.zeros((REPEATS, len(SIZES))) for name in ("kernel", "linear") for gamma in GAMMAS
}
for repeat in range(REPEATS):
    rng = np.random.default_rng(repeat)
    X = rng.uniform(-1, 1, size=(max(SIZES), 2))
    y = rng.random(len(X)) < probability(X)
    for k, n in enumerate(SIZES):
        for gamma in GAMMAS:
            for name, classifier in learners(n, gamma).items():
                regrets[name, gamma][repeat, k] = cost_regret(classifier.fit(X[:n], y[:n]))

# %%
# The linear learner's end: the same loss minimised over all lines on the distribution itself.


def end_of_lines(gamma: float) -> float:
    """The cost regret of the linear function with the smallest expected loss."""
    rows, labels = np.vstack([SQUARE, SQUARE]), np.repeat([True, False], len(SQUARE))
    classifier = learners(1, gamma)["linear"].set_params(C=1.0)
    return cost_regret(classifier.fit(rows, labels, sample_weight=np.concatenate([ETA, 1 - ETA])))


ends = {gamma: end_of_lines(gamma) for gamma in GAMMAS}
for (name, gamma), found in regrets.items():
    print(f"{name}, gamma = {gamma:g}:", " ".join(f"{value:.4f}" for value in found.mean(axis=0)))
print("best lines:", ends)

# %%

figure, axis = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
for (name, gamma), found in regrets.items():
    colour = "#0072B2" if name == "kernel" else "#D55E00"
    line, marker = ("-", "o") if gamma == GAMMAS[0] else ("--", "s")
    mean, spread = found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(REPEATS)
    axis.errorbar(
        SIZES, mean, 2 * spread, color=colour, linestyle=line, marker=marker, markersize=4, capsize=2,
        label=f"{name} SVM, gamma = {gamma:g}",
    )  # fmt: skip
for gamma, line in zip(GAMMAS, (":", "-."), strict=True):
    axis.axhline(ends[gamma], color="#666666", linestyle=line, linewidth=1, label=f"best line, gamma = {gamma:g}")
axis.set(xscale="log", yscale="log", xlabel="training rows", ylabel="cost regret")
axis.set_title(f"Mean of {REPEATS} samples with two standard errors", fontsize=9)
axis.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
axis.set_yticks([0.0005, 0.001, 0.002, 0.005, 0.01, 0.02], ["0.0005", "0.001", "0.002", "0.005", "0.01", "0.02"])
axis.minorticks_off()
handles, labels = axis.get_legend_handles_labels()
axis.legend(handles[2:] + handles[:2], labels[2:] + labels[:2], fontsize=8)  # the fits first

# %%
# ``python examples/plot_consistent_learners.py FILE`` also writes the picture, which is in docs/theory.md.

if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=160)
