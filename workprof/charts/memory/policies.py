"""Policies: the table, the frontier of wastage and failures, the reason for a size, what a plan would break."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.charts import shapes
from workprof.charts.memory.tasks import gb, gb_h, number, shown
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of, stacked_labels, vertical
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.core.table import Column, frame
from workprof.core.units import GB, format_share
from workprof.memory.plan import Violations
from workprof.memory.replay import PolicyFigures, ReplayResult
from workprof.memory.why import Why

POLICY_WORDS = {
    "workprof": "workprof",
    "workprof_task": "workprof, task alone",
    "workprof_cautious": "workprof, cautious",
    "preset": "current request",
    "p95": "p95",
    "krr": "KRR rule",
    "vpa": "VPA rule",
    "tovar": "Tovar PPM",
    "witt_lr": "Witt-LR",
    "ponder": "Ponder",
    "site_rule": "rule of sites",
    "linear_offset": "line + offset",
    "thesis_bins": "thesis bins",
    "thesis_bins_svm": "thesis bins, SVM",
    "min_waste": "min waste",
    "local_min_waste": "local min waste",
    "oracle_bins": "oracle, bins",
    "oracle_bins_free": "oracle, bins, free top",
    "oracle_exact": "oracle, exact",
}
OURS, NOW, ORACLE = "workprof", "preset", "oracle"
"""Names of policies; `NOW` gives every run what it asked for, `ORACLE` is how those begin that cannot be had."""


@dataclass(frozen=True)
class Candidate:
    """A policy, or a setting of ours, as a point of the plane.

    Attributes:
        name: in words.
        wasted_gb_h: mean over seeds.
        failures: mean over seeds.
    """

    name: str
    wasted_gb_h: float
    failures: float

    def total_gb_h(self, price_gb_h: float) -> float:
        """Return waste with a price on every failure."""
        return self.wasted_gb_h + price_gb_h * self.failures


def policy_name(policy: str) -> str:
    """Return a policy's name in words."""
    return POLICY_WORDS.get(policy, policy)


def picked(found: ReplayResult, price_gb_h: float) -> Candidate:
    """Return what is best at a price per failure in GB·h; oracles cannot be had."""
    known = [
        Candidate(policy_name(one.policy), one.wasted_gb_h, one.failures)
        for one in found.policies.values()
        if not one.policy.startswith(ORACLE)
    ]
    known += [Candidate(f"workprof ({one.setting})", one.wasted_gb_h, one.failures) for one in found.frontier]
    return min(known, key=lambda one: one.total_gb_h(price_gb_h))


POLICY_COLUMNS = (
    Column("policy", lambda one: policy_name(one.policy), heading="policy", pinned=True),
    Column("wasted_gb_h", heading="wasted (GB·h)", form="%,.4g", help="Charged and not used."),
    Column("failures", heading="failed attempts", form="%,.4g"),
    Column(
        "failed_low",
        lambda one: 100 * one.failed_share.low,
        heading="runs failing, from",
        form="%.1f %%",
        help="Wilson interval of runs with a failure.",
    ),
    Column("failed_high", lambda one: 100 * one.failed_share.high, heading="to", form="%.1f %%"),
    Column(
        "saved_percent",
        lambda one: 100 * one.saving_share,
        heading="saved",
        form="%.1f %%",
        help="Of what the requests of now are charged.",
    ),
    Column(
        "saved_low",
        lambda one: 100 * one.saving.low,
        heading="saved, from",
        form="%.1f %%",
        help="Bootstrap over the runs.",
    ),
    Column("saved_high", lambda one: 100 * one.saving.high, heading="saved, to", form="%.1f %%"),
    Column("total_gb_h", "wasted_gb_h", heading="waste + price (GB·h)", form="%,.4g"),
    Column("charged_gb_h", heading="charged (GB·h)", form="%,.4g"),
    Column("never_fit", lambda one: one.n_never_fit + one.n_given_up, heading="never finished", form="%,.4g"),
    Column("seconds", heading="time (s)", form="%.3g"),
)
"""A line per policy; the price of the failures is added to 'total_gb_h'."""

CHOICE_COLUMNS = (
    Column("price_gb_h", heading="price of a failure (GB·h)", form="%,.4g"),
    Column("pick", lambda one: policy_name(one.name)),
    Column("wasted_gb_h", heading="wasted (GB·h)", form="%,.4g"),
    Column("failures", heading="failed attempts", form="%,.4g"),
)
"""A line per price of a failure."""


