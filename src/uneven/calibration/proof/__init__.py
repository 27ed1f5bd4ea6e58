"""Proofs: the rules that may be used, the steps made from them, and the search for both."""
