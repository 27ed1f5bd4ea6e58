"""Our losses in PyTorch and JAX against the libraries' own: forward and backward, as ratios.

    python benchmarks/frameworks.py [--size 256 100000 10000000] [--case torch-eager torch-compiled jax]

The loss is the logistic loss in float32 on the CPU; beside it the hinge, weighted losses and costs of each example.
Ours and the peer take turns within one process. A round repeats a small batch until it takes some milliseconds. Printed
are the medians over the rounds, ours : peer, their ratio and the ratio of the fastest rounds, by elapsed time and by
processor time of all threads. Below 1 ours is faster. Needs the extras ``torch`` and ``jax``.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import uneven

#: Calls before the first round: a loss of ours goes over to compiled code within them.
_FIRST_CALLS = 20
#: Logits of a round, so that a clock can measure it; and the rounds: at least so many, and for so many seconds.
_PER_ROUND, _LEAST_ROUNDS, _SECONDS = 20_000, 9, 3.0


def compare(name: str, ours: Callable[[], Any], peer: Callable[[], Any], size: int) -> None:
    """Print the times of both, which take turns."""
    repeats = max(1, _PER_ROUND // size)
    for _ in range(_FIRST_CALLS):
        ours()
        peer()
    clocks = {"elapsed": time.perf_counter, "processor": time.process_time}
    times: dict[str, dict[str, list[float]]] = {clock: {"ours": [], "peer": []} for clock in clocks}
    end = time.perf_counter() + _SECONDS
    while len(times["elapsed"]["ours"]) < _LEAST_ROUNDS or time.perf_counter() < end:
        for key, run in (("ours", ours), ("peer", peer)):
            start = {clock: read() for clock, read in clocks.items()}
            for _ in range(repeats):
                run()
            for clock, read in clocks.items():
                times[clock][key].append((read() - start[clock]) / repeats)
    shown = []
    for clock, found in times.items():
        ours_, peer_ = (1e6 * statistics.median(found[key]) for key in ("ours", "peer"))
        fastest = min(found["ours"]) / min(found["peer"])
        shown.append(f"{clock} {ours_:7.0f} : {peer_:7.0f} us, ratio {ours_ / peer_:4.2f} (fastest {fastest:4.2f})")
    print(f"{size:9,d} {name:58s} {'   '.join(shown)}", flush=True)


def data(size: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(0)
    t = random.normal(scale=3, size=size).astype(np.float32)
    return t, (random.random(size) < 0.3).astype(np.float32)


def in_torch(size: int, *, compiled: bool) -> None:
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
        compare(f"torch {kind}: {name}", both(ours), both(peer), size)


def in_jax(size: int) -> None:
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
    compare("jax: logistic, optax", both(uneven_loss("logistic")), peer, size)
    compare("jax: logistic for 1:20 and gamma = 3, optax", both(uneven_loss(calibrated)), peer, size)
    compare("jax: hinge, optax's logistic", both(uneven_loss("hinge")), peer, size)


CASES: dict[str, Callable[[int], None]] = {
    "torch-eager": lambda size: in_torch(size, compiled=False),
    "torch-compiled": lambda size: in_torch(size, compiled=True),
    "jax": in_jax,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, nargs="+", default=[256, 4096, 100_000, 1_000_000, 10_000_000])
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    arguments = parser.parse_args()
    for case in arguments.case:
        for size in arguments.size:
            CASES[case](size)


if __name__ == "__main__":
    main()
