"""Certificates that ship with the package, a proof for every case of the zoo, and the page that shows them.

``python -m uneven.zoo.certificates --page docs/losses-assume.md`` makes them all again, and the tables of the page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path

from uneven.calibration import Certificate, certify, implied_prior
from uneven.calibration.implied_costs import costs_in_words
from uneven.errors import CertificateError, UnevenError
from uneven.inputs import to_float
from uneven.losses import Loss
from uneven.zoo.catalogue import all_libraries, declared, loss, names
from uneven.zoo.zoo_loss import Case, ZooLoss, shown

_MOST_USED = ("torch", "sklearn", "xgboost", "lightgbm", "catboost", "torchvision", "keras", "optax", "timm")
_PROOFS = "../src/uneven/zoo/proofs"
_THEOREMS = {
    "convex": "theorem 4",
    "convex tie": "theorem 4",
    "tangential": "theorem T",
    "transversal": "theorem D",
    "order": "theorem D",
}


def update_tables(page: str) -> str:
    """The page with every part between ``<!-- name -->`` and ``<!-- end -->`` made again."""
    parts = {
        "surprises": surprises,
        "expected": expected,
        "ratios": ratios,
        "outside": outside_table,
        "versions": versions,
    }

    def filled(found: re.Match[str]) -> str:
        name = found.group(1)
        if name not in parts:
            raise UnevenError(f"the page asks for {name!r}; there are {', '.join(parts)}")
        return f"<!-- {name} -->\n\n{parts[name]()}\n\n<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", filled, page, flags=re.S)


def surprise(case: Shipped) -> float:
    """How far the costs are from what one would read off the parameters: a distance of logarithms."""
    ratio = _ratio(case)
    return math.inf if ratio is None else abs(math.log(ratio / case.case.believed))


def surprises() -> str:
    """The losses that assume other costs than one would think, the farthest first."""
    found = [case for case in shipped() if surprise(case) > 1e-9]
    return _table(sorted(found, key=lambda case: (-surprise(case), _rank(case), case.title)))


def _rank(case: Shipped) -> int:
    """Of equal surprises, those of the libraries with the most users come first."""
    package = case.one.name.partition(".")[0]
    return _MOST_USED.index(package) if package in _MOST_USED else len(_MOST_USED)


def expected() -> str:
    """The other losses."""
    return _table(sorted((case for case in shipped() if surprise(case) <= 1e-9), key=lambda case: case.title))


def ratios() -> str:
    """Which cost ratios the losses average over; losses with the same sentence share a row, the largest rows first."""
    sentences: dict[tuple[str, bool], list[str]] = {}
    for case in shipped():
        prior = implied_prior(case.loss)
        sentences.setdefault((prior.in_words(), prior.proved), []).append(f"`{case.title}`")
    rows = sorted(sentences.items(), key=lambda row: (-len(row[1]), row[0]))
    return _join_sentences(
        ["the cost ratios it averages over", "proved", "losses"],
        [[words, "yes" if proved else "seen in floats", ", ".join(sorted(losses))] for (words, proved), losses in rows],
    )


def outside_table() -> str:
    """Losses without an alpha."""
    rows = [(one.name, one.reason) for library in all_libraries() for one in library.outside]
    return _join_sentences(["loss", "why it has no alpha"], [[f"`{name}`", reason] for name, reason in sorted(rows)])


def versions() -> str:
    """The libraries and the versions that were read."""
    return ", ".join(
        f"{library.package} {library.version}" for library in sorted(all_libraries(), key=lambda one: one.package)
    )


def _table(cases: list[Shipped]) -> str:
    rows, remarked = [], set()
    for case in cases:
        certificate = case.certificate
        remarks = "" if case.one.name in remarked else " ".join(case.one.remarks)
        remarked.add(case.one.name)
        rows.append(
            [
                f"`{case.title}`",
                alpha_text(case),
                costs_text(case),
                f"[{_THEOREMS[certificate.method]}]({_PROOFS}/{case.file.name})",
                remarks,
            ]
        )
    return _join_sentences(["loss", "alpha", "the costs it assumes", "proof", "remarks"], rows)


def _join_sentences(heads: list[str], rows: list[list[str]]) -> str:
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _middle(case: Shipped) -> Fraction | None:
    interval = case.certificate.interval
    return None if interval is None else (interval[0] + interval[1]) / 2


def _ratio(case: Shipped) -> float | None:
    alpha = _middle(case)
    return None if alpha is None else to_float((1 - alpha) / alpha)


def alpha_text(case: Shipped) -> str:
    """The alpha that the certificate proves: exact, or with nine digits."""
    alpha, interval = _middle(case), case.certificate.interval
    if alpha is None or interval is None:
        return "none"
    return str(alpha) if interval[0] == interval[1] else f"{float(alpha):.9f}"


def costs_text(case: Shipped) -> str:
    """The costs that the certificate proves, in words."""
    alpha = _middle(case)
    if alpha is None:
        return "no costs at all"
    words = costs_in_words(alpha)
    believed = Fraction(case.case.believed)
    if surprise(case) <= 1e-9 or believed == 1:
        return words
    return f"{words}; one would read off that {costs_in_words(1 / (1 + believed))}"


FOLDER = Path(__file__).parent / "proofs"


@dataclass(frozen=True)
class Shipped:
    """One loss at one case, and its certificate."""

    one: ZooLoss
    case: Case

    @property
    def title(self) -> str:
        """The loss with its parameters, as users write them."""
        given = ", ".join(f"{key}={shown(value)}" for key, value in self.case.parameters.items())
        return f"{self.one.name}({given})"

    @property
    def file(self) -> Path:
        """Where the certificate is."""
        given = "".join(f"-{key}={shown(value)}" for key, value in self.case.parameters.items())
        return FOLDER / (re.sub(r"[^A-Za-z0-9._=,-]+", "", f"{self.one.name}{given}".replace(":", "_")) + ".json")

    @cached_property
    def loss(self) -> Loss:
        return loss(self.one.name, **self.case.parameters)

    @cached_property
    def certificate(self) -> Certificate:
        """As it ships; nothing is checked."""
        return Certificate.from_json(self.file.read_text(encoding="utf-8"))


def shipped() -> Iterator[Shipped]:
    """Every case of every loss.

    Examples
    --------
    >>> import uneven
    >>> from uneven.zoo.certificates import shipped
    >>> first = next(iter(shipped()))
    >>> bool(uneven.verify(first.certificate))
    True
    """
    for name in names():
        one = declared(name)
        yield from (Shipped(one, case) for case in one.cases)


def write(folder: Path = FOLDER) -> int:
    """Make every certificate again; returns how many bytes they have together."""
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.json"):
        old.unlink()
    total = 0
    for case in shipped():
        made = certify(case.loss)
        if made.status == "undecided":
            raise CertificateError(f"{case.title} is undecided")
        (folder / case.file.name).write_text(made.to_json(), encoding="utf-8")
        total += len(made.to_json())
    return total


def main(arguments: list[str] | None = None) -> None:
    """Write the certificates, and the tables of a page if ``--page`` names one."""
    import argparse

    parser = argparse.ArgumentParser(prog="python -m uneven.zoo.certificates", description=main.__doc__)
    parser.add_argument("--page", type=Path)
    page = parser.parse_args(arguments).page
    write()
    if page is not None:
        page.write_text(update_tables(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
