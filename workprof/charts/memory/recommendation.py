"""The recommendation in figures: the two baselines, the frontier, what is recommended, the sizes of the next runs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workprof.answers.tasks import shown, task_labels
from workprof.charts import shapes
from workprof.charts.memory.tasks import row_labels
from workprof.charts.shapes import LEGEND_ABOVE, LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of, rows_axis
from workprof.charts.text import counted, listed, shortened
from workprof.charts.theme import COLOURS, rows_height
from workprof.core.table import Column, frame
from workprof.core.units import DAY_S, GB, format_share, gb_h, number, saved
from workprof.memory.advised_sizes import RUN, TASK, AdvisedSize
from workprof.memory.policy_figures import PolicyFigures
from workprof.memory.recommend import Recommendation, TriedSetting
from workprof.memory.trial import Judged

SAVING, KILLS = "Memory saving", "Kills"
REQUESTED, ENFORCED, RECOMMENDED = "requested", "requests enforced", "recommended"
"""The same words wherever the two baselines stand."""

MOST_ROWS = 15
ROOM = 1.5
"""How far the axis of waste reaches over what is requested; settings beyond are counted in the note."""
REACH = 2.5
"""How far the axis of kills reaches over the baseline's and the recommended ones."""
LEAST_WASTE = 1e-6
PLACES_PER_STEP = 24
BETTER = "rgba(42, 143, 87, 0.14)"


FIRST_YEAR = 1980
"""Before it a clock counts from the start of the trace."""


def recommendation_headlines(result: Recommendation) -> tuple[Headline, ...]:
    """Return saving, kills, waste and what they were judged on: the same figures on every page."""
    return (*saving_headlines(result), *_waste_headlines(result))


def saving_headlines(result: Recommendation) -> tuple[Headline, Headline]:
    """Return saving and kills side by side."""
    runs = f"the {counted(result.n_judged, 'run')} of the second half"
    interval = "keep the requests" if result.kept else _interval(result)
    return (
        Headline(
            SAVING,
            format_share(result.recommended.saved_share),
            f"Of the GB·h that {runs} requested, kills charged; chosen on the first half. Below it the 95 % interval, "
            "or that nothing better than the requests is known.",
            interval,
        ),
        Headline(
            KILLS,
            f"{result.recommended.failures:,}",
            f"Attempts of {runs} that are killed for memory and run again; below it those of requests enforced, where "
            "a run above its request is killed and retried."
            + (" The requests are kept and limit nothing, so no run is killed." if result.kept else ""),
            f"if enforced: {result.enforced.failures:,}",
        ),
    )


def _waste_headlines(result: Recommendation) -> tuple[Headline, Headline]:
    runs = counted(result.n_judged, "run")
    return (
        Headline(
            "Wasted",
            gb_h(result.recommended.wasted_gb_h),
            f"GB·h charged and not used by {runs}; below it what the same runs requested and did not use.",
            f"{REQUESTED}: {gb_h(result.requested.wasted_gb_h)}",
        ),
        Headline(
            "Judged on",
            f"{result.n_judged:,} runs",
            "The second half of the runs, in order of start; the setting was chosen on the first half alone.",
            f"chosen on {result.n_past:,}",
        ),
    )


def _interval(result: Recommendation) -> str:
    low, high = result.interval.low, result.interval.high
    return f"95 %: {100 * low:.1f} to {100 * high:.1f} %" if math.isfinite(low + high) else ""


def recommendation_sentence(result: Recommendation) -> str:
    """Return what to do, and why."""
    return f"Keep the requests. {result.reason}" if result.kept else result.reason


def bursts_sentence(result: Recommendation) -> str:
    """Return the bursts in a sentence; '' where there are none."""
    if not result.bursts:
        return ""
    named = [
        f"{shortened(shown(one.task), 40)} on {_day(one.day_s)} ({format_share(one.share)} of all GB·h)"
        for one in result.bursts[:3]
    ]
    more = f" and {len(result.bursts) - 3:,} more" if len(result.bursts) > 3 else ""
    counts = "They are excluded here." if result.settings.leave_out_bursts else "They count here."
    return f"{counted(len(result.bursts), 'burst')}: {listed(named)}{more}. {counts}"


def _day(day_s: float) -> str:
    """Return a date; of a trace whose clock begins at 0, the number of the day."""
    date = pd.Timestamp(day_s, unit="s")
    return f"day {int(day_s // DAY_S) + 1:,}" if date.year < FIRST_YEAR else f"{date:%Y-%m-%d}"


