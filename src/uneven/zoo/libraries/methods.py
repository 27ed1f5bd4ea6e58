"""Methods of papers, without one library."""

from uneven.zoo.zoo_loss import Case, Formula, Knob, Library, Number, ZooLoss

LIBRARY = Library(
    "methods",
    "as published",
    losses=(
        ZooLoss(
            "methods.logit_adjusted_loss",
            (Formula("softplus(-t - log(prior/(1 - prior)))", "softplus(t + log(prior/(1 - prior)))"),),
            (Number("prior", above=0, below=1),),
            Knob("prior", lambda w: 1 / (1 + w)),
            (Case({"prior": "0.1"}, 9),),
            ("With tau = 1, as here, a false negative costs as many times more as positives are rarer.",),
        ),
    ),
)
