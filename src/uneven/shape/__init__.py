"""What a function is like, decided rigorously: domain, pieces, zeros, continuity, monotone, curvature, limits."""
