"""A real table with real costs that comes with the library, to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from uneven.errors import needs_extra
from uneven.inputs import require_choice

_FILE = Path(__file__).parent / "data" / "bank_calls.csv.gz"
#: What a call costs, the share of the balance that becomes a deposit, and the interest that it earns, in euros.
CALL, DEPOSIT, INTEREST = 1.0, 0.25, 0.02463333
#: One row of so many is a test row.
_EVERY = 4


def load_example(rows: str = "all") -> tuple[Any, Any, dict[str, Any]]:
    """Whom to call: 12,644 clients of a bank, whether they subscribed, and what each decision costs in euros.

    A call costs 1 euro. A client who would have subscribed and is not called costs the interest on a quarter of the
    balance, so costs differ by client. 12.4 % of the clients subscribed. The table is a part of the bank marketing data
    of Moro, Rita and Cortez (UCI, CC BY 4.0); docs/example-table.md tells how it was chosen.

    Parameters
    ----------
    rows : {"all", "train", "test"}
        All clients, or a fixed three quarters to learn from, or the other quarter: every fourth row.

    Returns
    -------
    X : DataFrame
        What is known of a client before the call, numbers and words.
    y : Series of bool
        Whether the client subscribed.
    costs : dict
        ``fp_cost``, ``fn_cost`` (one for each row) and ``tp_cost``, as ``fit`` and ``predict`` take them.

    Examples
    --------
    >>> import uneven
    >>> X, y, costs = uneven.load_example()
    >>> X.shape, f"{y.mean():.1%} subscribed"
    ((12644, 11), '12.4% subscribed')
    >>> costs["fp_cost"], costs["tp_cost"], costs["fn_cost"][:3].round(2)
    (1.0, 1.0, array([13.2 ,  9.27,  2.75]))
    """
    require_choice("rows", rows, ("all", "train", "test"))
    with needs_extra("the example table", "data"):
        import pandas as pd
    table = pd.read_csv(_FILE)
    if rows != "all":
        test = np.arange(len(table)) % _EVERY == _EVERY - 1
        table = table[test if rows == "test" else ~test].reset_index(drop=True)
    y = table.pop("subscribed") == "yes"
    missed = np.maximum(DEPOSIT * INTEREST * table["balance"].to_numpy(), CALL)
    return table, y, {"fp_cost": CALL, "fn_cost": missed, "tp_cost": CALL}
