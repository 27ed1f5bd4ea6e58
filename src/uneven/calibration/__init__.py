"""What is true of a loss: which costs it is calibrated for, and what a small training loss guarantees."""

from uneven.calibration.analysis import Analysis, TightDistribution, analyze
from uneven.calibration.certificates import Certificate, certify, verify
from uneven.calibration.discrete import FiniteDistribution
from uneven.calibration.implied import ImpliedAlpha, implied_alpha
from uneven.calibration.own_alpha import calibrated_loss
from uneven.calibration.verdict import Verdict

__all__ = [
    "Analysis",
    "Certificate",
    "FiniteDistribution",
    "ImpliedAlpha",
    "TightDistribution",
    "Verdict",
    "analyze",
    "calibrated_loss",
    "certify",
    "implied_alpha",
    "verify",
]
