"""Certified bounds of psi (placeholder until the main proofs stand)."""

from __future__ import annotations

from typing import Any


def prove_psi(*arguments: Any) -> dict[str, Any]:
    raise NotImplementedError


def check_psi(*arguments: Any) -> None:
    raise NotImplementedError
