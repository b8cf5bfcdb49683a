"""Policies: the table, the frontier of waste and failures, the reason for a size."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.tasks import shown
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of, vertical
from workprof.charts.text import counted, listed
from workprof.charts.theme import COLOURS
from workprof.core.table import Column, frame
from workprof.core.units import GB, format_share, gb, gb_h, number, saved
from workprof.memory.frontier import FrontierPoint
from workprof.memory.policies import POLICY_WORDS
from workprof.memory.policy_figures import PolicyFigures
from workprof.memory.replay import ReplayResult
from workprof.memory.why import Why

OURS, NOW, ORACLE = "workprof", "preset", "oracle"
ENFORCED = "requests enforced"
"""Names of policies; `NOW` gives every run its request, `ORACLE` is how those begin that cannot be had."""


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


def picked(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> Candidate:
    """Return what is best at a cost per failure in GB·h, within the acceptable kills; oracles cannot be had.

    Args:
        result: the replay.
        price_gb_h: of a failure.
        kills: acceptable; None = no more than the current requests have, any where these were not replayed.
    """
    known = [
        Candidate(policy_name(one.policy), one.wasted_gb_h, one.failures)
        for one in result.policies.values()
        if not one.policy.startswith(ORACLE)
    ]
    known += [Candidate(f"workprof ({one.setting})", one.wasted_gb_h, one.failures) for one in result.frontier]
    limit = acceptable(result, kills)
    fewest = min(one.failures for one in known)
    fit = [one for one in known if one.failures <= max(limit, fewest)]
    return min(fit, key=lambda one: (one.total_gb_h(price_gb_h), one.failures))


def acceptable(result: ReplayResult, kills: float | None) -> float:
    """Return the acceptable kills: those given, else those of the current requests, else any."""
    if kills is not None:
        return kills
    now = result.policies.get(NOW)
    return math.inf if now is None else now.failures


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
        help="Of what the current requests are charged.",
    ),
    Column(
        "saved_low",
        lambda one: 100 * one.saving.low,
        heading="saved, from",
        form="%.1f %%",
        help="Bootstrap over the runs.",
    ),
    Column("saved_high", lambda one: 100 * one.saving.high, heading="saved, to", form="%.1f %%"),
    Column("total_gb_h", "wasted_gb_h", heading="waste + cost of failures (GB·h)", form="%,.4g"),
    Column("charged_gb_h", heading="charged (GB·h)", form="%,.4g"),
    Column("never_fit", lambda one: one.n_never_fit + one.n_given_up, heading="never finished", form="%,.4g"),
    Column("seconds", heading="time (s)", form="%.3g"),
)
"""A line per policy; the cost of the failures is added to 'total_gb_h'."""

CHOICE_COLUMNS = (
    Column("price_gb_h", heading="cost per failure (GB·h)", form="%,.4g"),
    Column("pick", lambda one: policy_name(one.name), heading="chosen rule"),
    Column("wasted_gb_h", heading="wasted (GB·h)", form="%,.4g"),
    Column("failures", heading="failed attempts", form="%,.4g"),
)
"""A line per cost of a failure."""


def policy_table(result: ReplayResult, price_gb_h: float = 0.0) -> pd.DataFrame:
    """Return one line per policy, the cheapest at the price first; shares in per cent."""
    figures = sorted(result.policies.values(), key=lambda one: one.wasted_gb_h + price_gb_h * one.failures)
    totals = [one.wasted_gb_h + price_gb_h * one.failures for one in figures]
    return frame(POLICY_COLUMNS, figures).assign(total_gb_h=totals)


def policy_headlines(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> tuple[Headline, ...]:
    """Return what is chosen, waste beside failures, and what requests enforced waste."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(NOW)
    headlines = [
        Headline("Wasted", gb_h(best.wasted_gb_h), f"Charged and not used, by {best.name}.", "under chosen rule"),
        Headline(
            "Failed attempts",
            number(best.failures),
            f"Of {counted(result.n_test, 'run')}, by {best.name}.",
            f"{format_share(best.failures / max(result.n_test, 1))} of runs",
        ),
    ]
    if now is not None:
        meaning = "With the current requests enforced: runs above them are killed and run again."
        headlines += [Headline("Requests enforced", gb_h(now.wasted_gb_h), meaning, f"{number(now.failures)} kills")]
    headlines.append(
        Headline("Used", gb_h(result.used_gb_h), "What the runs used: no rule can be charged less.", "lower bound")
    )
    return tuple(headlines)


