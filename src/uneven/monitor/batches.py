"""What is known of each batch of rows, what speaks against it, and alarms."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uneven.metrics.cost_sequence import CostSequence
from uneven.metrics.intervals import CostEstimate, ends_in_words
from uneven.monitor.cost_alarm import CostAlarm
from uneven.monitor.drift import ColumnDrift, ScoreReference
from uneven.monitor.estimated_cost import EstimatedCost
from uneven.monitor.prevalence import PrevalenceEstimate, ScoredReference

#: Scores do not fit if chance alone does as much in less than this share of batches.
_MISFIT = 1e-3

ASSUMES = (
    "Without labels this is right if the rows of each class look as in the reference, so that only their shares moved."
)


@dataclass(frozen=True)
class Alarm:
    """Something that chance does not explain.

    Attributes
    ----------
    kind : {"cost", "prevalence"}
    batch : str
        The batch after which it was raised.
    message : str
        What was found, and what to do.
    episode : int
        1, and one more after each correction of the model: each kind of alarm is raised once in each.
    """

    kind: str
    batch: str
    message: str
    episode: int = 1


@dataclass
class Batch:
    """What is known of the rows of one update.

    Attributes
    ----------
    name : str
    rows, flagged : int
    estimate : EstimatedCost
        Mean expected cost per row, without labels.
    prevalence : PrevalenceEstimate
        Share of positives by the probabilities (EM).
    by_decisions : PrevalenceEstimate
        The same by the share of flagged rows (confusion matrix).
    near : float
        Share of rows within half a log-odds of the threshold.
    near_expected : float
        What it would be if only the share of positives moved.
    episode : int
        1, and one more after each correction of the model.
    drift : list of ColumnDrift
        Columns that differ from the reference, those that move most money first.
    notes : list of str
    labelled, positives : int
        Rows whose labels are known by now, and positive ones among them.
    realised : CostEstimate or None
        Mean cost of the labelled rows.
    """

    name: str
    rows: int
    flagged: int
    estimate: EstimatedCost
    prevalence: PrevalenceEstimate
    by_decisions: PrevalenceEstimate
    near: float
    near_expected: float
    episode: int = 1
    drift: list[ColumnDrift] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    labelled: int = 0
    positives: int = 0
    realised: CostEstimate | None = None

    def in_words(self, unit: str | None = None) -> str:
        """The batch in one line."""
        of = f" {unit}" if unit else ""
        said = (
            f"{self.name}: {self.rows:,} rows, {self.flagged:,} flagged; expected cost per row "
            f"{self.estimate.value:.4g}{of} ({_ends(self.estimate)}), share of positives "
            f"{self.prevalence.value:.2%} ({_ends(self.prevalence, '.2%')})"
        )
        if self.realised is None:
            return said + "; no labels yet."
        return (
            said + f"; {self.labelled:,} labels: realised {self.realised.cost:.4g}{of} "
            f"({_ends(self.realised, rough=self.realised.rough)})."
        )


def _ends(found: CostEstimate | EstimatedCost | PrevalenceEstimate, digits: str = ".4g", *, rough: bool = False) -> str:
    return ends_in_words(format(found.low, digits), format(found.high, digits), rough=rough)


def find_misfits(
    batch: Batch, reference: ScoredReference, scores: ScoreReference | None, margin: np.ndarray
) -> list[str]:
    """Sentences about what speaks against the estimates of a batch; its scores are judged if ``scores`` are given."""
    notes = []
    if not reference.sigmoid.slope:
        notes.append("The probabilities tell nothing about the reference, so nothing is known without labels.")
    if not batch.prevalence.overlaps(batch.by_decisions):
        notes.append(
            "Probabilities and decisions disagree about the share of positives "
            f"({batch.prevalence.value:.2%} and {batch.by_decisions.value:.2%}): rows of a class no longer look as "
            "in the reference, and the estimates need labels."
        )
    elif scores is not None and scores.chance(margin, batch.prevalence.value) < _MISFIT:
        notes.append(
            "Scores are spread as no share of positives explains: rows of a class no longer look as in the "
            "reference, and the estimates need labels."
        )
    return notes


def prevalence_alarm(batch: Batch, share: float, decided_for: float) -> Alarm:
    """The share of positives moved, and money is at stake."""
    advice = "label rows first. " if batch.notes else "monitor.correct(), or model.with_costs(prevalence=...). "
    return Alarm(
        "prevalence",
        batch.name,
        f"{share:.2%} of the rows seem to be positive, and decisions are for {decided_for:.2%}. Corrected "
        f"decisions are expected to save {1000 * batch.estimate.saved:.4g} per 1,000 rows: {advice}"
        + " ".join(batch.notes or [ASSUMES]),
        batch.episode,
    )


def cost_alarm(batch: Batch, promise: float, alarm: CostAlarm, episode: int) -> Alarm:
    """The decisions cost more than was promised."""
    assert batch.realised is not None
    return Alarm(
        "cost",
        batch.name,
        f"The decisions cost more than the promised {1000 * promise:.4g} per 1,000 rows: the labelled rows so "
        f"far {1000 * alarm.mean:.4g}, those of {batch.name} {1000 * batch.realised.cost:.4g}. Chance "
        f"alone does as much in at most {alarm.delta:.2%} of lives. Look which batches are dear; if the "
        "share of positives moved, correct the decisions, else fit the model again on newer rows.",
        episode,
    )


def realised_in_words(seen: CostSequence, of: str) -> str:
    """What the rows with labels cost; ``of`` is the unit, with a blank before it."""
    low, mean, high = (f"{1000 * part:.4g}" for part in (seen.low, seen.mean, seen.high))
    said = f"{seen.count:,} rows with labels cost {mean}{of} per 1,000"
    if seen.low <= seen.mean <= seen.high:
        return f"{said}, 95 % interval at all times {low} to {high}."
    told = f"above {low}" if seen.mean < seen.low else f"below {high}"
    return f"{said}. They did not all have the same mean: it was {told} for some time."
