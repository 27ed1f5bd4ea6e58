"""The types that a saved model may hold besides those that skops itself trusts (plain data, arrays, scikit-learn).

Exact names, not packages: reading a file must not make objects that no model needs.
"""

from __future__ import annotations

from uneven._lazy import HOMES


def trusted_types() -> list[str]:
    """The types that skops must trust to load a saved model of this library.

    A skops file is opened only if its reader trusts every type in it. These are the types of this library's learners
    and of `uneven fit`, with those of the libraries they use; the command trusts no others. Classifiers of other
    libraries that you wrap or put into a pipeline are not among them.

    Returns
    -------
    list of str
        Full names of types, sorted; for the argument ``trusted`` of ``skops.io.load`` and ``skops.io.loads``.

    Examples
    --------
    >>> import numpy as np
    >>> import skops.io
    >>> import uneven
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 0, 1, 1])
    >>> stored = skops.io.dumps(uneven.UnevenLinearClassifier("logistic").fit(X, y))
    >>> skops.io.loads(stored, trusted=uneven.trusted_types()).predict(X)
    array([0, 0, 1, 1])
    """
    public = HOMES["uneven"].items()
    estimators = {f"{home}.{name}" for name, home in public if name.startswith("Uneven") and home != "uneven.losses"}
    return sorted(_TYPES | estimators)


_TYPES = frozenset(
    {
        # The simple candidates and the preprocessing.
        "uneven.app.models.candidates.LogisticRule",
        "uneven.app.models.class_candidates.LogisticClassRule",
        "uneven.tables.frame_encoder.Blocks",
        "uneven.tables.category_columns.CategoryEncoder",
        "uneven.tables.number_columns.NumberScaler",
        "uneven.tables.text_columns.WordEncoder",
        "uneven.costs.RowCosts",
        "uneven.learners.changed_costs.ChangedUse",
        # Costs that are known as a range only.
        "fractions.Fraction",
        "uneven.decisions.cost_pairs.CostPairs",
        "uneven.losses.cost_prior.CostPrior",
        "uneven.losses.ratio_distributions.BetaAlpha",
        "uneven.losses.ratio_distributions.Discrete",
        "uneven.losses.ratio_distributions.LogNormal",
        "uneven.losses.ratio_distributions.LogUniform",
        # More than two classes or actions.
        "uneven.decisions.cost_matrix.CostMatrix",
        "uneven.decisions.actions.Actions",
        # A cost for every confusion.
        "uneven.decisions.class_shifts.ClassRows",
        "uneven.decisions.class_shifts.ClassRule",
        "uneven.learners.out_of_fold.AllClasses",
        "uneven.learners.several_classes.ClassFit",
        "uneven.metrics.matrix_estimates.MatrixCostEstimate",
        # The linear classifier, the support vector machine and their search.
        "uneven.learners.tuning.gamma_rules.GammaPath",
        "uneven.solvers.kernel.kernel_matrix.KernelFunction",
        "scipy.sparse._csr.csr_matrix",  # support vectors; read as plain arrays
        # The ensemble, and what it knows about itself.
        "uneven.decisions.correction.Correction",
        "uneven.decisions.correction.CorrectedOdds",
        "uneven.decisions.out_of_fold_rows.OutOfFoldRows",
        "uneven.decisions.posterior.ShiftPosterior",
        "uneven.decisions.guarantee.ShiftGuarantee",  # of more rows than a model keeps one by one
        "uneven.decisions.guarantee.RuleBounds",
        "uneven.decisions.action_guarantee.ActionsGuarantee",
        "uneven.decisions.class_guarantee.ClassGuarantee",
        "uneven.learners.ensemble.training.OutOfFoldCosts",
        "uneven.learners.ensemble.member_models.Forest",
        "uneven.learners.ensemble.member_models.Landmarks",
        "uneven.learners.ensemble.mixture.FittedMember",
        "uneven.learners.ensemble.mixture.Mixture",
        "uneven.learners.ensemble.member_models.PlattScaled",
        "uneven.learners.ensemble.latency.Latency",
        "uneven.learners.ensemble.pruning.Pruning",
        "uneven.tables.columns.Column",
        "uneven.tables.frame_encoder.FrameEncoder",
        "uneven.tables.category_columns.ManyCategoriesEncoder",
        "uneven.tables.number_columns.FloatNumbers",
        "uneven.tables.text_columns.LatentTextEncoder",
        "uneven.decisions.platt.Sigmoid",
        "uneven.metrics.intervals.CostEstimate",
        # The other learners; public estimators are in the registry of public names.
        "uneven.learners.cascade.CascadeReport",
        "uneven.solvers.perceptron_training.PerceptronState",
        # Trees of the members.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "catboost.core.CatBoost",
        "catboost.core.CatBoostClassifier",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
    }
)
