"""The two ways to use costs of each row.

"learn": the rows are weighted by their costs, and the threshold is 0. "decide": the fit uses the costs of the
constructor, and the threshold is the probability at which the row's own costs change the decision.
"""

from __future__ import annotations

LEARN, DECIDE = WAYS = ("learn", "decide")
