"""What is true of a loss: which costs it is calibrated for, and what a small training loss guarantees.

Names are imported on first use: a fit needs few of them.
"""

from typing import TYPE_CHECKING

from uneven._lazy import on_first_use

if TYPE_CHECKING:
    from uneven.calibration.analysis import Analysis as Analysis
    from uneven.calibration.analysis import TightDistribution as TightDistribution
    from uneven.calibration.analysis import analyze as analyze
    from uneven.calibration.calibrated_losses import calibrated_loss as calibrated_loss
    from uneven.calibration.certifier import certify as certify
    from uneven.calibration.conditional_risk import FiniteDistribution as FiniteDistribution
    from uneven.calibration.implied_costs import ImpliedAlpha as ImpliedAlpha
    from uneven.calibration.implied_costs import implied_alpha as implied_alpha
    from uneven.calibration.implied_ratios import ImpliedPrior as ImpliedPrior
    from uneven.calibration.implied_ratios import implied_prior as implied_prior
    from uneven.calibration.prior_analysis import PriorAnalysis as PriorAnalysis
    from uneven.calibration.trusted.claims import Claim as Claim
    from uneven.calibration.trusted.claims import OnlyAlpha as OnlyAlpha
    from uneven.calibration.verdict import Verdict as Verdict
    from uneven.calibration.verification import Certificate as Certificate
    from uneven.calibration.verification import Verification as Verification
    from uneven.calibration.verification import verify as verify

_HOME = {
    "Analysis": "uneven.calibration.analysis",
    "Certificate": "uneven.calibration.verification",
    "Claim": "uneven.calibration.trusted.claims",
    "FiniteDistribution": "uneven.calibration.conditional_risk",
    "ImpliedAlpha": "uneven.calibration.implied_costs",
    "ImpliedPrior": "uneven.calibration.implied_ratios",
    "OnlyAlpha": "uneven.calibration.trusted.claims",
    "PriorAnalysis": "uneven.calibration.prior_analysis",
    "TightDistribution": "uneven.calibration.analysis",
    "Verdict": "uneven.calibration.verdict",
    "Verification": "uneven.calibration.verification",
    "analyze": "uneven.calibration.analysis",
    "calibrated_loss": "uneven.calibration.calibrated_losses",
    "certify": "uneven.calibration.certifier",
    "implied_alpha": "uneven.calibration.implied_costs",
    "implied_prior": "uneven.calibration.implied_ratios",
    "verify": "uneven.calibration.verification",
}

__all__ = sorted(_HOME)  # noqa: PLE0605 - a list of strings
__getattr__, __dir__ = on_first_use(__name__, _HOME)
