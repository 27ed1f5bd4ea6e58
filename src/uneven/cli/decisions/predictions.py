"""The table that ``uneven predict`` writes."""

from __future__ import annotations

from typing import Any

import numpy as np

from uneven.cli.decisions.application import Application
from uneven.errors import UnevenError


def prediction_table(used: Application) -> Any:
    """For each row its name, prediction, probability, threshold, expected costs of both decisions, and score."""
    import pandas as pd

    found = used.decisions
    negative, positive = used.words
    columns: dict[str, Any] = {"prediction": np.where(found.said_positive, positive, negative)}
    if found.probability is not None:
        columns["probability"] = found.probability
    columns["threshold"] = found.threshold
    if found.probability is not None:
        columns["cost_if_negative"], columns["cost_if_positive"] = found.expected_costs
    columns["score"] = found.score
    if used.names is not None:
        name, values = used.names
        if name in columns:
            raise UnevenError(f"the column {name!r} that names the rows has the name of a result; rename it")
        columns = {name: values.reset_index(drop=True), **columns}
    return pd.DataFrame(columns)
