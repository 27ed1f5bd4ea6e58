"""One file per registered phi. To add a phi, add a file here."""