def policy_table(found: ReplayResult, price_gb_h: float = 0.0) -> pd.DataFrame:
    """Return one line per policy, the cheapest at the price first; shares in per cent."""
    figures = sorted(found.policies.values(), key=lambda one: one.wasted_gb_h + price_gb_h * one.failures)
    totals = [one.wasted_gb_h + price_gb_h * one.failures for one in figures]
    return frame(POLICY_COLUMNS, figures).assign(total_gb_h=totals)


def policy_headlines(found: ReplayResult, price_gb_h: float) -> tuple[Headline, ...]:
    """Return what the price picks, waste beside failures, and what is wasted now."""
    best, now = picked(found, price_gb_h), found.policies.get(NOW)
    headlines = [
        Headline("Wasted", gb_h(best.wasted_gb_h), f"Charged and not used, by {best.name}.", "by the pick"),
        Headline(
            "Failed attempts",
            number(best.failures),
            f"Of {counted(found.n_test, 'run')}, by {best.name}.",
            f"{format_share(best.failures / max(found.n_test, 1))} of runs",
        ),
    ]
    if now is not None:
        headlines += [
            Headline("Wasted now", gb_h(now.wasted_gb_h), "By the requests of now.", f"{number(now.failures)} failures")
        ]
    headlines.append(
        Headline("Used", gb_h(found.used_gb_h), "What the runs used: no policy can be charged less.", "the bound")
    )
    return tuple(headlines)


def choice_table(found: ReplayResult) -> pd.DataFrame:
    """Return what each price of a failure picks."""
    return frame(CHOICE_COLUMNS, found.choices)


_TICKS = (0, 1, 5, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 1_000_000)
_LEAST_DRAWN = 1e-6


def frontier_chart(found: ReplayResult, price_gb_h: float) -> Chart:
    """Return waste against failures: policies as marks, our settings as a line, the pick of the price outlined."""
    best = picked(found, price_gb_h)
    peers = [one for one in found.policies.values() if not one.policy.startswith(OURS)]
    ours = [one for one in found.policies.values() if one.policy.startswith(OURS)]
    most = max(best.failures, *(one.failures for one in found.policies.values()))
    figure = figure_of(
        [
            _settings(found),
            _marks("peers", peers, (COLOURS[1], "circle"), most),
            _marks("ours", ours, (COLOURS[0], "diamond"), most),
            shapes.points(
                [math.sqrt(max(best.failures, 0.0))],
                [max(best.wasted_gb_h, _LEAST_DRAWN)],
                name="chosen",
                colour=NEUTRAL,
                symbol="square-open",
                size=20,
                outline=2.4,
            ),
        ],
        x=_failures_axis(most),
        y=_waste_axis(
            [*(one.wasted_gb_h for one in found.policies.values()), *(one.wasted_gb_h for one in found.frontier)]
        ),
        height=460,
        **LEGEND_BELOW,
    )
    return Chart(
        name="memory-frontier",
        figure=figure,
        takeaway=f"At {number(price_gb_h)} GB·h per failure, {best.name} is best: {gb_h(best.wasted_gb_h)} wasted, "
        f"{number(best.failures)} failed attempts of {counted(found.n_test, 'run')}.",
        shows=f"Waste against failed attempts of {len(found.policies)} policies and {len(found.frontier)} settings of "
        f"workprof.",
        data=frontier_table(found),
        note=f"Nearer to the lower left is better. {counted(found.n_tasks, 'task')}, {found.n_test:,} replayed runs, "
        f"order {found.protocol}, input {found.input_column}, one simulator for all.",
    )


def frontier_table(found: ReplayResult) -> pd.DataFrame:
    """Return every point of the plane."""
    points = [
        {"name": policy_name(one.policy), "kind": "policy", "wasted_gb_h": one.wasted_gb_h, "failures": one.failures}
        for one in found.policies.values()
    ]
    points += [
        {
            "name": one.setting,
            "kind": "setting of workprof, efficient" if one.efficient else "setting of workprof",
            "wasted_gb_h": one.wasted_gb_h,
            "failures": one.failures,
        }
        for one in found.frontier
    ]
    return pd.DataFrame(points)


def _failures_axis(most: float) -> dict[str, Any]:
    ticks = [tick for tick in _TICKS if tick <= most * 1.1] or [0]
    end = math.sqrt(most + 1)
    return {
        "title": "Failed attempts (square-root axis)",
        "tickvals": [math.sqrt(tick) for tick in ticks],
        "ticktext": [f"{tick:,}" for tick in ticks],
        "range": [-0.06 * end, 1.08 * end],
    }


