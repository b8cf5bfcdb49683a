"""What if there were less memory: what is held over time, what is too little for it, and what can never run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from workprof.answers.tasks import shown, task_labels
from workprof.charts import shapes
from workprof.charts.shapes import LEGEND_ABOVE, NEUTRAL, Chart, figure_of
from workprof.charts.text import counted
from workprof.charts.theme import COLOURS
from workprof.core.table import Column, frame
from workprof.core.units import DAY_S, HOUR_S, format_share, gb, gb_h
from workprof.memory.load import CAPACITY, CAPPED, HALF, NOT_SIMULATED, PLANNED, REQUESTED, Above, Course, Load
from workprof.memory.plan import NeverRun
from workprof.memory.rollup import Rollup

HEIGHT_PX = 400
LOOKS = {REQUESTED: (NEUTRAL, None, 1.6), CAPPED: (COLOURS[1], "dash", 1.4), PLANNED: (COLOURS[0], None, 2.2)}
"""Colour, dash and width of a course."""
LIMITS = {HALF: (HALF, COLOURS[4], "dot"), CAPACITY: ("memory there is", COLOURS[2], "longdash")}
"""Words, colour and dash of a limit."""
LONGEST_IN_HOURS = 3 * DAY_S
MOST_NAMED = 4


def never_sentence(never: NeverRun) -> str:
    """Return what a cap rules out, in one sentence; '' without a cap."""
    if not never.cap_gb > 0:
        return ""
    if not never.n_runs:
        return f"Every one of {never.n_all:,} runs fits the node cap of {gb(never.cap_gb)}."
    return (
        f"{never.n_runs:,} of {counted(never.n_all, 'run')} can never run: they use more than the node cap of "
        f"{gb(never.cap_gb)}, the largest {gb(never.largest_gb)} ({shown(never.worst_task)}). That is "
        f"{gb_h(never.used_gb_h)} of use, {gb_h(never.requested_gb_h)} of requests, in "
        f"{counted(len(never.tasks), 'task')}; the figures below are without them."
    )


NEVER_COLUMNS = (
    Column("task", pinned=True, width="medium"),
    Column("runs", "n_runs", heading="can never run"),
    Column("all_runs", "n_all", heading="of its runs"),
    Column("used_gb_h", heading="used (GB·h)", form="%,.2f"),
    Column("largest_gb", heading="largest use", form="%.4g GB"),
    Column("full_name", "task", heading="full name", width="large"),
)
"""A line per task of which some runs can never run."""


def never_table(never: NeverRun) -> pd.DataFrame:
    """Return one line per task of which some runs can never run, those that lose the most GB·h first."""
    return frame(NEVER_COLUMNS, never.tasks).assign(task=list(task_labels([one.task for one in never.tasks])))


def load_chart(load: Load) -> Chart:
    """Return what is held over time, before and after, with lines at half of today's peak and at what there is."""
    first = min(float(one.moments_s[0]) for one in load.courses if len(one.moments_s))
    days = load.span_hours * HOUR_S > LONGEST_IN_HOURS
    unit, scale = ("d", DAY_S) if days else ("h", HOUR_S)
    traces = []
    for one in load.courses:
        colour, dash, width = LOOKS[one.name]
        at = (one.moments_s - first) / scale
        hover = f"{one.name}, %{{x:.4g}} {unit}: %{{y:.4g}} GB"
        traces.append(
            shapes.line(at, one.held_gb, colour=colour, dash=dash, width=width, shape="hv", hover=hover, name=one.name)
        )
    for limit in load.courses[-1].above:
        words, colour, dash = LIMITS[limit.limit]
        words = f"{words}: {gb(limit.limit_gb)}"
        ends = [0.0, load.span_hours * HOUR_S / scale]
        traces.append(
            shapes.line(ends, [limit.limit_gb] * 2, colour=colour, dash=dash, width=1.8, hover=words, name=words)
        )
    return Chart(
        name="memory-load",
        figure=figure_of(
            traces,
            x=f"{'days' if days else 'hours'} from the first start",
            y={"title": "GB held", "range": [0, 1.06 * max(one.peak_gb for one in load.courses)]},
            height=HEIGHT_PX,
            **LEGEND_ABOVE,
        ),
        takeaway=load_sentence(load),
        shows=f"Lines of the memory held over time, {' and '.join(one.name for one in load.courses)}.",
        data=_points(load),
        note=_note(load),
    )


