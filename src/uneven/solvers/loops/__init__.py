"""Loops compiled by Numba; every file here holds functions without state.

They are reached as ``loops.passes.add_rows`` and imported on first use: Numba's start takes as long as hundreds of
small fits, which do without.
"""

from pkgutil import iter_modules
from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.solvers.loops import coordinate_descent as coordinate_descent
    from uneven.solvers.loops import kinked_passes as kinked_passes
    from uneven.solvers.loops import newton_steps as newton_steps
    from uneven.solvers.loops import part_passes as part_passes
    from uneven.solvers.loops import passes as passes
    from uneven.solvers.loops import proof_sums as proof_sums
    from uneven.solvers.loops import row_products as row_products

_MODULES = tuple(module.name for module in iter_modules(__path__))

__getattr__, __dir__ = on_first_use(__name__, {}, _MODULES)