def _waste_axis(wasted: list[float]) -> dict[str, Any]:
    low, high = max(min(wasted), _LEAST_DRAWN), max(*wasted, _LEAST_DRAWN)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    ticks = [step * 10.0**power for power in range(first, last + 1) for step in (1, 2, 5)]
    return {
        "title": "Wasted (GB·h, logarithmic)",
        "type": "log",
        "tickvals": ticks,
        "ticktext": [number(tick) for tick in ticks],
        "range": [math.log10(low) - 0.12, math.log10(high) + 0.12],
    }


def _marks(name: str, figures: list[PolicyFigures], look: tuple[str, str], most: float) -> dict[str, Any]:
    """Return policies as marks; those at one place share a label, those far right have theirs on the left."""
    colour, symbol = look
    places = [(round(one.failures, 1), f"{one.wasted_gb_h:.3g}") for one in figures]
    shared = [
        " = ".join(policy_name(other.policy) for other, there in zip(figures, places, strict=True) if there == place)
        for place in places
    ]
    names = [
        words if places.index(place) == at else "" for at, (words, place) in enumerate(zip(shared, places, strict=True))
    ]
    x = [math.sqrt(max(one.failures, 0.0)) for one in figures]
    y = [max(one.wasted_gb_h, _LEAST_DRAWN) for one in figures]
    return shapes.points(
        x or [None],
        y or [None],
        name=name,
        colour=colour,
        symbol=symbol,
        size=10,
        mode="markers+text",
        hover="%{customdata}, %{y:,.4g} GB·h wasted",
        text=stacked_labels([value / math.sqrt(most + 1) for value in x], [math.log10(value) for value in y], names),
        textposition=["middle left" if one.failures > most / 3 else "middle right" for one in figures],
        textfont={"size": 11},
        cliponaxis=False,
        customdata=[f"{policy_name(one.policy)}: {number(one.failures)} failed attempts" for one in figures],
    )


def _settings(found: ReplayResult) -> dict[str, Any]:
    points = sorted((one for one in found.frontier if one.efficient), key=lambda one: one.failures)
    return shapes.line(
        [math.sqrt(max(one.failures, 0.0)) for one in points] or [None],
        [max(one.wasted_gb_h, _LEAST_DRAWN) for one in points] or [None],
        name="workprof settings",
        colour=COLOURS[0],
        width=2,
        mode="lines+markers",
        hover="%{customdata}, %{y:,.4g} GB·h wasted",
        marker={"size": 6, "symbol": "diamond-open"},
        customdata=[f"{one.setting}: {number(one.failures)} failed attempts" for one in points],
    )


MOST_DOTS = 2_000
LARGEST_KEPT = 200


def why_headlines(found: Why) -> tuple[Headline, ...]:
    """Return size, margin and odds of a retry, all by the task alone."""
    odds = found.odds_of_retry
    share = found.retried / found.n_tried if found.n_tried else math.nan
    return (
        Headline(
            "Size", gb(found.size_bytes / GB), "The next run's first attempt, by the task alone.", "first attempt"
        ),
        Headline(
            "After a failure",
            gb(found.next_bytes / GB),
            f"Then {gb(found.last_bytes / GB)}, then doubled.",
            "second attempt",
        ),
        Headline(
            "Margin",
            format_share(found.margin_share),
            "Size over the largest past use at or below it.",
            f"{found.n_above:,} runs used more",
        ),
        Headline(
            "Odds of a retry",
            format_share(share),
            f"{found.retried:,} of {found.n_tried:,} past runs failed when each was sized from those before it; 95 % "
            "interval.",
            f"{odds.low * 100:.1f} to {odds.high * 100:.1f} %",
        ),
        Headline("Request now", gb(found.requested_bytes / GB), "Of the most recent run.", "most recent"),
    )


def why_sentence(found: Why) -> str:
    """Return the reason in words."""
    thin = " These are too few runs to rely on." if found.too_few else ""
    return (
        f"{gb(found.size_bytes / GB)} for {shown(found.settings.task)}, from {counted(found.n_known, 'past run')}: "
        f"{found.n_above:,} of them used more; {found.retried:,} of {found.n_tried:,} failed when sized in turn.{thin}"
    )