def cost_sentence(result: Recommendation) -> str:
    """Return what a kill costs where this very setting is the cheapest; '' where there is no such cost."""
    low, high = result.cost_per_kill_gb_h
    if math.isnan(low):
        return ""
    if math.isinf(high):
        return f"The same choice as a cost per kill of {gb_h(low)} or more."
    return f"The same choice as a cost per kill of {number(low)} to {gb_h(high)}."


def frontier_and_baselines(result: Recommendation) -> Chart:
    """Return waste against kills on linear axes: the two baselines, every setting of ours, the recommended one."""
    efficient = sorted((one for one in result.tried if one.efficient), key=lambda one: one.judged.failures)
    top = max(
        ROOM * max(result.requested.wasted_gb_h, result.recommended.wasted_gb_h), 1.1 * result.enforced.wasted_gb_h
    )
    right = REACH * max(result.enforced.failures, result.recommended.failures, 1)
    drawn = [one for one in result.tried if one.judged.wasted_gb_h <= top and one.judged.failures <= right]
    most = max([result.enforced.failures, result.recommended.failures, *(one.judged.failures for one in drawn), 1])
    plane = Plane((-0.04 * most, 1.12 * most), (0.0, max(top, LEAST_WASTE)))
    ours = [one for one in efficient if one in drawn]
    marks: list[dict[str, Any]] = [
        shapes.points(
            [one.judged.failures for one in drawn] or [None],
            [one.judged.wasted_gb_h for one in drawn] or [None],
            name="settings of workprof",
            colour=NEUTRAL,
            symbol="circle",
            size=6,
            opacity=0.5,
            hover="%{customdata}<br>%{x:,} kills, %{y:,.3s} GB·h not used",
            customdata=[one.setting for one in drawn],
        ),
        shapes.line(
            [one.judged.failures for one in ours],
            [one.judged.wasted_gb_h for one in ours],
            name="best trade-off",
            colour=COLOURS[0],
            width=2,
        ),
        *_named_marks(result, plane, ours),
    ]
    beyond = len(result.tried) - len(drawn)
    return Chart(
        name="memory-recommendation",
        figure=figure_of(
            marks,
            x={"title": "Out-of-memory kills", "range": list(plane.x), **kill_ticks(most)},
            y={"title": "Memory held and not used (GB·h)", "range": list(plane.y), "tickformat": "~s"},
            height=420,
            shapes=better(result.enforced, plane),
            **LEGEND_BELOW,
        ),
        takeaway=_trade_off(result),
        shows=f"Waste against kills: the requests, requests enforced, and {len(result.tried)} settings of workprof.",
        data=frontier_table(result),
        note="Nearer to the lower left is better; shaded: better on both than requests enforced."
        + (f" {counted(beyond, 'setting')} beyond the axes: in the data." if beyond else ""),
    )


FEW_KILLS = 8


def kill_ticks(most: float) -> dict[str, Any]:
    """Return the ticks of an axis of kills: there is no half of one."""
    return {"dtick": 1} if most <= FEW_KILLS else {"tickformat": "~s"}


