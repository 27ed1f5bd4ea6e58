"""Solvers for a kernel expansion."""
