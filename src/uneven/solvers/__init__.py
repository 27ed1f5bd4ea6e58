"""How to minimise a sum of losses over data: linear and kernel scores, online passes, and their compiled loops."""
