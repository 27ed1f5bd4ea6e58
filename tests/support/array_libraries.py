"""PyTorch and JAX as the laws see them: a loss at NumPy arrays, with its first two derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import uneven

#: From a loss, labels -1 and 1 and logits to values, slopes and curvatures, in the precision of the logits.
Jets = Callable[[uneven.Loss, np.ndarray, np.ndarray], list[np.ndarray]]


def torch_jets(loss: uneven.Loss, y: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
    import torch

    from uneven.adapters.torch import UnevenLoss

    logits, labels = torch.from_numpy(t).requires_grad_(), torch.from_numpy(y)
    found = [UnevenLoss(loss, reduction="none")(logits, labels)]
    for _ in range(2):
        found.append(torch.autograd.grad(found[-1].sum(), logits, create_graph=True)[0])
    assert all(values.dtype == logits.dtype for values in found)
    return [values.detach().numpy() for values in found]


def jax_jets(loss: uneven.Loss, y: np.ndarray, t: np.ndarray) -> list[np.ndarray]:
    import jax

    from uneven.adapters.jax import uneven_loss

    with jax.enable_x64(t.dtype == np.float64):
        functions = [uneven_loss(loss)]
        for _ in range(2):
            before = functions[-1]
            functions.append(lambda a, b, f=before: jax.grad(lambda x: f(x, b).sum())(a))
        logits = jax.numpy.asarray(t)
        found = [np.asarray(function(logits, y)) for function in functions]
    assert all(values.dtype == t.dtype for values in found)
    return found


LIBRARIES: dict[str, Jets] = {"torch": torch_jets, "jax": jax_jets}
