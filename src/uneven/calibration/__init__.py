"""What is true of a loss: which costs it is calibrated for, and what follows."""

from uneven.calibration.own_alpha import calibrated_loss

__all__ = ["calibrated_loss"]
