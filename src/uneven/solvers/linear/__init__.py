"""Solvers for a linear score: the objective, the data matrix, and what the solvers in ``algorithms`` share."""
