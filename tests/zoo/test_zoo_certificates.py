"""The certificates that ship: each is valid, about the loss of the zoo, and decided; the page shows them."""

from __future__ import annotations

from fractions import Fraction

import pytest
from oracle import Truth
from places import DOCS

import uneven
from uneven.zoo.certificates import FOLDER, Shipped, shipped, surprise, update_tables

ALL = list(shipped())


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.title)
def test_it_is_valid_and_about_this_loss(case: Shipped) -> None:
    certificate = case.certificate
    checked = uneven.verify(case.file.read_text(encoding="utf-8"))
    assert checked, checked.reason
    assert certificate.status in ("proved", "refuted")
    made = uneven.certify(case.loss)
    assert made.document["loss"] == certificate.document["loss"]
    assert made.claim.only == certificate.claim.only
    if certificate.interval is not None:
        low, high = certificate.interval
        assert high - low <= Fraction(1, 10**12)


@pytest.mark.slow
def test_they_agree_with_brute_force() -> None:
    for case in {case.loss: case for case in ALL}.values():
        Truth(case.loss).require(case.certificate)


def test_all_files_are_small_and_none_is_left_over() -> None:
    files = {file.name: file.stat().st_size for file in FOLDER.glob("*")}
    assert set(files) == {case.file.name for case in ALL}
    assert len({case.file.name.lower() for case in ALL}) == len(ALL)
    assert sum(files.values()) < 1_000_000


@pytest.mark.slow
def test_the_page_is_up_to_date() -> None:
    page = (DOCS / "losses-assume.md").read_text(encoding="utf-8")
    assert update_tables(page) == page, "run python -m uneven.zoo.certificates --page docs/losses-assume.md"
    first = page.index("| `torch.nn.CrossEntropyLoss(weight=(1, 10), label_smoothing=0.2)`")
    assert first < page.index("| `torch.nn.BCEWithLogitsLoss(")


@pytest.mark.parametrize(
    ("title", "alpha"),
    [
        ("torch.nn.CrossEntropyLoss(weight=(1, 10), label_smoothing=0.1)", Fraction(1, 22)),
        ("torchvision.ops.sigmoid_focal_loss()", Fraction(3, 4)),
        ("fvcore.nn.sigmoid_focal_loss()", Fraction(1, 2)),
        ("optax.losses.sigmoid_focal_loss()", Fraction(1, 2)),
        ("libauc.losses.FocalLoss()", Fraction(1, 4)),
        ("timm.loss.AsymmetricLossMultiLabel(disable_torch_grad_focal_loss=True)", Fraction(6561, 94561)),
        ("torch.nn.CrossEntropyLoss(weight=(1, 19), label_smoothing=0.1)", None),
    ],
)
def test_the_news(title: str, alpha: Fraction | None) -> None:
    (case,) = [case for case in ALL if case.title == title]
    assert case.certificate.claim.only.exact == alpha
    assert (surprise(case) > 0) == (title.partition(".")[0] not in ("fvcore", "optax"))
