"""Ways to prove or refute calibration, one file per theorem."""
