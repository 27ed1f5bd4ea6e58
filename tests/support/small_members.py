"""Members with few trees and rounds: most tests need no accuracy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from uneven.learners.ensemble import members
from uneven.learners.ensemble.member_models import BoostingRounds, Forest


def use_small_members(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every family try its first estimator only, with few trees or rounds."""
    for name, family in members.FAMILIES.items():

        def small(size: Any, seed: int, made: Any = family.candidates) -> list[Any]:
            found = made(size, seed)[:1]
            for one in found:
                if isinstance(one.estimator, Forest):
                    one.estimator.set_params(n_estimators=8)
                if isinstance(one.estimator, BoostingRounds):
                    one.estimator.set_params(rounds=tuple(5 * (k + 1) for k in range(len(one.settings))))
            return found

        monkeypatch.setitem(members.FAMILIES, name, replace(family, candidates=small))
