"""What is known of each batch of rows, alarms, and what became of late labels."""

from __future__ import annotations

from dataclasses import dataclass, field

from uneven.metrics.intervals import CostEstimate, ends_in_words
from uneven.monitor.drift import ColumnDrift
from uneven.monitor.estimated_cost import EstimatedCost
from uneven.monitor.prevalence import PrevalenceEstimate


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


@dataclass(frozen=True)
class LateLabels:
    """What became of labels that came late.

    Attributes
    ----------
    added : int
    unknown : int
        Labels of rows that were never decided here.
    repeated : int
        Labels that were known already, and are the same.
    changed : int
        Labels that were known to be the other one: they are not counted again.
    """

    added: int
    unknown: int = 0
    repeated: int = 0
    changed: int = 0
