"""The linear solvers: one file each, found automatically. Each file ends in its record, ``SOLVER``."""
