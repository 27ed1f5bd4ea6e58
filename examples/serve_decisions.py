"""Decisions over HTTP
===================

A small server: it loads a model file and answers ``POST /decide``. It needs the extra ``explorer``.

.. code-block:: bash

    python examples/serve_decisions.py model.skops --port 8000
    curl http://127.0.0.1:8000/decide -H "content-type: application/json" \\
        -d '{"rows": [{"income": 31, "region": "north"}], "costs": {"fn_cost": 40}, "reasons": 2}'

Costs and reasons may be left out. A cost is a number, or a list with one for each row. What is wrong with a request is
one sentence, with status 400. The server listens on this machine only, under its own name only: a page of another site
that points a name of its own at this machine is refused.

``save`` writes the file of a model that was fitted to a data frame. No pickle is in it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import skops.io
import uvicorn
from sklearn.pipeline import Pipeline
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import uneven
from uneven.costs import COSTS, RowCosts
from uneven.decisions.alpha import probability_thresholds

MOST_BYTES, MOST_ROWS = 1_000_000, 1_000

# %%
# The file
# --------
# Plain data beside the model: the costs, and a few rows to compare with in the reasons.


def save(model: Any, X: pd.DataFrame, path: str, *, rows: int = 32, **costs: float) -> None:
    """Write a fitted model. Every column of the rows is shuffled by itself, so that no training row can be read."""
    random = np.random.default_rng(0)
    columns = {str(name): column.iloc[random.permutation(len(X))[:rows]] for name, column in X.items()}
    background = {name: [_plain(value) for value in column] for name, column in columns.items()}
    skops.io.dump({"model": model, "background": background, "costs": {"tp_cost": 0, "tn_cost": 0} | costs}, path)


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return None if pd.isna(value) else value if isinstance(value, int | float | str) else str(value)


class Service:
    """A model that was loaded, and what it answers. Every error is a ``ValueError`` with one sentence."""

    def __init__(self, path: str) -> None:
        file = skops.io.load(path, trusted=uneven.trusted_types())
        self.model, self.costs = file["model"], file["costs"]
        self.names = list(self.model.feature_names_in_)
        self.background = self.frame(file["background"])
        self.learner = self.model[-1] if isinstance(self.model, Pipeline) else self.model

    def frame(self, columns: Mapping[str, list[Any]]) -> pd.DataFrame:
        """Columns as the model takes them; a missing value is NaN."""
        return pd.DataFrame({name: [np.nan if one is None else one for one in columns[name]] for name in self.names})

    def answer(self, question: Any) -> dict[str, Any]:
        """Decision, probability, threshold and reasons of each row."""
        if not isinstance(question, dict) or not {"rows"} <= set(question) <= {"rows", "costs", "reasons"}:
            raise ValueError('the body must be an object with rows, such as {"rows": [...], "costs": {"fn_cost": 40}}')
        most = question.get("reasons", 0)
        if type(most) is not int or not 0 <= most <= 20:
            raise ValueError("reasons must be a whole number from 0 to 20")
        X = self.read_rows(question["rows"])
        given = read_costs(question.get("costs", {}), len(X))
        costs = RowCosts.read(len(X), **(self.costs | given))  # an error for costs that are none
        features = self.model[:-1].transform(X) if isinstance(self.model, Pipeline) else X
        decided = self.learner.decide(features, **given)
        found: dict[str, Any] = {
            "decision": decided.action.tolist(),
            "probability": decided.probability.tolist(),
            "threshold": [_plain(one) for one in self.thresholds(costs)],
        }
        if most:
            why = uneven.explain(self.model, X, self.background, **given)
            found["reasons"] = [
                [{"column": one.column, "value": _plain(one.value), "money": one.money} for one in reasons]
                for reasons in why.reasons(most)
            ]
        return {"rows": [dict(zip(found, values, strict=True)) for values in zip(*found.values(), strict=True)]}

    def thresholds(self, costs: RowCosts) -> np.ndarray:
        """The probability above which each row is positive, corrected if the learner does; NaN: below some number."""
        if hasattr(self.learner, "thresholds"):
            return np.asarray(self.learner.thresholds(costs))
        return probability_thresholds(*costs.thresholds())

    def read_rows(self, rows: Any) -> pd.DataFrame:
        """The rows of a request."""
        if not isinstance(rows, list) or not 1 <= len(rows) <= MOST_ROWS:
            raise ValueError(f"rows must be a list of 1 to {MOST_ROWS} rows")
        for number, row in enumerate(rows):
            if not isinstance(row, dict):
                raise ValueError(f"row {number} must be an object by column, got {type(row).__name__}")
            for name in self.names:
                if name not in row:
                    raise ValueError(f"row {number} lacks the column {name!r}; null stands for a missing value")
                if not (isinstance(row[name], str | None) or is_number(row[name])):
                    raise ValueError(f"row {number} must have a number, a text or null as {name!r}")
            if len(row) > len(self.names):
                other = next(name for name in row if name not in self.names)
                raise ValueError(f"row {number} has the column {other!r}, which the model does not know")
        return self.frame({name: [row[name] for row in rows] for name in self.names})


def is_number(value: Any) -> bool:
    """Whether a value of JSON is a number that doubles can hold."""
    return type(value) in (int, float) and abs(value) <= sys.float_info.max


def read_costs(costs: Any, count: int) -> dict[str, Any]:
    """The costs of a request, as ``predict`` takes them."""
    if not isinstance(costs, dict) or not set(costs) <= set(COSTS):
        raise ValueError(f"costs must be an object with some of {', '.join(COSTS)}")
    for name, value in costs.items():
        if not all(map(is_number, value if isinstance(value, list) else [value])):
            raise ValueError(f"{name} must be a number, or a list of numbers")
        if isinstance(value, list) and len(value) != count:
            raise ValueError(f"{name} must have one entry for each row, got {len(value)} for {count} rows")
    return {name: np.array(value, dtype=float) if isinstance(value, list) else value for name, value in costs.items()}


# %%
# The server
# ----------


def application(service: Service, hosts: tuple[str, ...] = ("127.0.0.1", "localhost")) -> Starlette:
    """The routes. Models are asked in a thread, so that a long answer does not keep others from being heard."""

    async def decide(request: Request) -> JSONResponse:
        try:
            if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
                raise ValueError("the content type must be application/json")  # a form of another site cannot send it
            return JSONResponse(await run_in_threadpool(service.answer, parse(await read_body(request))))
        except ValueError as error:
            return JSONResponse({"error": " ".join(str(error).split())}, status_code=400)

    async def health(request: Request) -> JSONResponse:
        return JSONResponse({"model": type(service.learner).__name__, "columns": service.names})

    routes = [Route("/decide", decide, methods=["POST"]), Route("/health", health)]
    return Starlette(routes=routes, middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=list(hosts))])


async def read_body(request: Request) -> bytes:
    """The body, as long as it is not too long."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise ValueError(f"the body may have at most {MOST_BYTES} bytes")
    return bytes(body)


def parse(body: bytes) -> Any:
    """The body as JSON: without NaN and Infinity, which Python would read."""

    def refuse(name: str) -> Any:
        raise ValueError(f"{name} is no JSON; null stands for a missing value")

    try:
        return json.loads(body, parse_constant=refuse)
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("the body must be JSON") from None


def main() -> None:
    """Serve the model of a file on this machine."""
    parser = argparse.ArgumentParser(description="Answer POST /decide with the model of a file that save() wrote.")
    parser.add_argument("file")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    uvicorn.run(application(Service(given.file)), host="127.0.0.1", port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
