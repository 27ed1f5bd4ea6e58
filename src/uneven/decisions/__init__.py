"""Probabilities and costs in, decisions out; nothing here knows how a model is fitted."""
