"""What a Python file says about its classifiers, from its syntax tree alone: nothing of it is imported or run."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any

from uneven.app.checks.coded_checks import UNKNOWN, Decision, Model, Place, Scene
from uneven.errors import UnevenError
from uneven.zoo import declared, names

_LOGISTIC = "sklearn.linear_model.LogisticRegression"
#: Classifiers of scikit-learn that cut a probability at 0.5 (weights of classes count as in logistic regression), and
#: those of a hinge.
_CUT_PROBABILITY = frozenset(
    {
        "AdaBoostClassifier",
        "BaggingClassifier",
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "DecisionTreeClassifier",
        "ExtraTreeClassifier",
        "ExtraTreesClassifier",
        "GaussianNB",
        "GaussianProcessClassifier",
        "GradientBoostingClassifier",
        "HistGradientBoostingClassifier",
        "KNeighborsClassifier",
        "LinearDiscriminantAnalysis",
        "LogisticRegressionCV",
        "MLPClassifier",
        "MultinomialNB",
        "QuadraticDiscriminantAnalysis",
        "RadiusNeighborsClassifier",
        "RandomForestClassifier",
        "StackingClassifier",
    }
)
_HINGE = {"SVC": "hinge", "NuSVC": "hinge", "LinearSVC": "squared_hinge"}
#: Calls that hold a model as an argument and decide as it does.
_WRAPPERS = frozenset(
    {"make_pipeline", "Pipeline", "GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV"}
)
_RESAMPLERS = frozenset(
    {
        "SMOTE",
        "SMOTENC",
        "SMOTEN",
        "ADASYN",
        "BorderlineSMOTE",
        "KMeansSMOTE",
        "SVMSMOTE",
        "RandomOverSampler",
        "RandomUnderSampler",
        "NearMiss",
        "SMOTEENN",
        "SMOTETomek",
        "ClusterCentroids",
        "InstanceHardnessThreshold",
    }
)
_REPAIRS = frozenset({"undo_resampling", "undo_class_weights", "CalibratedClassifierCV", "ObservedCost"})
_SCORED = frozenset({"cross_val_score", "cross_validate", "TunedThresholdClassifierCV"})
_SEARCHES = frozenset(name for name in _WRAPPERS if name.endswith("SearchCV"))
_USES = frozenset({"brier_score_loss", "log_loss", "calibration_curve"})


def zoo_name(library: str, name: str) -> tuple[str, dict[str, Any]] | None:
    """The loss of the zoo for a class or function of a library, and parameters that it fixes; None if unknown."""
    found = _by_library().get((library, name))
    if found is not None:
        return found, {}
    if library == "torch":  # torch.nn.functional has functions of its own names
        return None
    if library == "sklearn" and name in _CUT_PROBABILITY:
        return _LOGISTIC, {}
    if library == "sklearn" and name in _HINGE:
        return "sklearn.linear_model.SGDClassifier", {"loss": _HINGE[name]}
    return None


@cache
def _by_library() -> dict[tuple[str, str], str]:
    found: dict[tuple[str, str], str] = {}
    for one in names():
        for called in (one, *declared(one).also_called):
            if "(" not in called:
                parts = called.split(".")
                found.setdefault((parts[0], parts[-1]), one)
    return found


def read_source(path: str, source: str) -> Scene:
    """What a file of Python says; an error if it is not Python."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None)
        where = f", line {line}" if line else ""
        raise UnevenError(f"{path}{where}: this is not Python that can be read ({error.__class__.__name__})") from None
    return _Reader(tree).scene


