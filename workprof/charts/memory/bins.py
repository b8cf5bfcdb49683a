"""Bins: the curve of usage with its limits, the table, the saving by number of bins, bins of a profile."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from workprof.answers.tasks import shown
from workprof.charts import shapes
from workprof.charts.memory.plans import bins_scenario
from workprof.charts.shapes import LEGEND_BELOW, NEUTRAL, Chart, Headline, figure_of, vertical
from workprof.charts.text import counted, shortened
from workprof.charts.theme import COLOURS
from workprof.core.arrays import Floats
from workprof.core.stats import FEWEST_RUNS
from workprof.core.units import GB, format_share, gb, gb_h, saved
from workprof.memory.bin_search import COUNT, TIME
from workprof.memory.bins import Bins, ImprovementCurve, ProfileBins, needed_bytes, own_bins
from workprof.memory.scenarios import Scenario
from workprof.memory.usage import excluded_words
from workprof.store.reports import Dataset


def bin_headlines(result: Bins) -> tuple[Headline, ...]:
    """Return saving beside risk."""
    effect = result.effect
    costs = "costs more; " if effect.time_based_saved_share < 0 else ""
    return (
        Headline(
            "Saving, upper bound",
            format_share(effect.time_based_saved_share),
            "Of the requested GB·h, if every run comes into its right bin: the smallest that holds its use with its "
            "headroom. Below 0 the bins cost more than the requests.",
            f"{costs}{gb_h(effect.saved_gb_h)}",
        ),
        Headline(
            "By count",
            format_share(effect.saved_share),
            "The same saving with every run counting as one, whatever its run time.",
            f"{effect.n_runs:,} runs",
        ),
        Headline(
            "Above largest bin",
            f"{effect.n_above:,} runs",
            "Runs that the largest bin does not hold with their headroom. They keep their request (or get what they "
            f"used) in these figures; started in the largest bin, {effect.n_used_above:,} of them would fail.",
            f"{format_share(effect.above_hours_share)} of hours",
        ),
        Headline(
            "Above request",
            f"{effect.n_over_request:,} runs",
            "Runs that used more than they requested already.",
            "too small now",
        ),
    )


def bin_table(result: Bins) -> pd.DataFrame:
    """Return one line per bin; shares in per cent. Every run of a bin keeps its headroom in it."""
    effect = result.effect
    return pd.DataFrame(
        {
            "edge_gb": [edge / GB for edge in result.edges_bytes],
            "runs": effect.bin_runs,
            "runs_percent": 100 * effect.bin_runs / max(effect.n_runs, 1),
            "hours": effect.bin_hours,
            "used_percent": 100 * effect.bin_used_share,
            "least_headroom_percent": 100 * effect.bin_least_headroom,
        }
    )


MOST_DRAWN = 600
TAIL_DRAWN = 60
CLOSEST = 0.06
"""Edges nearer to each other than this share of the axis have one label."""

_WASTE = "rgba(201,96,31,0.18)"


def usage_ecdf(result: Bins, about: str = "") -> Chart:
    """Return the ECDF of a task's uses by the weight of the search, its edges, the request, and the unused memory.

    Args:
        result: its bins.
        about: whose bins they are, where these are no task's.
    """
    by_count = result.settings.weight == COUNT
    usage = result.usage
    share = usage.share if by_count else usage.hours_share
    used, drawn = _thinned(usage.used_bytes / GB, share)
    edges = np.array(result.edges_bytes) / GB
    needed = needed_bytes(used * GB, result.settings) / GB
    top = max(float(edges[-1]), result.static_bytes / GB, float(usage.used_bytes[-1]) / GB)
    figure = figure_of(
        [
            _unused(used, drawn, edges, needed),
            _usage_curve(used, drawn, "runs" if by_count else "hours"),
            _edge_marks(edges, needed, drawn, "runs" if by_count else "hours"),
        ],
        x={"title": "Memory used (GB)", "range": [0, top * 1.04]},
        y={
            "title": f"Share of the {'runs' if by_count else 'hours'} at or below",
            "range": [-0.02, 1.02],
            "tickformat": ".0%",
        },
        height=400,
        top=44,
        shapes=[
            *(vertical(float(edge), colour=COLOURS[0]) for edge in edges),
            vertical(result.static_bytes / GB, dash="dot", colour=NEUTRAL),
        ],
        annotations=[*_edge_words(edges, top), _request_words(result, top)],
    )
    return Chart(
        name="memory-bins",
        figure=figure,
        takeaway=_use_sentence(result),
        shows=f"Cumulative distribution of memory used with {counted(len(edges), 'bin limit')}.",
        data=pd.DataFrame(
            {"used_gb": usage.used_bytes / GB, "share_of_runs": usage.share, "share_of_hours": usage.hours_share}
        ),
        note=_note(result, of_task=not about),
    )


def bins_sentence(result: Bins, about: str = "") -> str:
    """Return saving and risk of the bins in one sentence."""
    effect = result.effect
    of = {COUNT: "memory", TIME: "GB·h"}.get(result.settings.weight, "GB·h x price")
    edges = ", ".join(gb(edge / GB) for edge in result.edges_bytes)
    headroom = f" with {100 * result.settings.headroom:g} % headroom" if result.settings.headroom else ""
    risk = f"the largest bin holds every run{headroom}"
    if effect.n_above:
        runs = f"{counted(effect.n_above, 'run')} ({format_share(effect.above_share)}){headroom}"
        risk = f"{runs} {'is' if effect.n_above == 1 else 'are'} above the largest bin"
    about = about or shown(result.settings.task)
    task = f" for {about}" if about else ""
    bins = counted(len(result.edges_bytes), "bin")
    return (
        f"{bins}{task} ({edges}) would hold {saved(effect.weighted_saved_share)} {of} than requested, if every run "
        f"were placed right (upper bound); {risk}."
    )


def _use_sentence(result: Bins) -> str:
    """Return what half and nearly all of the use stays below."""
    by_count = result.settings.weight == COUNT
    share = result.usage.share if by_count else result.usage.hours_share
    used = result.usage.used_bytes / GB
    half, most = (gb(float(used[min(int(np.searchsorted(share, level)), len(used) - 1)])) for level in (0.5, 0.95))
    what = "runs" if by_count else "hours"
    return f"Half of the {what} use at most {half}, 95 % of them at most {most}."


def _thinned(used: Floats, share: Floats) -> tuple[Floats, Floats]:
    if len(used) <= MOST_DRAWN:
        return used, share
    body = np.linspace(0, len(used) - TAIL_DRAWN - 1, MOST_DRAWN - TAIL_DRAWN).round().astype(np.int64)
    drawn = np.concatenate([np.unique(body), np.arange(len(used) - TAIL_DRAWN, len(used))])
    return used[drawn], share[drawn]


def _usage_curve(used: Floats, share: Floats, of: str) -> dict[str, Any]:
    return shapes.line(
        np.concatenate([used[:1], used]),
        np.concatenate([[0.0], share]),
        colour=COLOURS[2],
        width=2.2,
        shape="hv",
        hover=f"%{{y:.1%}} of the {of} use at most %{{x:.4g}} GB",
    )


def _unused(used: Floats, share: Floats, edges: Floats, needed: Floats) -> dict[str, Any]:
    """Return the area between what runs use and the edge that they would get; above the top edge there is none."""
    places = own_bins(edges, needed)
    given = np.where(places < len(edges), edges[np.minimum(places, len(edges) - 1)], used)
    below = np.concatenate([[0.0], share[:-1]])
    left, right = np.repeat(used, 2), np.repeat(given, 2)
    height = np.stack([below, share], axis=1).ravel()
    return shapes.area(np.concatenate([left, right[::-1]]), np.concatenate([height, height[::-1]]), fill=_WASTE)


def _edge_marks(edges: Floats, needed: Floats, share: Floats, of: str) -> dict[str, Any]:
    """Return a mark on every edge at the share that it holds with the headroom."""
    held = np.searchsorted(own_bins(edges, needed), np.arange(len(edges)), side="right")
    reached = np.where(held > 0, share[np.maximum(held - 1, 0)], 0.0)
    return shapes.points(
        edges,
        reached,
        colour=COLOURS[0],
        symbol="diamond",
        size=11,
        hover=f"limit %{{x:.6g}} GB holds %{{y:.1%}} of the {of}, headroom kept",
    )


def _edge_words(edges: Floats, top: float) -> list[dict[str, Any]]:
    """Return a label over every edge, one for edges that are close together."""
    groups: list[list[float]] = []
    for edge in edges.tolist():
        if groups and edge - groups[-1][-1] < CLOSEST * top:
            groups[-1].append(edge)
        else:
            groups.append([edge])
    return [
        shapes.words(
            gb(group[-1]) if len(group) == 1 else f"{len(group)} limits to {gb(group[-1])}",
            x=group[-1],
            y=1.0 + 0.055 * (place % 2),
            yref="paper",
            yanchor="bottom",
            xanchor="right" if group[-1] > 0.85 * top else "center",
        )
        for place, group in enumerate(groups)
    ]


def _request_words(result: Bins, top: float) -> dict[str, Any]:
    at = result.static_bytes / GB
    return shapes.words(
        f"largest request<br>{gb(at)}",
        x=at,
        y=0.02,
        yref="paper",
        yanchor="bottom",
        xanchor="right" if at > top / 2 else "left",
        align="right" if at > top / 2 else "left",
    )


def _note(result: Bins, *, of_task: bool) -> str:
    words = f"{counted(result.effect.n_runs, 'run')}; shaded: memory that stays unused in the bins. "
    words += "Upper bound: every run placed in its right bin, the smallest that holds its use with its headroom"
    words += "; the Models tab shows how often that fails." if of_task else "."
    if result.stride_bytes:
        words += f" Stride {gb(result.stride_bytes / GB)}; all choices would be {result.n_trials:,.0f} trials."
    excluded = excluded_words(result.left_out)
    return words + (f" Excluded: {excluded}." if excluded else "")


NOTE = (
    "Perfect request: every run gets just what it used. With headroom: and its headroom and step; many bins end near "
    "it, and none save more. Against the requests of the runs, "
)
COUNTED = {COUNT: "every run counting as one.", TIME: "by hours."}


def improvement_chart(result: ImprovementCurve, k: int) -> Chart:
    """Return the saving against the number of bins, the chosen number marked, with bound and no-bin line."""
    share = result.weighted_saved_share
    oracle, continuous = result.oracle.weighted_saved_share, result.continuous.weighted_saved_share
    chosen = result.k.index(k)
    figure = figure_of(
        [
            _line("perfect request", oracle, len(result.k), (NEUTRAL, "solid")),
            _line("perfect request + headroom", continuous, len(result.k), (COLOURS[2], "dot")),
            shapes.line(
                list(result.k),
                share,
                name="best limits",
                colour=COLOURS[0],
                width=2.2,
                mode="lines+markers",
                hover="%{x} bins: %{y:.1%} saved, upper bound",
                marker={"size": 8},
            ),
            shapes.points(
                [k],
                [float(share[chosen])],
                name="chosen",
                colour=COLOURS[1],
                symbol="diamond-open",
                size=16,
                outline=2.4,
                hover="chosen: %{x} bins, %{y:.1%}",
            ),
        ],
        x={"title": "Number of bins", "dtick": 1, "range": [0.6, len(result.k) + 0.4]},
        y={"title": "Saving, upper bound", "tickformat": ".0%", "range": _range(share, oracle)},
        height=380,
        **LEGEND_BELOW,
    )
    return Chart(
        name="memory-improvement",
        figure=figure,
        takeaway=_sentence(result, share, chosen, continuous),
        shows=f"Line of the saving against one to {len(result.k)} bins, with the bound and the no-bin line.",
        data=pd.DataFrame(
            {
                "bins": result.k,
                "edges_gb": [", ".join(f"{edge / GB:.9g}" for edge in edges) for edges in result.edges_bytes],
                "saved_by_time": result.time_based_saved_share,
                "saved_by_count": result.saved_share,
                "thesis_by_time": result.time_based_optimal_improvement,
                "thesis_by_count": result.optimal_improvement,
            }
        ),
        note=NOTE + COUNTED.get(result.settings.weight, "by hours x price."),
    )


def _line(name: str, level: float, bins: int, look: tuple[str, str]) -> dict[str, Any]:
    colour, dash = look
    return shapes.line(
        [0.6, bins + 0.4], [level, level], name=f"{name}: {format_share(level)}", colour=colour, width=1.6, dash=dash
    )


def _range(share: Floats, oracle: float) -> list[float]:
    """Return an axis that holds curve and bound; one bin that costs far more than now may leave it below."""
    low = min(0.0, float(share[1:].min()))
    return [max(low, -1.0) - 0.05, max(oracle, float(share.max())) + 0.08]


def _sentence(result: ImprovementCurve, share: Floats, chosen: int, bound: float) -> str:
    here = f"{counted(result.k[chosen], 'bin')}: {saved(float(share[chosen]))} than requested, upper bound"
    if chosen + 1 < len(share):
        gain = 100 * float(share[chosen + 1] - share[chosen])
        here += f"; one more bin would add {gain:.1f} percentage points"
    headroom = f" with {100 * result.settings.headroom:g} % headroom" if result.settings.headroom else ""
    if bound < 0:
        return f"{here}; a size of its own for every run{headroom} costs {saved(bound)}, so no number of bins saves."
    return f"{here}; no number of bins{headroom} can save more than {format_share(bound)}."


MOST_TASKS = 3
LONGEST_TASK = 40
BEFOREHAND = (
    "Jobs of one profile are alike in what they did, which nobody knows beforehand: a plan by profile needs the "
    "profile predicted before the run, from what is known when the job is submitted."
)


def profile_headlines(result: ProfileBins) -> tuple[Headline, ...]:
    """Return what the profile's runs waste now, then saving beside risk as for a task."""
    wasted = Headline(
        "Wasted now",
        gb_h(result.wasted_gb_h),
        f"GB·h that these runs request and do not use, of {gb_h(result.requested_gb_h)} requested; runs that use more "
        "than they request waste nothing.",
        f"{_share(result.wasted_gb_h, result.requested_gb_h)} of requests",
    )
    saving, _, *risk = bin_headlines(result.bins)
    return (wasted, saving, *risk)


