"""Did you mean ...? For an unknown name, the known one that was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def suggestion(name: str, known: Mapping[str, Iterable[str]]) -> str | None:
    """The known name that is most like ``name``; None if none is.

    Parameters
    ----------
    name : str
        What a user wrote.
    known : mapping of str to strings
        For each known name, other names of the same thing.

    Examples
    --------
    >>> from uneven._suggestions import suggestion
    >>> known = {"log": ("ln",), "softplus": ()}
    >>> suggestion("ln", known), suggestion("SoftPlus_loss", known), suggestion("sin", known)
    ('log', 'softplus', None)
    """
    from difflib import get_close_matches

    written = {spelled: one for one, others in known.items() for spelled in (*others, one)}
    sought = name.lower()
    for spelled in (sought, sought.removesuffix("_loss").removesuffix("loss"), f"{sought}_loss"):
        if spelled in written:
            return written[spelled]
    close = get_close_matches(sought, list(written), n=1, cutoff=0.7)
    return written[close[0]] if close else None


def did_you_mean(name: str, known: Mapping[str, Iterable[str]], otherwise: str) -> str:
    """``did you mean ...?``, or another hint if no known name is alike."""
    found = suggestion(name, known)
    return otherwise if found is None else f"did you mean {found!r}?"
