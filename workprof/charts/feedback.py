"""Figures and tables of the feedback loop: ACQUIRES over time, drift per profile, estimates now and at the fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, Chart, Headline, figure_of, vertical
from workprof.charts.text import counted, label, plotly_text, shortened
from workprof.charts.theme import COLOURS, OUTLIER_COLOUR, rows_height
from workprof.core.units import format_share
from workprof.forecasts.feedback.assignment import OUTLIER
from workprof.forecasts.feedback.drift import DRIFT, NO_DRIFT, SLIGHT, TOO_FEW, Assessment, Drift, FeedbackNow
from workprof.forecasts.feedback.loop import Observed
from workprof.forecasts.feedback.windows import FIT, OBSERVED, REFITTED, FeedbackState, HistoryEntry
from workprof.profiles.names import UNCLUSTERED


def feedback_headlines(state: FeedbackState, stands: Assessment) -> tuple[Headline, ...]:
    """Return the loop as figures; both kinds of violations are counted over all targets since the last fit."""
    known = sum(int(one.tally.known.sum()) for one in state.profiles.values())
    under = sum(int(one.tally.under.sum()) for one in state.profiles.values())
    over = sum(int(one.tally.over.sum()) for one in state.profiles.values())
    agreed = state.n_agreed / state.n_predicted if state.n_predicted else math.nan
    return (
        Headline(
            "Needed more",
            format_share(under / known if known else math.nan),
            "Predictions whose job needed more than the upper end of the interval: under-provisioned.",
        ),
        Headline(
            "Needed less",
            format_share(over / known if known else math.nan),
            "Predictions whose job needed less than the lower end of the interval: over-provisioned.",
        ),
        Headline(
            "As predicted",
            format_share(agreed),
            "Share of the jobs with a predicted profile whose measurements belong to it.",
        ),
        Headline(
            "In no profile",
            format_share(stands.outlier_share),
            "Share of the recent jobs that are far from every profile.",
            f"{format_share(stands.outlier_share_at_fit)} at the fit",
        ),
    )


def advice_sentence(stands: Assessment) -> str:
    """Return whether another clustering is advised, and why."""
    if not stands.recluster_advised:
        return "No drift that calls for another clustering."
    return f"Another clustering is advised: {'; '.join(stands.reasons)}."


def observed_words(state: FeedbackState) -> str:
    """Return how many finished jobs the comparison rests on."""
    again = f" since {counted(state.refits, 'refit')}" if state.refits else ""
    return f"{counted(state.n_observed, 'finished job')} compared{again}"


def observed_sentence(result: Observed) -> str:
    """Return what became of a table of finished jobs."""
    if result.already:
        return f"This table of {counted(result.n_read, 'finished job')} was compared before; nothing is counted twice."
    parts = [f"{counted(result.observed, 'finished job')} compared"]
    if result.n_repeated:
        parts.append(f"{result.n_repeated:,} compared before and not counted again")
    if result.n_unfiled:
        parts.append(f"{result.n_unfiled:,} have too few measurements for a profile")
    return f"{'; '.join(parts)}."


WORDS = {FIT: "fit", OBSERVED: "observation", REFITTED: "refit"}
SYMBOLS = {FIT: "diamond", OBSERVED: "circle", REFITTED: "star"}
HISTORY_COLOUR_OF = {FIT: COLOURS[0], OBSERVED: COLOURS[2], REFITTED: COLOURS[1]}


def acquires_history(history: Sequence[HistoryEntry]) -> Chart:
    """Return ACQUIRES by finished jobs so far; refits and the fit have marks of their own."""
    table = _table(history)
    figure = figure_of(
        [
            shapes.line(table["jobs"], table["acquires"], colour=OUTLIER_COLOUR, width=1.5, showlegend=False),
            *[_history_marks(table, event) for event in WORDS],
        ],
        x="Finished jobs compared so far",
        y={"title": "ACQUIRES (0 to 1)", "range": [min(0.0, float(table["acquires"].min(skipna=True) or 0.0)), 1]},
        height=380,
        **LEGEND_ABOVE,
    )
    return Chart(
        name="acquires-history",
        figure=figure,
        takeaway=_takeaway(history),
        shows=f"Line of ACQUIRES over {counted(len(table), 'point')}, with marks for fit, observations and refits.",
        data=table,
        note="ACQUIRES is the mean of silhouette, share in profiles and closeness to the wanted number of profiles, "
        "with the clustering's true number of profiles. Jobs are filed under the profile nearest to what they "
        "measured, at the fit as afterwards, so the points are comparable; the score on the Profiles page counts the "
        "clustering's own outliers.",
    )


def _table(history: Sequence[HistoryEntry]) -> pd.DataFrame:
    columns = ["when", "event", "jobs", "recent", "acquires", "n_clusters", "outlier_share", "drifting"]
    return pd.DataFrame([[getattr(entry, name) for name in columns] for entry in history], columns=columns)


def _history_marks(table: pd.DataFrame, event: str) -> dict[str, Any]:
    rows = table[table["event"] == event]
    return shapes.points(
        rows["jobs"],
        rows["acquires"],
        name=WORDS[event],
        colour=HISTORY_COLOUR_OF[event],
        symbol=SYMBOLS[event],
        size=11,
        hover="%{customdata[0]}: %{y:.3f} on %{customdata[1]:,} jobs, %{customdata[2]:.1%} far from every profile",
        customdata=rows[["when", "recent", "outlier_share"]],
    )


def _takeaway(history: Sequence[HistoryEntry]) -> str:
    first, last = history[0], history[-1]
    refits = sum(entry.event == REFITTED for entry in history)
    after = f", {counted(refits, 'refit')} between" if refits else ""
    if len(history) == 1:
        return f"ACQUIRES was {first.acquires:.3f} at the fit; no finished job was compared since."
    if not math.isfinite(last.acquires):
        return f"ACQUIRES was {first.acquires:.3f} at the fit; the recent jobs are too similar to compute it now."
    return (
        f"ACQUIRES is {last.acquires:.3f} after {counted(last.jobs, 'finished job')}; it was {first.acquires:.3f} at "
        f"the fit{after}."
    )


DRIFT_COLOUR_OF = {DRIFT: COLOURS[4], SLIGHT: COLOURS[6], NO_DRIFT: COLOURS[2], TOO_FEW: OUTLIER_COLOUR}
SYMBOL_OF = {DRIFT: "x", SLIGHT: "diamond", NO_DRIFT: "circle", TOO_FEW: "circle-open"}


def drift_bars(drift: Sequence[Drift], target: str, names: Mapping[int, str] | None = None) -> Chart:
    """Return the change of the median error of one target in every profile that can be judged."""
    table = drift_table(drift, names)
    table = table[(table["target"] == target) & (table["errors"] != TOO_FEW)].reset_index(drop=True)
    shown = [plotly_text(name) for name in table["name"]]
    figure = figure_of(
        [_drift_marks(table, word) for word in (DRIFT, SLIGHT, NO_DRIFT)],
        x={"title": "Actual / predicted (median), relative to the fit (factor)", "type": "log"},
        y={"type": "category", "categoryorder": "array", "categoryarray": shown[::-1]},
        height=rows_height(len(table)),
        **LEGEND_ABOVE,
        shapes=[vertical(1, dash="dot", colour=OUTLIER_COLOUR, width=1.5)],
    )
    return Chart(
        name=f"drift-{target}",
        figure=figure,
        takeaway=drift_words([one for one in drift if one.target == target], target),
        shows=f"Marks with intervals of {counted(len(table), 'profile')} on a logarithmic axis.",
        data=table,
        note="Above 1, jobs need more than predicted, compared with the fit. Lines: 95 % interval. Drift: significant "
        "(all tests of a check together) and large enough to matter; slight: significant only. Runs of one job count "
        "together.",
    )


def drift_table(drift: Sequence[Drift], names: Mapping[int, str] | None = None) -> pd.DataFrame:
    """Return one line per profile and target, those with drift first."""
    given = names or {}
    lines = [
        {
            "profile": one.profile,
            "name": shortened(given.get(one.profile, f"P{one.profile}")),
            "target": one.target,
            "jobs": one.jobs,
            "independent jobs": round(one.effective, 1),
            "errors": one.error.word,
            "error factor": one.error.factor,
            "factor low": float(np.exp(one.error.low)),
            "factor high": float(np.exp(one.error.high)),
            "error p": one.error.probability,
            "needs": one.distribution.word,
            "distance": one.distribution.distance,
            "stability index": one.distribution.stability_index,
            "needs p": one.distribution.probability,
        }
        for one in sorted(drift, key=lambda one: (not one.is_drifting, one.profile, one.target))
    ]
    return pd.DataFrame(lines, columns=_COLUMNS)


_COLUMNS = [
    *("profile", "name", "target", "jobs", "independent jobs", "errors", "error factor", "factor low", "factor high"),
    *("error p", "needs", "distance", "stability index", "needs p"),
]


def drift_words(drift: Sequence[Drift], target: str = "") -> str:
    """Return how many profiles drift, and how many cannot be judged yet, in one sentence."""
    profiles = {one.profile for one in drift}
    errors = {one.profile for one in drift if one.error.word == DRIFT}
    needs = {one.profile for one in drift if one.distribution.word == DRIFT}
    judged = {one.profile for one in drift if one.distribution.word != TOO_FEW}
    of_what = f"{label(target)}: " if target else ""
    if not judged:
        return f"{of_what}no profile has enough finished jobs to detect drift yet."
    open_ = len(profiles) - len(judged)
    later = f"; {counted(open_, 'profile')} cannot be judged yet" if open_ else ""
    return (
        f"{of_what}errors drift in {len(errors)} and needs in {len(needs)} of {counted(len(judged), 'profile')}{later}."
    )


def _drift_marks(table: pd.DataFrame, word: str) -> dict[str, Any]:
    rows = table[table["errors"] == word]
    return shapes.points(
        rows["error factor"],
        [plotly_text(name) for name in rows["name"]],
        name=word,
        colour=DRIFT_COLOUR_OF[word],
        symbol=SYMBOL_OF[word],
        size=11,
        hover="%{y}: factor %{x:.2f}, %{customdata[0]:,} jobs, needs: %{customdata[1]}",
        error_x=shapes.interval(
            rows["error factor"], rows["factor low"], rows["factor high"], colour=OUTLIER_COLOUR, width=1.5
        ),
        customdata=rows[["jobs", "needs"]],
    )


def quantile_table(now: FeedbackNow, target: str, names: Mapping[int, str] | None = None) -> pd.DataFrame:
    """Return one line per profile: quantiles of one target now and at the fit, in the target's unit."""
    given = {OUTLIER: UNCLUSTERED, **(names or {})}
    lines = []
    for name, targets in now.quantiles.items():
        one = targets[target]
        line: dict[str, object] = {"profile": shortened(given.get(int(name), f"P{name}"))}
        for level, value, before in zip(one.levels, one.now, one.at_fit, strict=True):
            line[f"p{level * 100:g} now"], line[f"p{level * 100:g} at the fit"] = value, before
        lines.append(line | {"independent jobs": round(one.effective, 1)})
    return pd.DataFrame(lines)