@dataclass(frozen=True)
class Plane:
    """Ranges of kills and of waste that a figure shows."""

    x: tuple[float, float]
    y: tuple[float, float]

    def across(self, kills: float) -> float:
        """Return a place as a share of the axis of kills."""
        return (kills - self.x[0]) / (self.x[1] - self.x[0])

    def up(self, waste: float) -> float:
        """Return a place as a share of the axis of waste."""
        return (waste - self.y[0]) / (self.y[1] - self.y[0])

    def along(self, ends: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        """Return places along a line of (kills, waste), as shares of the axes, so that labels keep clear of it."""
        places = [(self.across(kills), self.up(waste)) for kills, waste in ends]
        steps = [at / PLACES_PER_STEP for at in range(PLACES_PER_STEP)]
        between = [
            (x + at * (next_x - x), y + at * (next_y - y))
            for (x, y), (next_x, next_y) in itertools.pairwise(places)
            for at in steps
        ]
        return [*between, *places[-1:]]


def better(today: Judged | PolicyFigures, plane: Plane) -> list[dict[str, Any]]:
    """Return the ground on which a setting has fewer kills and less waste than today."""
    ends = {"x0": plane.x[0], "x1": today.failures, "y0": plane.y[0], "y1": today.wasted_gb_h}
    return [{"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": BETTER} | ends]


def _named_marks(result: Recommendation, plane: Plane, ours: Sequence[TriedSetting]) -> list[dict[str, Any]]:
    """Return recommended, requested and requests enforced as marks, with labels that do not meet."""
    name = f"{RECOMMENDED}: keep the requests" if result.kept else RECOMMENDED
    ways = [
        (name, result.recommended, (COLOURS[2], "circle-open" if result.kept else "circle", 17)),
        (ENFORCED, result.enforced, (COLOURS[1], "x", 13)),
        (REQUESTED, result.requested, (COLOURS[1], "cross", 13)),
    ]
    places = [(plane.across(one.failures), plane.up(one.wasted_gb_h)) for _, one, _ in ways]
    words = [
        "" if at and places[at] in places[:at] else name  # without a kill both baselines are one point
        for at, (name, _, _) in enumerate(ways)
    ]
    places += plane.along([(one.judged.failures, one.judged.wasted_gb_h) for one in ours])
    words += [""] * (len(places) - len(ways))
    labels, sides = shapes.placed_labels([x for x, _ in places], [y for _, y in places], words)
    marks = [
        shapes.points(
            [one.failures],
            [one.wasted_gb_h],
            name=name,
            colour=colour,
            symbol=symbol,
            size=size,
            outline=2,
            hover=f"<b>{name}</b><br>%{{x:,}} kills, {gb_h(one.wasted_gb_h)} not used",
            mode="markers+text",
            text=[label],
            textposition=side,
            textfont={"size": 12},
            cliponaxis=False,
        )
        for (name, one, (colour, symbol, size)), label, side in zip(
            ways, labels, sides, strict=False
        )  # behind them stand the places of the line
    ]
    return marks[::-1]


def _trade_off(result: Recommendation) -> str:
    """Return what is recommended against both baselines."""
    requested, enforced, best = result.requested, result.enforced, result.recommended
    against = f"requests enforced: {counted(enforced.failures, 'kill')}"
    if result.kept:
        return f"The requests leave {gb_h(requested.wasted_gb_h)} unused without a kill; {against}."
    change = saved(1 - best.wasted_gb_h / requested.wasted_gb_h) if requested.wasted_gb_h > 0 else "no"
    return f"Recommended: {change} unused memory than requested and {counted(best.failures, 'kill')}; {against}."


def frontier_table(result: Recommendation) -> pd.DataFrame:
    """Return one line per baseline and per setting, on both halves of the runs."""
    ways = {REQUESTED: result.requested, ENFORCED: result.enforced}
    lines = [
        {"name": name, "wasted_gb_h": one.wasted_gb_h, "kills": one.failures, "saved_percent": 100 * one.saved_share}
        for name, one in ways.items()
    ]
    lines += [_tried(one) for one in result.tried]
    return pd.DataFrame(lines).assign(recommended=lambda table: table["name"] == result.setting)


def _tried(one: TriedSetting) -> dict[str, Any]:
    return {
        "name": one.setting,
        "wasted_gb_h": one.judged.wasted_gb_h,
        "kills": one.judged.failures,
        "saved_percent": 100 * one.judged.saved_share,
        "wasted_before_gb_h": one.past.wasted_gb_h,
        "kills_before": one.past.failures,
        "saved_before_percent": 100 * one.past.saved_share,
        "acceptable": "yes" if one.acceptable else "no",
    }


def sizes_chart(result: Recommendation, names: Mapping[str, str] | None = None) -> Chart | None:
    """Return request, largest use and recommended size of the keys that waste most; None for single runs.

    Args:
        result: the recommendation.
        names: key -> what it is called, where that is another word, as of profiles.
    """
    sizes = [one for one in result.sizes if math.isfinite(one.size_bytes)][:MOST_ROWS]
    if result.settings.by == RUN or not sizes:
        return None
    rows = row_labels([(names or {}).get(one.key, one.key) for one in sizes])
    unchanged = [one.kept for one in sizes]
    amounts = [size for one in sizes for size in (one.size_bytes, one.requested_bytes, one.largest_bytes)]
    widest = max(size for size in amounts if math.isfinite(size)) / GB
    figure = figure_of(
        [
            _row_marks("largest use", [one.largest_bytes for one in sizes], rows, (NEUTRAL, "line-ns-open")),
            _row_marks("request now", [one.requested_bytes for one in sizes], rows, (COLOURS[1], "cross")),
            _row_marks(
                "recommended", [one.size_bytes for one in sizes], rows, (COLOURS[2], "circle"), hollow=unchanged
            ),
        ],
        x={"title": "Memory of one run (GB)", "range": [-0.02 * widest, 1.04 * widest]},
        y=rows_axis(rows, grid=True),
        height=rows_height(len(rows)),
        **LEGEND_ABOVE,
    )
    others = len(result.sizes) - len(sizes)
    by = result.settings.by
    changed = sum(not one.kept for one in result.sizes)
    return Chart(
        name="memory-recommended-sizes",
        figure=figure,
        takeaway=f"{changed:,} of {counted(len(result.sizes), by)} get another size than they request now.",
        shows=f"Request, largest use and recommended size of {counted(len(sizes), by)}.",
        data=size_table(result, names),
        note="The one that wastes most with its requests first; a ring: the request is kept."
        + (f" {others:,} more in the table." if others else ""),
    )


def _row_marks(
    name: str, sizes: list[float], rows: list[str], look: tuple[str, str], hollow: list[bool] | None = None
) -> dict[str, Any]:
    colour, symbol = look
    symbols: Any = symbol if hollow is None else [f"{symbol}-open" if one else symbol for one in hollow]
    return shapes.points(
        [size / GB for size in sizes],
        rows,
        name=name,
        colour=colour,
        symbol=symbols,
        size=11,
        outline=2,
        hover=f"%{{y}}, {name}: %{{x:.4g}} GB",
    )


def _next(one: AdvisedSize) -> str:
    return ", ".join(f"{size / GB:.4g}" for size in one.next_bytes if math.isfinite(size))


def _kill_words(one: AdvisedSize) -> str:
    if not one.n_tested:
        return "not tested"
    ways = "if enforced: " if one.kept else ""
    if math.isnan(one.kill_probability):  # one run
        return ways + ("killed" if one.n_killed else "not killed")
    return ways + f"{100 * one.kill_probability:.1f} % ({100 * one.kill_low:.1f} to {100 * one.kill_high:.1f} %)"


ONLY_IN_FILES = ("kill_percent", "kill_low", "kill_high")
"""Columns of numbers that stand in words on the page."""

SIZE_COLUMNS = (
    Column("key", heading="for", pinned=True, width="medium"),
    Column("size_gb", lambda one: one.size_bytes / GB, heading="request next", form="%.4g GB"),
    Column("next_gb", _next, heading="after a kill (GB)", help="Sizes of the next attempts; then doubled."),
    Column("requested_gb", lambda one: one.requested_bytes / GB, heading="request now", form="%.4g GB"),
    Column("largest_gb", lambda one: one.largest_bytes / GB, heading="largest use", form="%.4g GB"),
    Column(
        "kill_probability",
        _kill_words,
        heading="kill probability",
        help="Of the runs of the second half, each sized from those before it; where the request is kept, "
        "if it were enforced as a limit. In brackets Wilson's 95 % interval.",
    ),
    Column("kill_percent", lambda one: 100 * one.kill_probability, form="%.1f %%"),
    Column("kill_low", lambda one: 100 * one.kill_low, form="%.1f %%"),
    Column("kill_high", lambda one: 100 * one.kill_high, form="%.1f %%"),
    Column("tested_runs", "n_tested", heading="tested runs"),
    Column("runs", "n_runs"),
    Column("wasted_gb_h", heading="wasted (GB·h)", form="%,.4g", help="By the tested runs."),
    Column("requested_wasted_gb_h", heading="wasted now (GB·h)", form="%,.4g"),
    Column("kept", lambda one: "request kept" if one.kept else "new size", heading="advice"),
    Column("why", heading="evidence", width="large"),
)
"""A line per task, profile, user, group or run."""


def size_table(result: Recommendation, names: Mapping[str, str] | None = None) -> pd.DataFrame:
    """Return what to request for the next run of every key, the one that wastes most first; shares in per cent."""
    keys = [(names or {}).get(one.key, one.key) for one in result.sizes]
    table = frame(SIZE_COLUMNS, result.sizes).assign(key=keys, full_name=keys)
    return table.assign(key=list(task_labels(keys))) if result.settings.by == TASK else table
