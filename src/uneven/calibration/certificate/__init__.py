"""Machine-checkable proofs that a loss is, or is not, calibrated."""

from uneven.calibration.certificate.checker import verify
from uneven.calibration.certificate.document import Certificate
from uneven.calibration.proof.prover import certify

__all__ = ["Certificate", "certify", "verify"]
