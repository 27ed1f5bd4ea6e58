"""The curves of the paper in floats: H, nu, mu, psi and its inverse."""
