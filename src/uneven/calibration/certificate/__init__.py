"""Certificates: the document, its reader, and the checker. Nothing here searches for a proof."""

from uneven.calibration.certificate.checker import Verification, verify
from uneven.calibration.certificate.document import Certificate

__all__ = ["Certificate", "Verification", "verify"]
