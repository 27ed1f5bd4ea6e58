"""From costs and a fitted model to decisions, and to what they cost in money."""