def profile_sentence(result: ProfileBins, name: str) -> str:
    """Return whose runs these are, of how many tasks, and what they waste."""
    return (
        f"{name}: {counted(result.bins.effect.n_runs, 'run')} of {_tasks(result)} request "
        f"{gb_h(result.requested_gb_h)} and waste {gb_h(result.wasted_gb_h)} of it."
    )


def _tasks(result: ProfileBins) -> str:
    """Return '2 tasks (ps 60.0 %, worker 40.0 %)', the most frequent first."""
    names = [shortened(shown(one.task), LONGEST_TASK) for one in result.tasks]
    if len(names) == 1:
        return f"one task ({names[0]})"
    shares = [format_share(one.n_runs / result.bins.effect.n_runs) for one in result.tasks]
    listed = ", ".join(" ".join(pair) for pair in list(zip(names, shares, strict=True))[:MOST_TASKS])
    more = f" and {len(names) - MOST_TASKS:,} more" if len(names) > MOST_TASKS else ""
    return f"{len(names):,} tasks ({listed}{more})"


def profile_notes(result: ProfileBins) -> tuple[str, ...]:
    """Return what limits these figures, '' nowhere."""
    runs, notes = result.bins.effect.n_runs, []
    if result.too_few:
        notes.append(f"Too few runs: {runs}, and {FEWEST_RUNS} are the least that sizes should rest on.")
    if runs < result.n_rows:
        notes.append(
            f"{result.n_rows - runs:,} of the profile's {counted(result.n_rows, 'row')} have no request, no known use "
            "of memory or no run time, and are excluded."
        )
    if result.n_not_clustered:
        notes.append(f"{result.n_not_clustered:,} rows of the dataset are in no clustering, so in no profile.")
    return tuple(notes)


def profile_bins_scenario(result: ProfileBins, dataset: Dataset, name: str, profile: str) -> Scenario:
    """Return the bins of a profile as a scenario.

    Args:
        result: its bins.
        dataset: that they are of.
        name: of the scenario.
        profile: how the profile is called, with its clustering.
    """
    made = bins_scenario(result.bins, dataset, name)
    return replace(made, settings={**made.settings, "profile": profile})


def _share(part: float, whole: float) -> str:
    return format_share(part / whole) if whole > 0 else "no data"
