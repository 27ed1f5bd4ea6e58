"""The recipe for Spark in docs/scale.md, run as it stands there."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from places import DOCS

import uneven

# Not in the extra dev: it is 400 MB, and needs Java.
pyspark_sql = pytest.importorskip("pyspark.sql", reason="PySpark is not installed; the recipe was run by hand with it")
pytestmark = pytest.mark.filterwarnings("ignore")  # of PySpark

PAGE = DOCS / "scale.md"


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = pyspark_sql.SparkSession.builder.master("local[2]").config("spark.driver.host", "127.0.0.1")
    session = builder.config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "4").getOrCreate()
    yield session
    session.stop()


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
def test_the_recipe_gives_the_numbers_of_the_fit_in_memory(spark: Any, loss: str) -> None:
    section = PAGE.read_text(encoding="utf-8").split("\n## Spark\n")[1].split("\n## ")[0]
    (recipe,) = re.findall(r"^```python\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(recipe, str(PAGE), "exec"), names)
    random = np.random.default_rng(0)
    X = random.normal(size=(2000, 3))
    y = X[:, 0] + random.logistic(size=2000) > 2
    columns = ["a", "b", "c"]
    rows = [(*map(float, row), bool(label)) for row, label in zip(X, y, strict=True)]
    frame = spark.createDataFrame(rows, [*columns, "fraud"]).repartition(3)
    model = names["fit_on_spark"](uneven.UnevenLinearClassifier(loss, fn_cost=10, tol=1e-8), frame, columns, "fraud")
    alone = uneven.UnevenLinearClassifier(loss, fn_cost=10, tol=1e-8).fit(X, y)
    assert model.objective_ == pytest.approx(alone.objective_, rel=2e-8)
    assert model.duality_gap_ <= 1e-8 * model.objective_
    assert np.mean(model.predict(X) != alone.predict(X)) < 0.01
