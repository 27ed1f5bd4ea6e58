"""Solvers for a linear score: the objective, the data matrix, and one algorithm per file."""
