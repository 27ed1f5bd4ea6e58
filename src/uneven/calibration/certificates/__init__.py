"""Machine-checkable proofs that a loss is, or is not, calibrated."""

from uneven.calibration.certificates.checker import verify
from uneven.calibration.certificates.document import Certificate
from uneven.calibration.certificates.prover import certify

__all__ = ["Certificate", "certify", "verify"]
