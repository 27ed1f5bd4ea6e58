"""Fitted models as source code: one description of what a model computes, and a writer for each language."""
