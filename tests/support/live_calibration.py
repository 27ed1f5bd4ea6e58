"""Reference values for a phi that is not in the calibration table, computed by brute force from its expression."""

from __future__ import annotations

from functools import cache

import numpy as np
from make_calibration_reference import Threshold
from reference_sides import Phi, Sides, mp
from sentence_reference import function_of

import uneven

ALPHAS, GAMMAS = (0.25, 0.5), (0.5, 2.0)
ETAS = (0.0, 0.11, 0.43, 0.77, 1.0)
SHARES = (0.3, 0.9)  # of the smaller of alpha and 1 - alpha


@cache
def computed_rows(name: str) -> dict[str, dict[tuple[float, float], np.ndarray]]:
    """(eta, C*, C^-, H) and (eps, nu, mu, psi) by (alpha, gamma); mu = nu if phi is monotone up to its minimiser.

    psi is NaN: it is not computed.
    """
    declared, parameters = uneven.losses.declared(name), uneven.phi(name).exact_parameters
    assert declared.limits is not None
    low, high = (function_of(limit, parameters, mp)(mp.zero) for limit in declared.limits)
    phi = Phi(function_of(declared.sentence, parameters, mp), low, high)
    found: dict[str, dict[tuple[float, float], np.ndarray]] = {"conditional": {}, "bounds": {}}
    for gamma in GAMMAS:
        sides = Sides(name, gamma, phi)
        for alpha in ALPHAS:
            threshold = Threshold(sides, alpha)
            conditional = [threshold.conditional(eta)[3:] for eta in ETAS]
            eps = [mp.mpf(float(threshold.b * share)) for share in SHARES]
            nu = [threshold.nu(x) for x in eps]
            table = np.array([[float(x) for x in row] for row in conditional])
            table[table[:, 3] < 1e-20 * table[:, 2], 3] = 0.0  # two equal minima, each found to 26 digits
            found["conditional"][alpha, gamma] = table
            bounds = [[float(x), float(y), float(y), np.nan] for x, y in zip(eps, nu, strict=True)]
            found["bounds"][alpha, gamma] = np.array(bounds)
    return found
