"""Methods that prove or refute that a loss is calibrated, one file per theorem."""
