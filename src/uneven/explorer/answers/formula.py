"""A formula as it is typed."""

from __future__ import annotations

from typing import Any

from uneven.explorer.answers.refusal import Refusal, in_field
from uneven.expression import parse
from uneven.expression.mathml import to_mathml


def formula(data: Any) -> dict[str, Any]:
    """The text as MathML, as written: nothing is simplified, and it need not be a loss yet."""
    if not isinstance(data, dict) or not isinstance(data.get("text"), str):
        raise Refusal("a formula is a JSON object with a text")
    with in_field(str(data.get("field", "text"))[:20]):
        return {"mathml": to_mathml(parse(data["text"]))}
