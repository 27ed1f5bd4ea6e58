"""Properties of a function: domain, pieces, zeros, continuity, direction, curvature, limits at infinity."""