def why_history(found: Why) -> Chart:
    """Return every past run as a dot in order of submission, with the size and the request as lines."""
    used = found.used_bytes / GB
    kept = _kept(used)
    lines = [("size", found.size_bytes / GB, (COLOURS[0], "solid"))]
    if math.isfinite(found.requested_bytes):
        lines.append(("request now", found.requested_bytes / GB, (NEUTRAL, "dash")))
    figure = figure_of(
        [
            _dots("fits", kept[used[kept] <= found.size_bytes / GB], used, (COLOURS[2], "circle")),
            _dots("used more", kept[used[kept] > found.size_bytes / GB], used, (COLOURS[4], "x")),
            *(_reasons_line(name, level, len(used), look) for name, level, look in lines),
        ],
        x="Past runs, in order of submission",
        y={"title": "Memory used (GB)", "rangemode": "tozero"},
        height=360,
        **LEGEND_BELOW,
    )
    drawn = f" {len(kept):,} are drawn, the largest among them." if len(kept) < len(used) else ""
    return Chart(
        name="memory-why",
        figure=figure,
        takeaway=why_sentence(found),
        shows=f"Dots of the memory used by {counted(len(used), 'past run')} with the advised size.",
        data=pd.DataFrame({"run": np.arange(1, len(used) + 1), "used_gb": used, "hours": found.hours}),
        note=f"{counted(found.n_known, 'past run')}.{drawn}",
    )


def why_costs(found: Why) -> Chart:
    """Return the mean charge of the past runs at every candidate size, the chosen one marked."""
    sizes, costs = found.candidate_bytes / GB, found.candidate_cost_gb_h
    figure = figure_of(
        [
            shapes.line(sizes, costs, colour=COLOURS[1], width=2, hover="%{x:.4g} GB: %{y:.4g} GB·h per run"),
            shapes.points(
                sizes[found.chosen],
                costs[found.chosen],
                colour=COLOURS[0],
                symbol="diamond",
                size=12,
                hover="chosen: %{x:.4g} GB, %{y:.4g} GB·h per run",
            ),
        ],
        x="First size (GB)",
        y={"title": "Mean charge (GB·h per run)", "rangemode": "tozero"},
        height=320,
        shapes=[vertical(found.size_bytes / GB, dash="dot")],
    )
    cheapest = float(sizes[int(np.argmin(costs))])
    chosen = float(costs[found.chosen][0])
    return Chart(
        name="memory-why-costs",
        figure=figure,
        takeaway=f"At {gb(found.size_bytes / GB)} a past run would have been charged {number(chosen)} GB·h on average, "
        f"retries included; {number(float(costs.min()))} GB·h at {gb(cheapest)}.",
        shows="Line of the mean charge against the first size.",
        data=pd.DataFrame({"size_gb": sizes, "charge_gb_h": costs, "chosen": found.chosen}),
        note="The chosen size also counts runs larger than any seen, and the price of a failure; so it need not be the "
        "cheapest of the past.",
    )


def _kept(used: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if len(used) <= MOST_DOTS:
        return np.arange(len(used))
    evenly = np.linspace(0, len(used) - 1, MOST_DOTS - LARGEST_KEPT).round().astype(np.int64)
    return np.unique(np.append(evenly, np.argsort(-used, kind="stable")[:LARGEST_KEPT]))


def _dots(name: str, places: np.ndarray[Any, Any], used: np.ndarray[Any, Any], look: tuple[str, str]) -> dict[str, Any]:
    colour, symbol = look
    return shapes.points(
        places + 1,
        used[places],
        name=f"{name}: {len(places):,}",
        colour=colour,
        symbol=symbol,
        size=7,
        opacity=0.75,
        hover="run %{x:,}: %{y:.4g} GB",
    )


def _reasons_line(name: str, level: float, runs: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return shapes.line(
        [0.5, runs + 0.5], [level, level], name=f"{name}: {gb(level)}", colour=colour, width=2, dash=dash
    )


def violations_sentence(found: Violations) -> str:
    """Return how many runs of the history are above their size."""
    if not found.n_above:
        return f"None of {counted(found.n_runs, 'run')} exceeds its planned size."
    share = format_share(found.n_above / found.n_runs)
    listed = "" if found.n_above <= len(found.row_ids) else f"; the worst {len(found.row_ids)} are listed"
    are = "is" if found.n_above == 1 else "are"
    return f"{found.n_above:,} of {counted(found.n_runs, 'run')} ({share}) {are} above the size of the plan{listed}."


def violations_table(found: Violations) -> pd.DataFrame:
    """Return one line per listed run, the one that is short by most first."""
    return pd.DataFrame(
        {
            "row_id": found.row_ids,
            "task": [shown(task) for task in found.tasks],
            "used_gb": found.used_bytes / GB,
            "size_gb": found.size_bytes / GB,
            "short_gb": found.short_bytes / GB,
            "hours": found.hours,
            "full_name": found.tasks,
        }
    )
