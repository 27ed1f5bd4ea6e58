"""The page of ``uneven watch``: the money over time, alarms, and what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from uneven.app.models.written_costs import WrittenCosts, number_in
from uneven.app.report.page import bullets, heading, page, paragraph, picture, table, text
from uneven.app.report.sentences import per_thousand, probability_in_words
from uneven.costs import money
from uneven.metrics.intervals import ends_in_words
from uneven.metrics.mean_interval import share_interval
from uneven.monitor import Alarm, Batch, CostMonitor, PrevalenceEstimate

if TYPE_CHECKING:
    from uneven.app.models.watch_folder import Watch

#: Columns that are shown, and batches in the table.
_DRIFTING, _BATCHES = 12, 60
#: Labels from which the share of positives is believed.
_ENOUGH = 100
#: Batches whose names fit below the axis.
_NAMES = 14

_LIMITS = (
    "Estimates without labels assume that rows of each class look as in the reference, so that only their shares "
    "moved. Where probabilities and decisions disagree, or scores do not fit, the page says so: then only labels tell "
    "the cost.",
    "All alarms together are false in at most 5 % of whole lives, however often you look: the promise is the upper end "
    "of a 95 % interval, and the alarms share the rest. A column that differs is no alarm: one look in a hundred finds "
    "one by chance.",
    "The alarm for cost assumes that labels do not come sooner for dear mistakes, and that a row without a label is "
    "without one by chance. If only flagged rows are ever looked at, misses stay unseen: label a random part of the "
    "others.",
)


def watch_page(watch: Watch) -> str:
    """The page as HTML."""
    about, monitor = watch.content["about"], watch.monitor
    unit = about["costs"]["unit"]
    title = f"Is {about['target']} {about['positive']}? The decisions in use"
    count, rows = len(monitor.batches), sum(batch.rows for batch in monitor.batches)
    batches = "1 batch" if count == 1 else f"{count:,} batches"
    labelled = sum(batch.labelled for batch in monitor.batches)
    return page(
        title,
        f"<h1>{text(title)}</h1>",
        paragraph(_answer(monitor, unit), "warning" if monitor.alarms else "lead"),
        *(paragraph(f"Not read, and not counted: {problem}", "warning") for problem in watch.problems),
        paragraph(
            f"{batches}, {rows:,} decisions, {labelled:,} with a label by now. Model "
            f"{about['model']}, file {watch.content['sha256'][:12]}.",
            "soft",
        ),
        heading("What to do"),
        bullets(_what_to_do(watch)),
        _command(watch),
        *_alarm_parts(monitor),
        *_time_parts(monitor, unit),
        *_drift_parts(monitor, unit),
        heading("What this page assumes"),
        bullets(_LIMITS),
    )


def _answer(monitor: CostMonitor, unit: str | None) -> str:
    """The first sentence."""
    of = f" {unit}" if unit else ""
    promise = f"{per_thousand(monitor.promise)}{of} per 1,000 rows"
    if monitor.alarms:
        kinds = " and ".join(dict.fromkeys(alarm.kind for alarm in monitor.alarms))
        return (
            f"ALARM for {kinds}, first after {_in_order(monitor)[0].batch}. Promised was a cost of at most {promise}."
        )
    if not monitor.batches:
        return f"No decisions yet. Promised is a cost of at most {promise}."
    seen = monitor.realised
    if not seen.count:
        return f"No alarm. There are no labels yet; promised is a cost of at most {promise}."
    return f"No alarm. The labelled rows cost {per_thousand(seen.mean)}{of} per 1,000; promised is at most {promise}."


def _what_to_do(watch: Watch) -> list[str]:
    monitor, found = watch.monitor, []
    kinds = {alarm.kind for alarm in monitor.alarms}
    last = monitor.batches[-1] if monitor.batches else None
    share, where = _share_to_decide_for(monitor)
    if share is not None:
        found.append(
            f"Correct the decisions for a share of positives of {share:.2%}, {where}. In Python: "
            f"model.with_costs(prevalence={share:.4g})."
        )
    if "prevalence" in kinds:
        found.append("Have some rows of the last batch labelled soon: the share was found without labels.")
    if "cost" in kinds:
        found.append(
            "Look at the dear batches below: did the share of positives move, did a column change its meaning, are "
            "there rows of a new kind? Correct the decisions if it is the share; else fit the model again on newer "
            "rows, and start a new state."
        )
    if last is not None and last.notes:
        found.append(f"Label rows of {last.name} before you trust its estimate. {' '.join(last.notes)}")
    if monitor.waiting:
        found.append(f"{monitor.waiting:,} rows wait for their labels; run the command again when there are more.")
    if watch.problems:
        found.append("Repair the files that could not be read, and run the command again.")
    return found or ["Nothing. Run the command again when there are new decisions or labels."]


def _share_to_decide_for(monitor: CostMonitor) -> tuple[float | None, str]:
    """Another share of positives to decide for, and where it was seen; None if there is no alarm or no such share.

    That of the last batch whose scores fit, unless a later one has labels.
    """
    if not monitor.alarms:
        return None, ""
    for batch in reversed(monitor.batches):
        if not batch.notes:
            found, where = batch.prevalence, f"as the rows of {batch.name} seem to have"
        elif batch.labelled >= _ENOUGH:
            ends = share_interval(batch.positives / batch.labelled, batch.labelled)
            found = PrevalenceEstimate(batch.positives / batch.labelled, *ends)
            where = f"as the labelled rows of {batch.name} have"
        else:
            continue
        moved = 0 < found.value < 1 and found.differs(monitor.prevalence_in_use)
        return (found.value, where) if moved else (None, "")
    return None, ""


def _command(watch: Watch) -> str:
    """How the command decides for another share: by the costs on rows of the fit; "" if there is nothing to correct."""
    given = WrittenCosts(**watch.content["about"]["costs"])
    share, base = _share_to_decide_for(watch.monitor)[0], watch.monitor.prevalence_in_use.value
    if given.per_row or share is None:
        return ""
    costs = {name: number_in(name, getattr(given, name)) for name in ("fp_cost", "fn_cost", "tp_cost", "tn_cost")}
    factors = {"fp_cost": (1 - share) / (1 - base), "tn_cost": (1 - share) / (1 - base)}
    options = [
        f"--{name.replace('_', '-')} {float(cost) * factors.get(name, share / base):.4g}"
        for name, cost in costs.items()
        if cost
    ]
    return f"<p>The command decides the same way at these costs:</p><pre>{text(' '.join(options))}</pre>"


def _alarm_parts(monitor: CostMonitor) -> list[str]:
    if not monitor.alarms:
        return []
    return [
        heading("Alarms"),
        *(paragraph(f"After {alarm.batch}, {alarm.kind}: {alarm.message}") for alarm in _in_order(monitor)),
    ]


def _in_order(monitor: CostMonitor) -> list[Alarm]:
    """Alarms by the order of their batches: labels come late."""
    place = {batch.name: k for k, batch in enumerate(monitor.batches)}
    return sorted(monitor.alarms, key=lambda alarm: place[alarm.batch])


def _time_parts(monitor: CostMonitor, unit: str | None) -> list[str]:
    if not monitor.batches:
        return []
    of = f" ({unit})" if unit else ""
    header = ["batch", "rows", "flagged", f"expected cost{of}", f"realised cost{of}", "labels", "share of positives"]
    shown = monitor.batches[-_BATCHES:]
    cells = [
        [
            batch.name,
            f"{batch.rows:,}",
            f"{batch.flagged:,}",
            _interval(batch.estimate.value, batch.estimate.low, batch.estimate.high),
            "" if (seen := batch.realised) is None else _interval(seen.cost, seen.low, seen.high, rough=seen.rough),
            f"{batch.labelled:,}",
            f"{probability_in_words(batch.prevalence.value)} ({probability_in_words(batch.prevalence.low)} to "
            f"{probability_in_words(batch.prevalence.high)})",
        ]
        for batch in shown
    ]
    more = len(monitor.batches) - len(shown)
    return [
        heading("The money over time"),
        _cost_picture(monitor, unit),
        heading("The share of positives"),
        _share_picture(monitor),
        table(header, cells),
        paragraph(
            f"Costs per 1,000 rows with 95 % intervals{f'; {more:,} earlier batches are not shown' if more else ''}. "
            "Expected costs and shares of positives are estimated without labels.",
            "soft",
        ),
    ]


def _interval(value: float, low: float, high: float, *, rough: bool = False) -> str:
    return f"{per_thousand(value)} ({ends_in_words(per_thousand(low), per_thousand(high), rough=rough)})"


def _drift_parts(monitor: CostMonitor, unit: str | None) -> list[str]:
    if not monitor.batches:
        return []
    last = monitor.batches[-1]
    of = f" ({unit})" if unit else ""
    near = (
        f"Near the threshold, within half a unit of the log-odds, are {last.near:.1%} of the rows of {last.name}; "
        f"{last.near_expected:.1%} would be expected."
    )
    if not last.drift:
        return [heading(f"What differs in {last.name}"), paragraph(f"No column differs by more than chance. {near}")]
    cells = [
        [one.column, money(float(f"{1000 * one.money:.3g}")), f"{one.changed:.1%}", one.what]
        for one in last.drift[:_DRIFTING]
    ]
    more = len(last.drift) - _DRIFTING
    return [
        heading(f"What differs in {last.name}"),
        table(["column", f"adds per 1,000 rows{of}", "decisions it changes", "how"], cells, words=(0, 3)),
        paragraph(
            "What a column adds: the expected cost of the rows as they are, minus that with this column put back to "
            f"what it was in the reference. {f'{more} more differ, and matter less. ' if more > 0 else ''}{near}",
            "soft",
        ),
    ]


# -- pictures ---------------------------------------------------------------------------------------------------------


def _cost_picture(monitor: CostMonitor, unit: str | None) -> str:
    from uneven.figures.style import COLOURS, GREY, money_axis, panels, styled

    batches = monitor.batches
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.4, height=3.4)
        at = np.arange(len(batches))
        value, low, high = (
            1000 * np.array([getattr(b.estimate, n) for b in batches]) for n in ("value", "low", "high")
        )
        axes.plot(at, value, color=COLOURS[0], marker="o", markersize=3, label="expected, without labels")
        unfit = [k for k, batch in enumerate(batches) if batch.notes]
        if unfit:
            style: dict[str, Any] = {"markerfacecolor": "white", "color": COLOURS[0], "linestyle": "none"}
            axes.plot(unfit, value[unfit], "o", markersize=6, label="scores do not fit", **style)
        axes.fill_between(at, low, high, color=COLOURS[0], alpha=0.18, linewidth=0)
        known = [(k, b.realised) for k, b in enumerate(batches) if b.realised is not None]
        if known:
            place = np.array([k for k, _ in known]) + 0.12
            mid, low, high = (1000 * np.array([getattr(r, n) for _, r in known]) for n in ("cost", "low", "high"))
            axes.errorbar(
                place, mid, [mid - low, high - mid], fmt="s", markersize=4, color=COLOURS[1], label="realised"
            )
        axes.axhline(1000 * monitor.promise, color=GREY, linestyle=(0, (5, 2)), label="promised at most")
        _mark_alarms(axes, monitor)
        axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]), top=1.35 * axes.get_ylim()[1])
        axes.yaxis.set_major_formatter(lambda value, _: money(float(value)))
        money_axis(axes.yaxis, "cost per 1,000 rows", unit)
        _name_batches(axes, batches)
        axes.legend(loc="upper left", ncols=2)
        return picture(figure, "Expected and realised cost of each batch, with the promise and the alarms")


def _share_picture(monitor: CostMonitor) -> str:
    from uneven.figures.style import COLOURS, GREY, panels, styled

    batches = monitor.batches
    with styled():
        figure, ((axes,),) = panels(1, 1, width=6.4, height=3.0)
        for k, (name, words) in enumerate(
            (("prevalence", "by probabilities (EM)"), ("by_decisions", "by decisions (confusion matrix)"))
        ):
            of = [getattr(batch, name) for batch in batches]
            at = np.arange(len(batches)) + 0.2 * (k - 0.5)
            value, low, high = (100 * np.array([getattr(one, end) for one in of]) for end in ("value", "low", "high"))
            style: dict[str, Any] = {"color": COLOURS[2 * k], "markersize": 4, "label": words, "linewidth": 1.1}
            axes.errorbar(at, value, [value - low, high - value], fmt="os"[k], **style)
        whole = [(k, 100 * b.positives / b.labelled) for k, b in enumerate(batches) if b.labelled]
        if whole:
            axes.plot(*zip(*whole, strict=True), "x", color=COLOURS[1], markersize=6, label="among labelled rows")
        axes.axhline(100 * monitor.prevalence_in_use.value, color=GREY, linestyle=(0, (5, 2)), label="decided for")
        _mark_alarms(axes, monitor)
        axes.set_ylim(bottom=0, top=1.35 * axes.get_ylim()[1])
        axes.set_ylabel("share of positives (%)")
        _name_batches(axes, batches)
        axes.legend(loc="upper left", ncols=2)
        return picture(figure, "Share of positives of each batch, estimated in two ways and among labelled rows")


def _mark_alarms(axes: Any, monitor: CostMonitor) -> None:
    """A line where each alarm was raised, the first one in the legend."""
    from uneven.figures.style import COLOURS

    place = {batch.name: k for k, batch in enumerate(monitor.batches)}
    for k, alarm in enumerate(monitor.alarms):
        axes.axvline(
            place[alarm.batch],
            ymax=0.74,
            color=COLOURS[3],
            linewidth=1.6,
            linestyle=":",
            label="alarm" if k == 0 else None,
        )


def _name_batches(axes: Any, batches: list[Batch]) -> None:
    step = max(1, -(-len(batches) // _NAMES))
    shown = range(0, len(batches), step)
    axes.set_xticks(list(shown), [batches[k].name[:14] for k in shown], rotation=40, ha="right")
    axes.set_xlim(-0.6, len(batches) - 0.4)