class _Reader:
    """Walks a tree: imports, constants, which variable holds which model, and what is done with it."""

    def __init__(self, tree: ast.Module) -> None:
        self.scene = Scene()
        self._imports: dict[str, str] = {}
        self._constants: dict[str, ast.expr | None] = {}
        self._models: dict[str, list[Model]] = {}
        self._probabilities: dict[str, list[Model]] = {}
        self._made: dict[ast.Call, list[Model]] = {}
        nodes = list(ast.walk(tree))
        for node in nodes:
            self._read_import(node)
        assigned = [pair for node in nodes for pair in _assignments(node)]
        for name, value in assigned:
            self._constants[name] = None if name in self._constants else value
        for _ in range(2):  # a name may be used in a function above its assignment
            for name, value in assigned:
                self._assign(name, value)
        for node in nodes:
            if isinstance(node, ast.Call):
                self._read_call(node)
            elif isinstance(node, ast.Compare):
                self._read_comparison(node)
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
                for side in (node.left, node.right):
                    for model in self._probabilities_of(side):
                        self.scene.probabilities.append((model, _place(node), "multiplied with an amount"))

    # -- names ---------------------------------------------------------------------------------------------------------

    def _read_import(self, node: ast.AST) -> None:
        if isinstance(node, ast.Import):
            for one in node.names:
                if one.asname:
                    self._imports[one.asname] = one.name
                else:
                    root = one.name.partition(".")[0]
                    self._imports[root] = root
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for one in node.names:
                self._imports[one.asname or one.name] = f"{node.module}.{one.name}"

    def _dotted(self, node: ast.expr) -> str:
        """The full name of what is called, such as sklearn.svm.SVC; "" if it was not imported."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self._imports:
            return ""
        return ".".join([self._imports[node.id], *reversed(parts)])

    def _assign(self, name: str, value: ast.expr) -> None:
        found = self._models_of(value)
        if found:
            known = self._models.setdefault(name, [])
            known += [model for model in found if model not in known]
        likely = self._probabilities_of(value)
        if likely:
            known = self._probabilities.setdefault(name, [])
            known += [model for model in likely if model not in known]

    # -- models --------------------------------------------------------------------------------------------------------

    def _models_of(self, node: ast.expr) -> list[Model]:
        """The models that an expression may be."""
        if isinstance(node, ast.Name):
            return self._models.get(node.id, [])
        if isinstance(node, ast.Attribute):
            return self._models.get(ast.unparse(node), [])
        if not isinstance(node, ast.Call):
            return []
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("fit", "set_params", "to", "cuda"):
            return self._models_of(node.func.value)
        if node not in self._made:
            self._made[node] = self._new_models(node)
        return self._made[node]

    def _new_models(self, node: ast.Call) -> list[Model]:
        dotted = self._dotted(node.func)
        library, last = dotted.partition(".")[0], dotted.rpartition(".")[2]
        if last in _WRAPPERS:
            return [model for part in _parts(node) for model in self._models_of(part)]
        if last == "FixedThresholdClassifier":
            return self._fixed_threshold(node)
        if last == "CalibratedClassifierCV":
            return [Model("CalibratedClassifierCV", _LOGISTIC, place=_place(node))]
        if last == "train" and library in ("xgboost", "lightgbm"):
            return self._trained(node, library)
        found = zoo_name(library, last) if dotted else None
        if found is None:
            return []
        name, fixed = found
        given = {**fixed, **{word.arg: self._value(word.value) for word in node.keywords if word.arg}}
        if any(word.arg is None for word in node.keywords):  # **parameters that nobody can read here
            given |= {key: UNKNOWN for key in ("class_weight", "scale_pos_weight", "weight") if key not in given}
        if name.startswith("torch.") and node.args and "weight" not in given:
            given["weight"] = self._value(node.args[0])
        model = Model(last, name, given, _place(node), _is_loss(library, last))
        self.scene.models.append(model)
        return [] if model.is_loss else [model]

    def _trained(self, node: ast.Call, library: str) -> list[Model]:
        """A model of ``train(params, ...)``, if the parameters can be read here and are those of two classes."""
        given = next(
            (word.value for word in node.keywords if word.arg == "params"), node.args[0] if node.args else None
        )
        value = UNKNOWN if given is None else self._value(given)
        if not isinstance(value, dict) or value.get("objective") not in ("binary:logistic", "binary:hinge", "binary"):
            return []
        name = "xgboost.XGBClassifier" if library == "xgboost" else "lightgbm.LGBMClassifier"
        rest = {
            key: one for key, one in value.items() if isinstance(key, str) and (key, one) != ("objective", "binary")
        }
        model = Model(f"{library}.train", name, rest, _place(node))
        self.scene.models.append(model)
        return [model]

    def _fixed_threshold(self, node: ast.Call) -> list[Model]:
        cut = next((self._value(word.value) for word in node.keywords if word.arg == "threshold"), "auto")
        inner = [model for part in _parts(node) for model in self._models_of(part)]
        if isinstance(cut, int | float | Fraction) and 0 < cut < 1:
            for model in inner:
                self.scene.decisions.append(Decision(model, _place(node), _exact(cut)))
        return inner if cut == "auto" else []

    def _probabilities_of(self, node: ast.expr) -> list[Model]:
        """The models whose probability of the positive class an expression is."""
        if isinstance(node, ast.Name):
            return self._probabilities.get(node.id, [])
        if isinstance(node, ast.Subscript):
            return self._probabilities_of(node.value)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "predict_proba":
            return self._models_of(node.func.value)
        return []

    # -- what is done with them ----------------------------------------------------------------------------------------

    def _read_call(self, node: ast.Call) -> None:
        dotted = self._dotted(node.func)
        last = dotted.rpartition(".")[2] if dotted else ""
        self._models_of(node)
        if last in _RESAMPLERS and dotted.startswith("imblearn"):
            self.scene.resamplers.append((last, _place(node)))
        if last in _REPAIRS:
            self.scene.repaired = True
        if last in _SEARCHES or last in _SCORED:
            self._read_scoring(node, last)
        if last in _USES:
            for argument in (*node.args, *(word.value for word in node.keywords)):
                for model in self._probabilities_of(argument):
                    self.scene.probabilities.append((model, _place(node), last))
        if isinstance(node.func, ast.Attribute) and node.func.attr == "predict":
            for model in self._models_of(node.func.value):
                self.scene.decisions.append(Decision(model, _place(node)))

    def _read_scoring(self, node: ast.Call, what: str) -> None:
        given = next((self._value(word.value) for word in node.keywords if word.arg == "scoring"), None)
        if given is None and what in _SEARCHES and any(self._models_of(part) for part in _parts(node)):
            given = "accuracy"  # what a classifier's own score is
        if given is None and what == "TunedThresholdClassifierCV":
            given = "balanced_accuracy"  # its default
        for metric in given if isinstance(given, list | tuple) else [given]:
            if isinstance(metric, str):
                self.scene.scorings.append((metric, _place(node), what))

    def _read_comparison(self, node: ast.Compare) -> None:
        if len(node.ops) != 1 or not isinstance(node.ops[0], ast.Gt | ast.GtE | ast.Lt | ast.LtE):
            return
        for side, other in ((node.left, node.comparators[0]), (node.comparators[0], node.left)):
            cut = self._value(other)
            if isinstance(cut, int | float | Fraction) and not isinstance(cut, bool) and 0 < cut < 1:
                for model in self._probabilities_of(side):
                    self.scene.decisions.append(Decision(model, _place(node), _exact(cut)))

    # -- values --------------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr, depth: int = 0) -> Any:
        """A number, text, list or dict that is written in the file; ``UNKNOWN`` if it is computed."""
        if depth > 20:
            return UNKNOWN
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.List | ast.Tuple):
            found = [self._value(part, depth + 1) for part in node.elts]
            return UNKNOWN if any(one is UNKNOWN for one in found) else found
        if isinstance(node, ast.Dict):
            keys = [UNKNOWN if key is None else self._value(key, depth + 1) for key in node.keys]
            if any(key is UNKNOWN or isinstance(key, list | dict) for key in keys):
                return UNKNOWN
            return {key: self._value(one, depth + 1) for key, one in zip(keys, node.values, strict=True)}
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            inner = self._value(node.operand, depth + 1)
            return -inner if isinstance(inner, int | float) else UNKNOWN
        if isinstance(node, ast.Name):
            constant = self._constants.get(node.id)
            return UNKNOWN if constant is None else self._value(constant, depth + 1)
        if isinstance(node, ast.BinOp):
            return self._arithmetic(node, depth)
        if isinstance(node, ast.Call) and self._dotted(node.func) in (
            "torch.tensor",
            "torch.FloatTensor",
            "torch.Tensor",
        ):
            return self._value(node.args[0], depth + 1) if node.args else UNKNOWN
        return UNKNOWN

    def _arithmetic(self, node: ast.BinOp, depth: int) -> Any:
        left, right = (self._value(side, depth + 1) for side in (node.left, node.right))
        if not all(isinstance(side, int | float) and not isinstance(side, bool) for side in (left, right)):
            return UNKNOWN
        try:
            if isinstance(node.op, ast.Div):
                return float(left / right)
            if isinstance(node.op, ast.Add):
                return left + right
            if isinstance(node.op, ast.Sub):
                return left - right
            if isinstance(node.op, ast.Mult):
                return left * right
        except (ZeroDivisionError, OverflowError):
            pass
        return UNKNOWN


def _exact(cut: float | Fraction) -> Fraction:
    """A threshold as the short fraction that was probably meant: 1/21, not its rounded double."""
    return Fraction(cut).limit_denominator(10**6)


def _is_loss(library: str, name: str) -> bool:
    return library not in ("sklearn", "xgboost", "lightgbm", "catboost") and not name.endswith("Classifier")


def _place(node: ast.expr) -> Place:
    return Place(node.lineno, node.col_offset + 1)


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and what they are set to."""
    if isinstance(node, ast.Assign):
        for target in node.targets:
            if isinstance(target, ast.Name | ast.Attribute):
                yield ast.unparse(target), node.value
    elif isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        yield node.target.id, node.value


def _parts(node: ast.Call) -> Iterator[ast.expr]:
    """What may be models among the arguments of a call: also the steps of a pipeline."""
    for argument in (*node.args, *(word.value for word in node.keywords)):
        if isinstance(argument, ast.List | ast.Tuple):
            for element in argument.elts:
                yield element.elts[-1] if isinstance(element, ast.Tuple) and element.elts else element
        else:
            yield argument
