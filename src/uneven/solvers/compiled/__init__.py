"""Loops compiled by Numba; every file here holds functions without state.

They are reached as ``compiled.passes.add_rows`` and imported on first use: Numba's start takes as long as hundreds of
small fits, which do without.
"""

from pkgutil import iter_modules
from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.solvers.compiled import careful_sums as careful_sums
    from uneven.solvers.compiled import column_choice as column_choice
    from uneven.solvers.compiled import dual_epoch as dual_epoch
    from uneven.solvers.compiled import gram_products as gram_products
    from uneven.solvers.compiled import kinked_passes as kinked_passes
    from uneven.solvers.compiled import line_passes as line_passes
    from uneven.solvers.compiled import passes as passes
    from uneven.solvers.compiled import quadratic_descent as quadratic_descent
    from uneven.solvers.compiled import row_space_passes as row_space_passes
    from uneven.solvers.compiled import smooth_steps as smooth_steps
    from uneven.solvers.compiled import survey_passes as survey_passes

_MODULES = tuple(module.name for module in iter_modules(__path__))

__getattr__, __dir__ = on_first_use(__name__, {}, _MODULES)
