"""A and B, over t > 0 and t <= 0, of a loss on a fine grid, to check claims about losses without reference values."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from uneven.calibration import Certificate
from uneven.losses import Loss, phi
from uneven.losses.loss import _rebuilt
from uneven.losses.partial import Partial

_T = np.concatenate([[0.0], np.geomspace(1e-9, 1e6, 60_001), np.linspace(0, 12, 24_001)[1:]])


class Truth:
    """A and B by brute force. For losses of moderate scale, infima over a grid slightly exceed the true ones."""

    def __init__(self, loss: Loss) -> None:
        t = np.unique(np.concatenate([_T, -_T]))
        with np.errstate(all="ignore"):
            self.values = np.array([loss.positive(t), loss.negative(t)])
        self.right, self.left = t > 0, t <= 0

    @classmethod
    def of_document(cls, data: dict[str, Any]) -> Truth:
        """The truth about the loss that a certificate names, read without its checker."""
        partials = (
            Partial(phi(part["function"]), Fraction(part["weight"]), Fraction(part["scale"]))
            for part in (data["positive"], data["negative"])
        )
        return cls(_rebuilt(*partials, None))

    def difference(self, eta: float) -> tuple[float, float]:
        """A - B and the scale of its error."""
        with np.errstate(all="ignore"):
            risk = sum(w * v for w, v in zip((eta, 1 - eta), self.values, strict=True) if w > 0)
        a, b = float(np.min(risk[self.right])), float(np.min(risk[self.left]))
        return a - b, 1e-6 * max(a, b, 1e-300)

    def require(self, certificate: Certificate) -> None:
        """The claim of a certificate must agree with the grid where the grid is precise enough."""
        kind = certificate.document["claim"]["kind"]
        if kind in ("calibrated", "calibrated within", "calibrated elsewhere"):
            assert certificate.interval is not None
            low, high = map(float, certificate.interval)
            for share in (0.0, 0.2, 0.6, 0.9, 0.99):
                below, error = self.difference(low * share)
                assert below > -error, (low * share, below, str(certificate))
                above, error = self.difference(1 - (1 - high) * share)
                assert above < error, (1 - (1 - high) * share, above, str(certificate))
        elif kind == "not calibrated":
            eta, alpha = certificate.witness, certificate.alpha
            assert eta is not None
            assert alpha is not None
            gap, error = self.difference(float(eta))
            assert gap * (1 if eta < alpha else -1) <= error, (eta, gap, str(certificate))
        elif kind == "calibrated for no alpha":
            assert not self._crosses_once(), str(certificate)

    def _crosses_once(self) -> bool:
        """Whether A - B is clearly positive, then clearly negative."""
        signs = []
        for eta in np.linspace(0, 1, 41):
            gap, error = self.difference(float(eta))
            signs.append(0 if abs(gap) <= error else int(np.sign(gap)))
        unclear = signs.count(0)
        falls = all(a >= b for a, b in pairwise(signs))
        return signs[0] > 0 > signs[-1] and falls and unclear <= 2
