"""How a person uses it: the command, the explorer, reports, files and saved models."""
