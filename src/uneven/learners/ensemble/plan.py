"""What all members of an ensemble are trained on, and the estimators to try."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples

from uneven.errors import ParameterError
from uneven.inputs import brief
from uneven.learners.ensemble.class_costs import keep_several
from uneven.learners.ensemble.members import FAMILIES, LARGE, Candidate, Size, choose_families, families_named
from uneven.learners.ensemble.mixture import Views, count_bytes
from uneven.learners.ensemble.monotone_columns import keep_monotone, named_columns, read_monotone, signs_of_columns
from uneven.learners.ensemble.training import Entry, Task
from uneven.learners.folds import Split
from uneven.learners.out_of_fold import AllClasses
from uneven.learners.worker_processes import WorkerProcesses, can_start_processes
from uneven.parts.sources import available_memory

#: Numbers in a table below which each fit of our own members takes less than a second or two, which is what starting a
#: process takes: then a time limit is kept by threads, which begin nothing when the time is over.
_QUICK = 100_000

#: Memory of a fit, in matrices that it learns from: twice what the greediest member took on 100,000 to 300,000 rows of
#: 30 numbers; and what the libraries of a process take.
_COPIES, _OF_A_PROCESS = 6, 250_000_000


@dataclass(frozen=True)
class Asked:
    """The parameters of the learner that say what is trained.

    Attributes
    ----------
    members : "auto", list of str, or dict of str to classifier
    monotone : dict or None
    n_jobs : int or None
    random_state : int, RandomState or None
    deadline : float or None
        A value of ``time.monotonic()``.
    """

    members: Any
    monotone: Any
    n_jobs: int | None
    random_state: Any
    deadline: float | None

    @property
    def jobs(self) -> int | None:
        """Fits at the same time: those of our members use one core each, others may use threads themselves."""
        return -1 if self.n_jobs is None and not is_mapping(self.members) else self.n_jobs

    def within_memory(self, matrix: int, processes: WorkerProcesses | None) -> tuple[int, float | None]:
        """Fits at the same time, no more than memory allows, and the deadline.

        One at a time, because of memory, is fitted as several are: in a thread, with one thread of BLAS. Then what
        memory is free makes no difference to the last bit.
        """
        each = _COPIES * matrix + (_OF_A_PROCESS if processes is not None else 0)
        wanted = effective_n_jobs(self.jobs)
        fits = min(wanted, max(1, available_memory() // max(1, each)))
        deadline = math.inf if fits < wanted and self.deadline is None else self.deadline
        return int(fits), deadline

    def start_processes(self, X: Any) -> AbstractContextManager[WorkerProcesses | None]:
        """Processes for the fits, if some may take longer than the time that is left."""
        cells = _num_samples(X) * (X.shape[1] if len(getattr(X, "shape", ())) == 2 else 1)
        quick = cells < _QUICK and not is_mapping(self.members)
        if self.deadline is None or quick or not can_start_processes():
            return nullcontext()
        return WorkerProcesses(effective_n_jobs(self.jobs))


def plan(
    asked: Asked,
    X: Any,
    labels: np.ndarray,
    positive: Any,
    is_positive: np.ndarray,
    weight: np.ndarray | None,
    parts: Sequence[Split],
    processes: WorkerProcesses | None = None,
) -> tuple[Task, list[Entry]]:
    """What all members are trained on, and the estimators to try."""
    if is_mapping(asked.members):
        jobs, deadline = asked.within_memory(count_bytes(X), processes)
        task = Task(X, labels, positive, is_positive, weight, parts, jobs, deadline, None, processes=processes)
        return task, [Entry(name, Candidate(member, ({},))) for name, member in asked.members.items()]
    target = is_positive.astype(np.int64)
    views = Views(X, target, parts)
    monotone = named_columns(read_monotone(asked.monotone), X)
    chosen = None if asked.members == "auto" else families_named(list(asked.members))
    needed = {family.view for family in (FAMILIES.values() if chosen is None else chosen)}
    size = Size(labels.size)
    for view in sorted(needed):
        views.of(view)  # now, so that an error is one about X
        if size.large:
            views.forget(view)  # made again for the final models: the folds need the memory now
    families = chosen or choose_families({view: _sizes_in_folds(X, views, view) for view in needed})
    families, unable = keep_monotone(families, monotone)
    several = isinstance(positive, AllClasses)
    if several:
        families, unable = keep_several(families)
    for view in {family.view for family in families} if monotone else ():
        signs_of_columns(views.encoder(view), monotone)  # now, so that an error is one about X
    seed = 0 if asked.random_state is None else int(check_random_state(asked.random_state).randint(2**31 - 1))
    entries = [
        Entry(family.name, candidate, family.view, family.effort)
        for family in families
        for candidate in family.candidates(size, seed)
    ]
    classes = AllClasses(np.arange(len(positive.labels))) if several else 1
    jobs, deadline = asked.within_memory(views.most_bytes, processes)
    task = Task(
        X,
        target,
        classes,
        is_positive,
        weight,
        parts,
        jobs,
        deadline,
        views,
        monotone,
        unable,
        processes=processes,
    )
    return task, entries


def require_members(members: Any, monotone: Any) -> None:
    """Raise unless ``members`` are "auto", known names, or classifiers by name that can be ``monotone``."""
    if is_mapping(members):
        if read_monotone(monotone):
            raise ParameterError(
                "monotone is for members that are named, got a dictionary of classifiers: constrain each yourself, "
                "such as HistGradientBoostingClassifier(monotonic_cst=...)"
            )
        for name, member in members.items():
            if not isinstance(name, str) or not hasattr(member, "fit") or isinstance(member, type):
                raise ParameterError(f"members must be classifiers by name, got {brief(name)}: {brief(member)}")
        if not members:
            raise ParameterError("members is empty; give at least one classifier by name")
        return
    read_monotone(monotone)
    if isinstance(members, list | tuple):
        families_named(list(members))
    elif not isinstance(members, str) or members != "auto":
        raise ParameterError(
            f"members must be 'auto', a list of names or a dictionary of classifiers, got {brief(members)}"
        )


def is_mapping(members: Any) -> bool:
    """Whether the members are classifiers of the user's own."""
    return isinstance(members, Mapping)


def _sizes_in_folds(X: Any, views: Views, view: str) -> list[Size]:
    """The size of what each fold learns from: no row that a fold tests has a say in what is tried on it.

    Of arrays, and of tables with so many rows that their columns do not matter, it is known without a look.
    """
    rows = _num_samples(X)
    if rows > LARGE or isinstance(X, np.ndarray):
        return [Size(rows, max(1, X.shape[1]), sparse.issparse(X))]
    return [views.size(view, fold) for fold in range(len(views.splits))]
