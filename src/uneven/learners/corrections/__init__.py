"""Corrections of a model's log-odds, found from out-of-fold rows; one method per file."""
