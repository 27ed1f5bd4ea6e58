"""Certificates that ship with the package: a proof for every case of the zoo.

``python -m uneven.zoo.certificates --page docs/losses-assume.md`` makes them all again, and the tables of the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from uneven.calibration import Certificate, certify
from uneven.errors import CertificateError
from uneven.losses import Loss
from uneven.zoo.declaration import Case, ZooLoss
from uneven.zoo.parameters import shown
from uneven.zoo.registry import declared, loss, names

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
        from uneven.zoo.page import updated

        page.write_text(updated(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
