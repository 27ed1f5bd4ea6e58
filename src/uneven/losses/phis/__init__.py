"""One file per registered phi; a new file here is a new phi."""
