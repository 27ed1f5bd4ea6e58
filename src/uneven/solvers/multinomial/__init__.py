"""Linear scores of several classes or actions, fitted together, with a proved duality gap."""
