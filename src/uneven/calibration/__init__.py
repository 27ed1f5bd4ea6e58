"""What is true of a loss: which costs it is calibrated for, and what a small training loss guarantees."""

from uneven.calibration.analysis import Analysis, TightDistribution, analyze
from uneven.calibration.calibrated_losses import calibrated_loss
from uneven.calibration.certificate import Certificate, Verification, verify
from uneven.calibration.certifier import certify
from uneven.calibration.claim import Claim, OnlyAlpha
from uneven.calibration.finite_distribution import FiniteDistribution
from uneven.calibration.implied_costs import ImpliedAlpha, implied_alpha
from uneven.calibration.verdict import Verdict

__all__ = [
    "Analysis",
    "Certificate",
    "Claim",
    "FiniteDistribution",
    "ImpliedAlpha",
    "OnlyAlpha",
    "TightDistribution",
    "Verdict",
    "Verification",
    "analyze",
    "calibrated_loss",
    "certify",
    "implied_alpha",
    "verify",
]
