"""The conditional risk in floats: its infima over the two half lines, and where they cross."""
