"""The families of members that ``members="auto"`` chooses from: one record for each, cheap ones first.

All of them are blind to costs: they learn probabilities, and the costs decide afterwards. They see labels 0 and 1 (1 is
the positive class) and a matrix: the view "linear" or the view "trees" of a FrameEncoder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier

from uneven.errors import MissingExtraError, ParameterError
from uneven.inputs import brief
from uneven.learners.ensemble.member_models import BoostingRounds, Forest, Landmarks, LinearPath, PlattScaled
from uneven.learners.svc import UnevenSVC

#: Up to so many rows every family is tried with several settings, and above as many only fast ones with one setting.
SMALL, LARGE = 5_000, 50_000

#: Columns from which boosting is left out if there are fewer rows: it looks at every column for every split of hundreds
#: of trees, and there is little that it can learn from so few rows.
_WIDE = 1_000

#: Rows that a tree of a forest sees at most, if there are many.
_ROWS_OF_A_TREE = 30_000

#: Up to so many rows a forest has 40 trees: growing 150 took most of the time of a fit. On 30 to 300 rows of the breast
#: cancer and digits data the costs of the two did not differ beyond chance (15 to 25 draws of the rows).
_FEW = 200


@dataclass(frozen=True)
class Size:
    """What a family needs to know about the matrix that it will see.

    Attributes
    ----------
    rows : int
        Of all folds together.
    columns : int
        Of the training rows of a fold: a table gets its columns from their values. 1 if they play no part.
    sparse : bool
    """

    rows: int
    columns: int = 1
    sparse: bool = False

    @property
    def small(self) -> bool:
        """Whether several settings may be tried."""
        return self.rows <= SMALL

    @property
    def large(self) -> bool:
        """Whether only fast members are used."""
        return self.rows > LARGE


@dataclass(frozen=True)
class Candidate:
    """One estimator of a family, whose fit serves one or several settings.

    Attributes
    ----------
    estimator : estimator
    settings : tuple of dict
        The values that tell the settings apart; one for each column of its probabilities.
    """

    estimator: Any
    settings: tuple[Mapping[str, Any], ...]


def _always(size: Size) -> bool:
    return True


def _not_wide(size: Size) -> bool:
    return size.columns <= max(_WIDE, size.rows)


@dataclass(frozen=True)
class Family:
    """A kind of member.

    Attributes
    ----------
    name : str
    view : {"linear", "trees"}
        The view of the table that it takes.
    candidates : callable
        From the number of rows and a seed to the estimators to try.
    suits : callable
        Whether "auto" uses it for data of a size.
    package : str or None
        The package that it needs; also the name of our extra.
    instead_of : tuple of str
        "auto" uses it only if none of these families is installed.
    effort : float
        Time of a fit, roughly, in units of the fastest family; for the time left.
    monotone : bool
        Whether it can keep a probability that only rises, or only falls, with a column.
    several : bool
        Whether it learns more than two classes.
    """

    name: str
    view: str
    candidates: Callable[[Size, int], list[Candidate]]
    suits: Callable[[Size], bool] = _always
    package: str | None = None
    instead_of: tuple[str, ...] = ()
    effort: float = 1.0
    monotone: bool = False
    several: bool = True

    @property
    def installed(self) -> bool:
        """Whether its package is there."""
        return self.package is None or find_spec(self.package) is not None


def _linear(size: Size, seed: int) -> list[Candidate]:
    return [_path((0.01, 0.1) if size.large else (0.001, 0.01, 0.1, 1.0))]


def _path(cs: tuple[float, ...], transformer: Any = None, **more: Any) -> Candidate:
    return Candidate(LinearPath(cs, transformer), tuple({**more, "C": C} for C in cs))


def _kernel(size: Size, seed: int) -> list[Candidate]:
    found = []
    for width in (0.3, 1.0):
        landmarks = Landmarks(width, n_components=min(200, size.rows // 2), random_state=seed)
        found.append(_path((0.1, 1.0, 10.0), landmarks, width=width))
    return found


def _svc(size: Size, seed: int) -> list[Candidate]:
    return [Candidate(PlattScaled(UnevenSVC(C=C)), ({"C": C},)) for C in (1.0, 10.0)]


def _forest(size: Size, seed: int) -> list[Candidate]:
    return _forests(size, Forest(splitter="best", bootstrap=True, random_state=seed))


def _extra_trees(size: Size, seed: int) -> list[Candidate]:
    return _forests(size, Forest(splitter="random", bootstrap=False, random_state=seed))


def _forests(size: Size, forest: Forest) -> list[Candidate]:
    trees = 40 if size.large or size.rows <= _FEW else 150
    forest.set_params(n_estimators=trees, max_samples=_ROWS_OF_A_TREE if size.large else None)
    leaves = (1, 5) if size.small else (max(5, min(size.rows, _ROWS_OF_A_TREE) // 5_000),)
    return [
        Candidate(clone(forest).set_params(min_samples_leaf=leaf), ({"min_samples_leaf": leaf},)) for leaf in leaves
    ]


def _boosters(
    make: Callable[[int], Any], small: tuple[Mapping[str, Any], ...], larger: Mapping[str, Any]
) -> Callable[[Size, int], list[Candidate]]:
    """Candidates of a boosting library: several configurations for small data, one for larger data."""

    def candidates(size: Size, seed: int) -> list[Candidate]:
        rate, rounds = (0.1, (75, 150)) if size.large else (0.05, (75, 150, 300))
        return [
            Candidate(
                BoostingRounds(make(seed).set_params(learning_rate=rate, **one), rounds),
                tuple({**one, "rounds": count} for count in rounds),
            )
            for one in (small if size.small else (larger,))
        ]

    return candidates


def _catboost(seed: int) -> Any:
    from catboost import CatBoostClassifier

    return CatBoostClassifier(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False)


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMClassifier

    return LGBMClassifier(random_state=seed, n_jobs=1, verbosity=-1, force_col_wise=True)


def _xgboost(seed: int) -> Any:
    from xgboost import XGBClassifier

    return XGBClassifier(random_state=seed, n_jobs=1, verbosity=0)


def _histogram(seed: int) -> Any:
    return HistGradientBoostingClassifier(random_state=seed, early_stopping=False)


_LEAVES = ({"max_leaf_nodes": 15}, {"max_leaf_nodes": 5})
_DEPTHS = ({"max_depth": 3}, {"max_depth": 6, "min_child_weight": 3.0, "subsample": 0.8, "colsample_bytree": 0.5})
_LIGHT = (
    {"num_leaves": 7, "min_child_samples": 10},
    {"num_leaves": 31, "min_child_samples": 20, "colsample_bytree": 0.5},
)
_BOOSTERS = ("catboost", "lightgbm", "xgboost")

#: All families, in the order in which they are tried.
FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("linear", "linear", _linear, monotone=True),
        Family("kernel", "linear", _kernel, lambda size: size.small and size.columns <= 500),
        Family("svc", "linear", _svc, lambda size: size.rows <= 3_000 and size.columns <= 1_000, several=False),
        Family("extra_trees", "trees", _extra_trees, effort=4.0),
        Family(
            "lightgbm",
            "trees",
            _boosters(_lightgbm, _LIGHT, _LIGHT[1]),
            _not_wide,
            package="lightgbm",
            effort=4.0,
            monotone=True,
        ),
        Family(
            "xgboost",
            "trees",
            _boosters(_xgboost, _DEPTHS, _DEPTHS[1]),
            _not_wide,
            package="xgboost",
            effort=5.0,
            instead_of=("lightgbm",),
            monotone=True,
        ),
        Family("forest", "trees", _forest, effort=8.0),
        Family(
            "catboost",
            "trees",
            _boosters(_catboost, ({"depth": 4},), {"depth": 6}),
            _not_wide,
            package="catboost",
            effort=8.0,
            monotone=True,
        ),
        Family(
            "histogram",
            "trees",
            _boosters(_histogram, _LEAVES, {"max_leaf_nodes": 31}),
            lambda size: not size.sparse and _not_wide(size),
            instead_of=_BOOSTERS,
            effort=5.0,
            monotone=True,
        ),
    )
}


def choose_families(sizes: Mapping[str, Sequence[Size]]) -> list[Family]:
    """The families that are installed and suit every size; ``sizes`` are those of each view in the folds."""
    return [
        family
        for family in FAMILIES.values()
        if family.installed
        and all(map(family.suits, sizes[family.view]))
        and not any(FAMILIES[other].installed for other in family.instead_of)
    ]


def families_named(names: list[str]) -> list[Family]:
    """Families by name, in the order of the registry; an error says which names or packages are missing."""
    if not names:
        raise ParameterError(f"members is empty; name at least one of {', '.join(FAMILIES)}")
    for name in names:
        if not isinstance(name, str) or name not in FAMILIES:
            raise ParameterError(f"members must be names among {', '.join(FAMILIES)}, got {brief(name)}")
        family = FAMILIES[name]
        if not family.installed:
            raise MissingExtraError(f"members named {name!r}", str(family.package))
    return [family for name, family in FAMILIES.items() if name in names]
