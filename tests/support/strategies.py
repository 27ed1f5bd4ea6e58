"""Hypothesis strategies, all in one place."""

from __future__ import annotations

from hypothesis import strategies as st

from uneven import losses
from uneven.expression.functions import FUNCTIONS

_UNARY = [
    (name, "" if function.orders is None else f", {order}")
    for name, function in FUNCTIONS.items()
    if function.arity == 1
    for order in ([0] if function.orders is None else [function.orders[0], function.orders[-1]])
]

registered = st.sampled_from(losses.names())
gammas = st.floats(-3, 3).map(lambda exponent: float(10.0**exponent))
alphas = st.floats(1e-6, 1 - 1e-6)
numbers = st.one_of(
    st.integers(0, 9).map(str),
    st.sampled_from(["0.5", "1.25", ".1", "3.", "1e-3", "2e2", "1/3"]),
)


def _grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", "/"]), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        st.tuples(inner, st.sampled_from(["2", "3", "-1", "0.5", "t"])).map(lambda p: f"({p[0]})**({p[1]})"),
        st.tuples(st.sampled_from(_UNARY), inner).map(lambda p: f"{p[0][0]}({p[1]}{p[0][1]})"),
        st.tuples(st.sampled_from(["max", "min"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})"),
        st.tuples(inner, st.sampled_from(["<", "<=", ">", ">="]), inner, inner, inner).map(
            lambda p: f"where({p[0]} {p[1]} {p[2]}, {p[3]}, {p[4]})"
        ),
        inner.map(lambda text: f"-{text}"),
    )


#: Expressions of the language; many of them are not losses.
sentences = st.recursive(st.one_of(st.just("t"), st.just("pi"), numbers), _grown, max_leaves=8)

_atoms = st.sampled_from(
    ["softplus(-t)", "relu(1 - t)", "exp(-t)", "expit(-2*t)", "(1 - t)**2", "abs(1 - t)", "erfc(t)"]
)
#: Expressions that are losses: nonnegative combinations of nonnegative parts.
loss_sentences = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(lambda p: f"{p[0]} + {p[1]}"),
        st.tuples(st.sampled_from(["0.5", "3"]), inner).map(lambda p: f"{p[0]}*({p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"max({p[0]}, {p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"({p[0]})*({p[1]})"),
        st.tuples(inner, inner).map(lambda p: f"where(t < 0.3, {p[0]}, {p[1]})"),
    ),
    max_leaves=4,
)
