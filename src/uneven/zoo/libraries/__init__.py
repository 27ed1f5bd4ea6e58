"""One file per library; each ends in a record ``LIBRARY``."""
