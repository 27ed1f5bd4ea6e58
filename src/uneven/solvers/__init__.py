"""How to minimise a penalised sum of losses of a linear score: the objective, and one algorithm per file."""