def choice_table(result: ReplayResult) -> pd.DataFrame:
    """Return what is chosen at each cost per failure."""
    return frame(CHOICE_COLUMNS, result.choices)


ROOM = 1.6
"""How far the axes reach over what is chosen and what requests enforced waste; rules beyond are named in the note."""
LEAST_WASTE = 1e-6
PLACES_PER_STEP = 24
BETTER = "rgba(42, 143, 87, 0.14)"
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


def better(enforced: PolicyFigures, plane: Plane) -> list[dict[str, Any]]:
    """Return the ground on which a setting has fewer kills and less waste than requests enforced."""
    ends = {"x0": plane.x[0], "x1": enforced.failures, "y0": plane.y[0], "y1": enforced.wasted_gb_h}
    return [{"type": "rect", "layer": "below", "line": {"width": 0}, "fillcolor": BETTER} | ends]


def frontier_chart(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> Chart:
    """Return waste against failures on linear axes: requests enforced, rules, our settings, what is chosen."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(NOW)
    anchors = [best.wasted_gb_h, *([now.wasted_gb_h] if now else [])]
    reach = max(best.failures, now.failures if now else 0.0, acceptable(result, kills) if kills else 0.0, 1.0)
    settings = [one for one in result.frontier if one.efficient]
    near = [one.failures for one in settings if one.wasted_gb_h <= ROOM * max(anchors)]
    most = max(reach, min(max(near, default=0.0), 2.5 * reach))
    plane = Plane((-0.05 * most, 1.15 * most), (0.0, max(ROOM * max(anchors), LEAST_WASTE)))
    rules = [one for one in result.policies.values() if one.policy != NOW]
    beyond = [one for one in rules if one.failures > plane.x[1] or one.wasted_gb_h > plane.y[1]]
    figure = figure_of(
        [
            _settings(settings, plane),
            *_marks(best, now, [one for one in rules if one not in beyond], settings, plane),
        ],
        x={"title": "Failed attempts", "range": list(plane.x), **kill_ticks(most)},
        y={"title": "Memory held and not used (GB·h)", "range": list(plane.y), "tickformat": "~s"},
        height=440,
        shapes=better(now, plane) if now else [],
        **LEGEND_BELOW,
    )
    off = ", ".join(f"{policy_name(one.policy)} ({_figures(one)})" for one in beyond)
    shaded = "; shaded: better on both than requests enforced" if now else ""
    return Chart(
        name="memory-frontier",
        figure=figure,
        takeaway=_better_words(now, rules),
        shows=f"Waste against failed attempts of {len(result.policies)} policies and {len(result.frontier)} settings "
        "of workprof.",
        data=frontier_table(result),
        note=f"Nearer to the lower left is better{shaded}. {result.n_test:,} replayed runs."
        + (f" Off the axes: {off}." if off else ""),
    )


def _better_words(now: PolicyFigures | None, rules: list[PolicyFigures]) -> str:
    """Return which rules that can be had are better than requests enforced on both counts."""
    known = [one for one in rules if not one.policy.startswith(ORACLE)]
    if now is None:
        return f"{counted(len(known), 'rule')} on the same runs."
    good = [one for one in known if one.failures <= now.failures and one.wasted_gb_h < now.wasted_gb_h]
    names = listed([policy_name(one.policy) for one in sorted(good, key=lambda one: one.wasted_gb_h)])
    words = f"{len(good)} of {counted(len(known), 'rule')}"
    beat = "beats" if len(good) == 1 else "beat"
    return f"{words} {beat} requests enforced on both counts{f': {names}' if good else ''}."


def policy_sentence(result: ReplayResult, price_gb_h: float, kills: float | None = None) -> str:
    """Return what is chosen, against requests enforced."""
    best, now = picked(result, price_gb_h, kills), result.policies.get(NOW)
    words = f"{best.name[:1].upper()}{best.name[1:]}"
    if now is None:
        return f"{words}: {gb_h(best.wasted_gb_h)} not used, {number(best.failures)} kills."
    waste = saved(1 - best.wasted_gb_h / now.wasted_gb_h) if now.wasted_gb_h > 0 else "no more"
    return (
        f"{words} leaves {waste} memory unused than requests enforced, with {number(best.failures)} kills (enforced: "
        f"{number(now.failures)}) of {counted(result.n_test, 'run')}."
    )


def _figures(one: PolicyFigures | Candidate) -> str:
    return f"{number(one.failures)} failures, {gb_h(one.wasted_gb_h)}"


def frontier_table(result: ReplayResult) -> pd.DataFrame:
    """Return every point of the plane."""
    points = [
        {"name": policy_name(one.policy), "kind": "policy", "wasted_gb_h": one.wasted_gb_h, "failures": one.failures}
        for one in result.policies.values()
    ]
    points += [
        {
            "name": one.setting,
            "kind": "setting of workprof, efficient" if one.efficient else "setting of workprof",
            "wasted_gb_h": one.wasted_gb_h,
            "failures": one.failures,
        }
        for one in result.frontier
    ]
    return pd.DataFrame(points)


def _marks(
    best: Candidate, now: PolicyFigures | None, rules: list[PolicyFigures], ours: list[FrontierPoint], plane: Plane
) -> list[dict[str, Any]]:
    """Return what is chosen, requests enforced and other rules as marks; labels that would meet are in the tooltip."""
    named: list[tuple[str, str, PolicyFigures | Candidate]] = [("chosen", "chosen", best)]
    named += [(ENFORCED, ENFORCED, now)] if now else []
    named += [("workprof", policy_name(one.policy), one) for one in rules if one.policy.startswith(OURS)]
    named += [("published rules", policy_name(one.policy), one) for one in rules if not one.policy.startswith(OURS)]
    places = [(plane.across(one.failures), plane.up(one.wasted_gb_h)) for _, _, one in named]
    words = ["" if places[at] in places[:at] else name for at, (_, name, _) in enumerate(named)]
    places += plane.along(sorted((one.failures, one.wasted_gb_h) for one in ours))
    words += [""] * (len(places) - len(named))
    labels, sides = shapes.placed_labels([x for x, _ in places], [y for _, y in places], words)
    looks: dict[str, tuple[str, str, int]] = {
        "published rules": (NEUTRAL, "circle", 9),
        "workprof": (COLOURS[0], "diamond", 10),
        ENFORCED: (COLOURS[1], "x", 13),
        "chosen": (COLOURS[2], "circle", 16),
    }
    traces = []
    for group, (colour, symbol, size) in looks.items():
        of = [at for at, (name, _, _) in enumerate(named) if name == group]
        if not of:
            continue
        hover = [best.name if group == "chosen" else named[at][1] for at in of]
        traces.append(
            shapes.points(
                [named[at][2].failures for at in of],
                [named[at][2].wasted_gb_h for at in of],
                name=group,
                colour=colour,
                symbol=symbol,
                size=size,
                mode="markers+text",
                hover="%{customdata}",
                text=[labels[at] for at in of],
                textposition=[sides[at] for at in of],
                textfont={"size": 12},
                cliponaxis=False,
                customdata=[f"<b>{words}</b><br>{_figures(named[at][2])}" for words, at in zip(hover, of, strict=True)],
            )
        )
    return traces


def _settings(settings: list[FrontierPoint], plane: Plane) -> dict[str, Any]:
    points = [one for one in settings if one.wasted_gb_h <= 2 * plane.y[1] and one.failures <= 2 * plane.x[1]]
    points.sort(key=lambda one: one.failures)
    return shapes.line(
        [one.failures for one in points] or [None],
        [one.wasted_gb_h for one in points] or [None],
        name="workprof settings",
        colour=COLOURS[0],
        width=2,
        mode="lines+markers",
        hover="%{customdata}",
        marker={"size": 6},
        customdata=[f"{one.setting}<br>{number(one.failures)} failures, {gb_h(one.wasted_gb_h)}" for one in points],
    )


MOST_DOTS = 2_000
LARGEST_DRAWN = 200


def why_headlines(result: Why) -> tuple[Headline, ...]:
    """Return size, margin and retry probability, all by the task alone."""
    odds = result.odds_of_retry
    share = result.retried / result.n_tried if result.n_tried else math.nan
    return (
        Headline(
            "Size", gb(result.size_bytes / GB), "The next run's first attempt, by the task alone.", "first attempt"
        ),
        Headline(
            "After a failure",
            gb(result.next_bytes / GB),
            f"Then {gb(result.last_bytes / GB)}, then doubled.",
            "second attempt",
        ),
        Headline(
            "Retry probability",
            format_share(share),
            f"{result.retried:,} of {result.n_tried:,} past runs failed when each was sized from those before it; 95 % "
            "interval.",
            f"{odds.low * 100:.1f} to {odds.high * 100:.1f} %",
        ),
        Headline("Current request", gb(result.requested_bytes / GB), "Of the most recent run.", "most recent"),
    )


def why_sentence(result: Why) -> str:
    """Return the reason in words."""
    thin = " These are too few runs to rely on." if result.too_few else ""
    share = format_share(result.retried / result.n_tried) if result.n_tried else "an unknown share"
    return (
        f"{gb(result.size_bytes / GB)} for {shown(result.settings.task)}: {share} of runs would need a second attempt "
        f"({result.retried:,} of {result.n_tried:,} past runs, each sized from those before it).{thin}"
    )


def why_history(result: Why) -> Chart:
    """Return every past run as a dot in order of submission, with the size and the request as lines."""
    used = result.used_bytes / GB
    places = _drawn(used)
    lines = [("size", result.size_bytes / GB, (COLOURS[0], "solid"))]
    if math.isfinite(result.requested_bytes):
        lines.append(("current request", result.requested_bytes / GB, (NEUTRAL, "dash")))
    figure = figure_of(
        [
            _dots("fits", places[used[places] <= result.size_bytes / GB], used, (COLOURS[2], "circle")),
            _dots("used more", places[used[places] > result.size_bytes / GB], used, (COLOURS[4], "x")),
            *(_reasons_line(name, level, len(used), look) for name, level, look in lines),
        ],
        x="Past runs, in order of submission",
        y={"title": "Memory used (GB)", "rangemode": "tozero"},
        height=360,
        **LEGEND_BELOW,
    )
    drawn = f" {len(places):,} are drawn, the largest among them." if len(places) < len(used) else ""
    return Chart(
        name="memory-why",
        figure=figure,
        takeaway=why_sentence(result),
        shows=f"Dots of the memory used by {counted(len(used), 'past run')} with the advised size.",
        data=pd.DataFrame({"run": np.arange(1, len(used) + 1), "used_gb": used, "hours": result.hours}),
        note=f"{counted(result.n_known, 'past run')}.{drawn}",
    )


def why_costs(result: Why) -> Chart:
    """Return the mean charge of the past runs at every candidate size, the chosen one marked."""
    sizes, costs = result.candidate_bytes / GB, result.candidate_cost_gb_h
    figure = figure_of(
        [
            shapes.line(sizes, costs, colour=COLOURS[1], width=2, hover="%{x:.4g} GB: %{y:.4g} GB·h per run"),
            shapes.points(
                sizes[result.chosen],
                costs[result.chosen],
                colour=COLOURS[0],
                symbol="diamond",
                size=12,
                hover="chosen: %{x:.4g} GB, %{y:.4g} GB·h per run",
            ),
        ],
        x="First size (GB)",
        y={"title": "Mean charge (GB·h per run)", "rangemode": "tozero"},
        height=320,
        shapes=[vertical(result.size_bytes / GB, dash="dot")],
    )
    cheapest = float(sizes[int(np.argmin(costs))])
    chosen = float(costs[result.chosen][0])
    return Chart(
        name="memory-why-costs",
        figure=figure,
        takeaway=f"At {gb(result.size_bytes / GB)} a past run would have been charged {number(chosen)} GB·h on "
        f"average, retries included; {number(float(costs.min()))} GB·h at {gb(cheapest)}.",
        shows="Line of the mean charge against the first size.",
        data=pd.DataFrame({"size_gb": sizes, "charge_gb_h": costs, "chosen": result.chosen}),
        note="The chosen size also counts runs larger than any seen, and the cost of a failure; so it need not be the "
        "cheapest of the past.",
    )


def _drawn(used: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if len(used) <= MOST_DOTS:
        return np.arange(len(used))
    evenly = np.linspace(0, len(used) - 1, MOST_DOTS - LARGEST_DRAWN).round().astype(np.int64)
    return np.unique(np.append(evenly, np.argsort(-used, kind="stable")[:LARGEST_DRAWN]))


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
