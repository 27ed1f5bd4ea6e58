"""How numbers behave: one file per arithmetic in which a tree can be evaluated."""

from uneven.ops.evaluate import Arithmetic, evaluate

__all__ = ["Arithmetic", "evaluate"]
