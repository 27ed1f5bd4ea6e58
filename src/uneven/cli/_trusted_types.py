"""The types that a model file may hold besides those that skops itself trusts (plain data, arrays, scikit-learn).

Exact names, not packages: reading a file must not make objects that no model of `uneven fit` needs.
"""

from __future__ import annotations

TRUSTED_TYPES = frozenset(
    {
        # The simple candidates and the preprocessing.
        "uneven.cli.decisions.logistic_rules.LogisticRule",
        "uneven.cli.decisions.row_deciders.DecidedByRow",
        "uneven.learners.frames.blocks.Blocks",
        "uneven.learners.frames.category_encoder.CategoryEncoder",
        "uneven.learners.frames.number_scaler.NumberScaler",
        "uneven.learners.frames.texts.WordEncoder",
        "uneven.costs.RowCosts",
        # The linear classifier, the support vector machine and their search.
        "uneven.learners.cv.UnevenClassifierCV",
        "uneven.learners.linear.UnevenLinearClassifier",
        "uneven.learners.svc.UnevenSVC",
        "uneven.learners.tuning.gamma_path.GammaPath",
        "uneven.solvers.kernel.gram.KernelFunction",
        "scipy.sparse._csr.csr_matrix",  # support vectors; read as plain arrays
        # The ensemble, and what it knows about itself.
        "uneven.learners.corrections.correction.Correction",
        "uneven.learners.corrections.out_of_fold_rows.CorrectedOdds",
        "uneven.learners.corrections.out_of_fold_rows.OutOfFoldRows",
        "uneven.learners.corrections.posterior.ShiftPosterior",
        "uneven.learners.ensemble.classifier.UnevenEnsembleClassifier",
        "uneven.learners.ensemble.evidence.Evidence",
        "uneven.learners.ensemble.forest.Forest",
        "uneven.learners.ensemble.mixture.FittedMember",
        "uneven.learners.ensemble.mixture.Mixture",
        "uneven.learners.ensemble.platt_scaled.PlattScaled",
        "uneven.learners.frames.columns.Column",
        "uneven.learners.frames.encoder.FrameEncoder",
        "uneven.learners.frames.many_categories.ManyCategoriesEncoder",
        "uneven.learners.frames.number_scaler.FloatNumbers",
        "uneven.learners.frames.texts.LatentTextEncoder",
        "uneven.learners.platt.Sigmoid",
        "uneven.metrics.cost_estimate.CostEstimate",
        # Trees of the members.
        "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
        "sklearn.tree._tree.Tree",
        "catboost.core.CatBoostClassifier",
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
        "xgboost.core.Booster",
        "xgboost.sklearn.XGBClassifier",
    }
)
