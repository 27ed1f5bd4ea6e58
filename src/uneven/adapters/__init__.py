"""Losses and models in other libraries; each submodule needs the extra of its name and is imported by that name."""