def _points(load: Load) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "course": np.repeat([one.name for one in load.courses], [len(one.moments_s) for one in load.courses]),
            "from_s": np.concatenate([one.moments_s for one in load.courses]),
            "held_gb": np.concatenate([one.held_gb for one in load.courses]),
        }
    )


def _note(load: Load) -> str:
    words = [NOT_SIMULATED]
    without = load.course(REQUESTED).n_runs - load.course(PLANNED).n_runs
    if without:
        words.append(f"Of the {counted(without, 'run')} that can never run, only the line 'requested' has the memory.")
    if load.growth != 1:
        words.append(
            f"The load is {load.growth:g} times that of the trace: so many of each run at the same times; half is of "
            f"the peak without that ({gb(load.today_gb)})."
        )
    if load.n_unknown:
        words.append(f"{counted(load.n_unknown, 'run')} without a start time are in no line.")
    if not all(one.exact for one in load.courses):
        words.append("Drawn is the most held in each small part of the time; the figures are exact.")
    return " ".join(words)


def load_sentence(load: Load) -> str:
    """Return how many GB must exist, before and after, and what half of today's peak would do to the plan."""
    now, plan = load.course(REQUESTED), load.course(PLANNED)
    grown = f", with {load.growth:g} times the load" if load.growth != 1 else ""
    limits = " ".join(f"{_too_little(one, plan)}." for one in plan.above)
    return f"{gb(now.peak_gb)} must exist at once as requested, {gb(plan.peak_gb)} as planned{grown}. {limits}"


def _too_little(one: Above, plan: Course) -> str:
    name = "Half of today's peak" if one.limit == HALF else "The memory there is"
    if not one.short_gb:
        return f"{name} ({gb(one.limit_gb)}) is always enough for the plan"
    return (
        f"{name} ({gb(one.limit_gb)}) is too little for the plan for {one.hours:,.3g} h ({format_share(one.share)} of "
        f"the time), and {one.n_waiting:,} of {counted(plan.n_runs, 'run')} would have had to wait"
    )


@dataclass(frozen=True)
class _Line:
    course: Course
    above: Above


LOAD_COLUMNS = (
    Column("course", "course.name", heading="memory", pinned=True),
    Column("peak_gb", "course.peak_gb", heading="must exist at once", form="%,.1f GB"),
    Column("mean_gb", "course.mean_gb", heading="on average", form="%,.1f GB"),
    Column("limit", lambda line: LIMITS[line.above.limit][0], heading="if there were"),
    Column("limit_gb", "above.limit_gb", heading="that is", form="%,.1f GB"),
    Column("missing_gb", "above.short_gb", heading="missing at worst", form="%,.1f GB"),
    Column("hours_above", "above.hours", heading="too little for (h)", form="%,.2f"),
    Column("percent_above", lambda line: 100 * line.above.share, heading="of the time", form="%.1f %%"),
    Column("waiting_runs", "above.n_waiting", heading="runs that would wait", form="%,.0f"),
    Column("runs", "course.n_runs", heading="of runs", form="%,.0f"),
)
"""A line per course and limit."""


def load_table(load: Load) -> pd.DataFrame:
    """Return one line per course and limit: what must exist, and how often the limit is too little."""
    return frame(LOAD_COLUMNS, [_Line(course, one) for course in load.courses for one in course.above])


def bursts_sentence(result: Rollup) -> str:
    """Return the bursts by name, and whether they are left out; '' without any."""
    if not result.bursts:
        return ""
    share = format_share(sum(one.share for one in result.bursts))
    names = list(dict.fromkeys(shown(one.task) for one in result.bursts))
    named = ", ".join(names[:MOST_NAMED]) + (f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else "")
    treatment = "They are excluded here." if result.settings.leave_out_bursts else "They are in these figures."
    return (
        f"{counted(len(result.bursts), 'burst')} with {share} of all GB·h requested: {named} started more than 5 % of "
        f"them on one day, and more than three times its usual. {treatment}"
    )
