"""The models that decide about new rows: members with a weight, fitted to all rows if the time suffices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import clone

from uneven.errors import sentence
from uneven.inputs import exact, warn_caller
from uneven.learners.background import Ending, run_parts
from uneven.learners.ensemble.latency import Limits, time_members
from uneven.learners.ensemble.member_models import LinearPath, constrain, has_settings
from uneven.learners.ensemble.mixture import FittedMember, Mixture
from uneven.learners.ensemble.training import Choice, Task, Trial
from uneven.learners.out_of_fold import (
    weight_parameters,
)
from uneven.learners.worker_processes import PartFailed, SharedRows


def limits_of(task: Task, trial: Trial, members_at_most: int | None, max_latency: Any) -> Limits | None:
    """What the parameters of the learner ask for; members are measured if needed."""
    if max_latency is None:
        return None if members_at_most is None else Limits(members_at_most)
    members = {name: _member(task, choice, 1.0, None).first for name, choice in trial.choices.items()}
    view_of = {name: choice.entry.view for name, choice in trial.choices.items() if choice.entry.view is not None}
    limits = Limits(members_at_most, float(exact("max_latency", max_latency)), time_members(members, view_of, task.X))
    assert limits.times is not None
    fastest = limits.possible(list(members))[0]
    if not limits.allow([fastest]):
        warn_caller(
            f"max_latency={max_latency} ms for 1,000 rows is less than any member takes; the fastest, {fastest!r}, "
            f"takes {limits.times.of([fastest]):.2g} ms and is used alone"
        )
    return limits


def final_models(
    task: Task, trial: Trial, weights: Mapping[str, float], tell: Callable[[str], None]
) -> tuple[Mixture, Ending]:
    """The members with a weight, fitted on all rows; where the time does not suffice, the models of the folds."""
    used = {name: trial.choices[name] for name, weight in weights.items() if weight > 0}
    if task.views is not None:
        task.views.forget_folds()
    whole: dict[str, Any] = {}
    ending: Ending = trial.ending
    if ending == "finished":
        names = list(used)

        def fit(name: str) -> Any:
            try:
                return _refit(task, used[name])
            except PartFailed as error:  # the models of the folds are there
                return str(error)
            except Exception as error:
                return sentence(error)

        def receive(number: int, model: Any) -> None:
            if not isinstance(model, str):
                whole[names[number]] = model
            tell(names[number])

        parts = [lambda name=name: fit(name) for name in names]
        workers = min(effective_n_jobs(task.n_jobs), len(parts))
        end = None if task.processes is None else task.processes.close
        ending = run_parts(parts, receive, workers=workers, deadline=task.deadline, end=end)
    members = {name: _member(task, choice, weights[name], whole.get(name)) for name, choice in used.items()}
    trial.of_folds = tuple(name for name in used if name not in whole)
    if trial.limits is not None and trial.limits.milliseconds is not None:  # measured with one model of each member
        members = {name: member.first for name, member in members.items()}
    return Mixture(members), ending


def _refit(task: Task, choice: Choice) -> Any:
    estimator, view = choice.entry.candidate.estimator, str(choice.entry.view)
    rows = task.rows(view, None)
    signs = task.signs(choice.entry.view)
    if isinstance(estimator, LinearPath) and (signs is not None or task.several):
        model = LinearPath((estimator.Cs[choice.number],), estimator.transformer, tol=estimator.tol, signs=signs)
        params: dict[str, Any] = {"sample_weight": task.weight}
    else:
        model = estimator.unfitted_at(choice.number) if has_settings(estimator) else clone(estimator)
        if signs is not None:
            constrain(model, signs)
        params = {} if task.weight is None else weight_parameters(model, task.weight)
    processes = task.processes
    if processes is not None and choice.key not in processes.unsent:
        return processes.call(choice.key, _fit, SharedRows(rows), model, task.labels, params)
    return _fit(*rows, model, task.labels, params)


def _fit(X: Any, _: None, model: Any, labels: np.ndarray, params: Mapping[str, Any]) -> Any:
    fitted = model.fit(X, labels, **params)
    return fitted.fitted_at(0) if isinstance(model, LinearPath) else fitted


def _member(task: Task, choice: Choice, weight: float, whole: Any) -> FittedMember:
    view, result = str(choice.entry.view), choice.result
    folds: list[int | None] = [None] if whole is not None else list(range(len(result.models)))
    if whole is not None:
        models = [whole]
    else:
        several = has_settings(choice.entry.candidate.estimator)
        models = [model.fitted_at(choice.number) if several else model for model in result.models]
    encoders = [None if task.views is None else task.views.encoder(view, fold) for fold in folds]
    return FittedMember(weight, models, encoders, task.positive, result.sigmoid)
