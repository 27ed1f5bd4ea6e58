"""The ensemble: families of members, their weights, and the classifier made of them."""
