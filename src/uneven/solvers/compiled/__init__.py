"""Loops compiled by Numba; every file here holds functions without state."""
