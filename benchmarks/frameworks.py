"""Our losses in PyTorch and JAX against the libraries' own: forward and backward, as ratios.

    python benchmarks/frameworks.py [--size 10000000] [--rounds 15] [--case torch-eager torch-compiled jax]

The loss is the logistic loss in float32 on the CPU; beside it the hinge, weighted losses and costs of each example.
Ours and the peer take turns within one process. Printed are the fastest rounds, ours : peer, their ratio and the median
of the ratios of neighbouring rounds, by elapsed time and by processor time of all threads. Below 1 ours is faster.
Needs the extras ``torch`` and ``jax``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import uneven


def compare(name: str, ours: Callable[[], Any], peer: Callable[[], Any], rounds: int) -> None:
    """Print the times of both, which take turns."""
    for _ in range(2):
        ours()
        peer()
    clocks = {"elapsed": time.perf_counter, "processor": time.process_time}
    times: dict[str, dict[str, list[float]]] = {clock: {"ours": [], "peer": []} for clock in clocks}
    for _ in range(rounds):
        for key, run in (("ours", ours), ("peer", peer)):
            start = {clock: read() for clock, read in clocks.items()}
            run()
            for clock, read in clocks.items():
                times[clock][key].append(read() - start[clock])
    shown = []
    for clock, found in times.items():
        best = {key: 1e3 * min(values) for key, values in found.items()}
        median = statistics.median(a / b for a, b in zip(found["ours"], found["peer"], strict=True))
        shown.append(
            f"{clock} {best['ours']:6.0f} : {best['peer']:4.0f} ms, ratio {best['ours'] / best['peer']:4.2f}"
            f" (median {median:4.2f})"
        )
    print(f"{name:58s} {'   '.join(shown)}", flush=True)


def data(size: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    t = random.normal(scale=3, size=size).astype(np.float32)
    return t, (random.random(size) < 0.3).astype(np.float32)


def in_torch(size: int, rounds: int, *, compiled: bool) -> None:
    import torch

    from uneven.adapters.torch import UnevenLoss

    t, y = (torch.from_numpy(values) for values in data(size))
    t.requires_grad_()
    costs = torch.rand(size) + 0.5

    def both(function: Callable[..., Any]) -> Callable[[], None]:
        def run() -> None:
            t.grad = None
            function(t, y).backward()

        return run

    kind = "compiled" if compiled else "eager"
    bce = torch.nn.BCEWithLogitsLoss()
    weighted = torch.nn.BCEWithLogitsLoss(pos_weight=torch.tensor(20.0))
    of_each = torch.nn.BCEWithLogitsLoss(weight=costs)
    calibrated = UnevenLoss(uneven.calibrated_loss("logistic", alpha="1/21", gamma=3))
    logistic = UnevenLoss("logistic")
    cases: dict[str, tuple[Any, Any]] = {
        "logistic, BCEWithLogitsLoss": (logistic, bce),
        "logistic for 1:20 and gamma = 3, pos_weight": (calibrated, weighted),
        "costs of each example, weight": (lambda a, b: logistic(a, b, fp_cost=costs, fn_cost=costs), of_each),
        "hinge, BCEWithLogitsLoss": (UnevenLoss("hinge"), bce),
    }
    for name, pair in cases.items():
        ours, peer = (torch.compile(f, fullgraph=True) if compiled else f for f in pair)
        compare(f"torch {kind}: {name}", both(ours), both(peer), rounds)


def in_jax(size: int, rounds: int) -> None:
    import jax
    import jax.numpy as jnp
    import optax

    from uneven.adapters.jax import uneven_loss

    t, y = (jnp.asarray(values) for values in data(size))

    def both(function: Callable[..., Any]) -> Callable[[], None]:
        step = jax.jit(jax.value_and_grad(lambda logits, labels: function(logits, labels).mean()))
        return lambda: jax.block_until_ready(step(t, y))

    peer = both(optax.sigmoid_binary_cross_entropy)
    calibrated = uneven.calibrated_loss("logistic", alpha="1/21", gamma=3)
    compare("jax: logistic, optax", both(uneven_loss("logistic")), peer, rounds)
    compare("jax: logistic for 1:20 and gamma = 3, optax", both(uneven_loss(calibrated)), peer, rounds)
    compare("jax: hinge, optax's logistic", both(uneven_loss("hinge")), peer, rounds)


CASES: dict[str, Callable[[int, int], None]] = {
    "torch-eager": lambda size, rounds: in_torch(size, rounds, compiled=False),
    "torch-compiled": lambda size, rounds: in_torch(size, rounds, compiled=True),
    "jax": in_jax,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    for case in arguments.case:
        CASES[case](arguments.size, arguments.rounds)


if __name__ == "__main__":
    main()
