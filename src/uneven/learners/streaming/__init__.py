"""Fits on rows that need not fit into memory: where rows come from, and how they reach the solver in blocks."""
