"""Proofs: the rules that a proof may use, the steps that it consists of, and the search for them."""
