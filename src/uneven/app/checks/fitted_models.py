"""``uneven.lint``: the checks on an estimator, a model file or a program."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from uneven.app.checks.coded_checks import Decision, Finding, Model, Place, Scene, run_checks, silenced_lines
from uneven.app.checks.python_source import read_source, zoo_name
from uneven.app.files.file_kinds import parsing
from uneven.errors import CostError, UnevenError
from uneven.inputs import Exact, brief, positive
from uneven.zoo.zoo_loss import decimal

#: A program with more characters is not read: its tree would take gigabytes.
_LONGEST = 20_000_000
_HERE = Place()


def lint(target: Any, *, fp_cost: Exact | None = None, fn_cost: Exact | None = None) -> list[Finding]:
    """What an estimator, a model file or a program gets wrong about costs.

    Parameters
    ----------
    target : estimator, or path of a file that ends in .py or .skops
        An estimator of scikit-learn, XGBoost, LightGBM, CatBoost or this library, fitted or not, also in a pipeline. Of
        a program only the syntax tree is read: nothing is imported or run.
    fp_cost, fn_cost : positive numbers, optional
        What a false positive and a false negative cost; by default those of a model file. Without costs only those
        checks find something that need none.

    Returns
    -------
    list of Finding
        Empty if nothing was found. Every finding has a code, a proof and a remedy.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import FixedThresholdClassifier
    >>> import uneven
    >>> twice = FixedThresholdClassifier(LogisticRegression(class_weight={0: 1, 1: 20}), threshold=1 / 21)
    >>> for found in uneven.lint(twice):
    ...     print(found.code, found.message)
    UNV002 class_weight and threshold both corrected: 20 and 0.04762 together assume 1:400
    >>> uneven.lint(LogisticRegression(class_weight={0: 1, 1: 20}), fp_cost=1, fn_cost=20)
    []
    """
    if (fp_cost is None) != (fn_cost is None):
        raise CostError("fp_cost and fn_cost belong together: give both, or none")
    costs = None
    if fp_cost is not None and fn_cost is not None:
        fp, fn = (decimal(name, cost) for name, cost in (("fp_cost", fp_cost), ("fn_cost", fn_cost)))
        costs = positive("fp_cost", fp, CostError), positive("fn_cost", fn, CostError)
    silenced: dict[int, set[str]] = {}
    if isinstance(target, str | Path):
        scene, silenced = _read_file(str(target))
    else:
        scene = _read_estimator(target)
    if costs is not None:
        scene.costs = costs
    return run_checks(scene, silenced)


def _read_file(path: str) -> tuple[Scene, dict[int, set[str]]]:
    if path.lower().endswith(".py"):
        source = Path(path).read_bytes()
        if len(source) > _LONGEST:
            raise UnevenError(f"{path} is too long to be read as a program; at most {_LONGEST:,} bytes are")
        try:
            text = source.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise UnevenError(f"{path} is not UTF-8 text, so it is not read as a program") from None
        return read_source(path, text), silenced_lines(text)
    if path.lower().endswith(".skops"):
        return _read_skops(path), {}
    raise UnevenError(f"lint takes an estimator, or a file that ends in .py or .skops, got {brief(path)}")


def _read_skops(path: str) -> Scene:
    """A model file of ``uneven fit``, with its costs, or one that holds an estimator of scikit-learn."""
    import skops.io

    from uneven.app.files.file_kinds import require_unpackable
    from uneven.learners.trusted_types import trusted_types

    require_unpackable(path, "model file")
    with parsing(path, "model file"):
        unknown = set(skops.io.get_untrusted_types(file=path)) - set(trusted_types())
        if unknown:
            raise UnevenError(f"{path} holds a type that is not trusted, {brief(sorted(unknown)[0])}: it is not opened")
        content = skops.io.load(path, trusted=list(trusted_types()))
        return _read_content(content)


def _read_content(content: Any) -> Scene:
    if not isinstance(content, dict):
        return _read_estimator(content)
    scene = _read_estimator(content.get("pipeline"))
    given = content.get("about", {}).get("costs", {})
    try:
        costs = [positive(name, given.get(name), CostError) for name in ("fp_cost", "fn_cost")]
        plain = all(str(given.get(name, "0")) in ("0", "0.0") for name in ("tp_cost", "tn_cost"))
        scene.costs = (costs[0], costs[1]) if plain else None
    except UnevenError:  # costs of rows: there is no one ratio
        scene.costs = None
    return scene


def _read_estimator(estimator: Any) -> Scene:
    """What an estimator says about itself."""
    if not hasattr(estimator, "get_params"):
        raise UnevenError(f"lint takes an estimator, or a file that ends in .py or .skops, got {brief(estimator)}")
    scene = Scene()
    cut: Fraction | None = None
    while True:
        name = type(estimator).__name__
        parameters = estimator.get_params(deep=False)
        if name == "Pipeline":
            scene.resamplers += [
                (type(step).__name__, _HERE) for _, step in estimator.steps if hasattr(step, "fit_resample")
            ]
            estimator = estimator.steps[-1][1]
        elif name in ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"):
            scoring = parameters.get("scoring")
            metric = "accuracy" if scoring is None else scoring
            scene.scorings += [(metric, _HERE, name)] if isinstance(metric, str) else []
            estimator = getattr(estimator, "best_estimator_", parameters["estimator"])
        elif name == "FixedThresholdClassifier":
            given = parameters.get("threshold")
            if not isinstance(given, int | float) or not 0 < given < 1:
                return scene
            cut = Fraction(given).limit_denominator(10**6)
            estimator = getattr(estimator, "estimator_", parameters["estimator"])
        elif name == "TunedThresholdClassifierCV":
            metric = parameters.get("scoring")
            scene.scorings += [(metric, _HERE, name)] if isinstance(metric, str) else []
            return scene
        elif name == "CalibratedClassifierCV":
            model = Model(name, "sklearn.linear_model.LogisticRegression")
            break
        elif name == "LogisticRule" and parameters.get("way") == "plain":  # of a model file of ours
            model = Model("plain logistic regression", "sklearn.linear_model.LogisticRegression")
            break
        else:
            library = type(estimator).__module__.partition(".")[0]
            found = zoo_name(library, name)
            if found is None:
                return scene
            known = {key: value for key, value in parameters.items() if value is not None}
            model = Model(name, found[0], {**known, **found[1]})
            break
    scene.models.append(model)
    scene.decisions.append(Decision(model, _HERE, cut))
    return scene
