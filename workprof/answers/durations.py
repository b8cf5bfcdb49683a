"""What is said of observed durations: quantiles of all runs and of groups, and what a curve reads."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workprof.answers.tasks import TASK_COLUMN, task_labels
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, formatted, listed, shortened
from workprof.forecasts.durations import (
    FEWEST_ROWS,
    PROFILE,
    DurationCurve,
    ObservedDurations,
    band_at,
    known_at,
    share_within,
    value_at,
)
from workprof.profiles.names import OUTLIERS, UNCLUSTERED, fitted

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99)
ALL_RUNS, UNKNOWN = "all runs", "unknown"
LONGEST_NAME = 48
MOST_BANDS = 4
"""More of them in one picture hide each other; then only that of all runs is drawn."""


@dataclass(frozen=True)
class ObservedView:
    """What a reader sees of the curves."""

    log_x: bool = True  # logarithmic axis of values
    complementary: bool = False  # share above a value instead of at or below it
    percentile: float = 80.0  # cursor, in per cent of the runs
    limit: float = 0.0  # SLO in the target's unit; 0 = none
    bands: bool = True  # whether the bands are drawn

    @property
    def share(self) -> float:
        """The cursor as a share, 0-1."""
        return self.percentile / 100


@dataclass(frozen=True)
class _Group:
    """A group with its name."""

    name: str
    curve: DurationCurve


def group_names(result: ObservedDurations, profiles: Mapping[int, str] | None = None) -> tuple[str, ...]:
    """One name per group: the profile's own, 'other (15 more)', or the value."""
    tasks = task_labels([one.name for one in result.groups]) if result.settings.by == TASK_COLUMN else {}
    called = {task: name for name, task in tasks.items()}
    return tuple(_name(one, result.settings.by, profiles or {}, called) for one in result.groups)


def _name(group: DurationCurve, by: str, profiles: Mapping[int, str], called: Mapping[str, str]) -> str:
    if group.n_merged:
        return f"other ({group.n_merged} more)"
    if by != PROFILE:
        return shortened(called.get(group.name, group.name), LONGEST_NAME)
    number = int(group.name)
    return fitted(profiles.get(number, UNCLUSTERED if number == OUTLIERS else f"P{number}"), LONGEST_NAME)


def quantile_table(
    result: ObservedDurations, names: Sequence[str], view: ObservedView, shares: Sequence[float] = QUANTILES
) -> Table:
    """One line per group and one for all runs: quantiles in the target's unit, and what the cursors read."""
    target = result.settings.target
    unit = target.rpartition("_")[2]  # s, bytes or percent

    def at(name: str, heading: str, share: float, *, alone: bool = False) -> Column:
        def curve(group: _Group) -> DurationCurve | None:
            return group.curve.finished if alone and group.curve.n_censored else group.curve

        def value(group: _Group) -> float:
            return math.nan if (one := curve(group)) is None else value_at(one, share)

        def said(group: _Group) -> str:
            return "" if (one := curve(group)) is None else value_words(one, target, share)

        return Column(name, value, heading, said=said)

    def band(group: _Group) -> float:
        return band_at(group.curve, view.share)

    censored = result.everything.n_censored > 0
    columns = (
        Column("group", "name", "Group"),
        Column("rows", "curve.n_rows", "Runs", "%,.0f"),
        Column("unit", lambda _: unit, aside=True),
        Column("effective_jobs", "curve.n_effective", aside=True),
        Column("few", "curve.few", aside=True),
        at("at_cursor", f"At {view.percentile:g} %", view.share),
        *((Column("censored", "curve.n_censored", "Cut short", "%,.0f"),) if censored else ()),
        *((at("finished_at_cursor", "Finished runs alone", view.share, alone=True),) if censored else ()),
        *(_limit_columns(view.limit) if view.limit > 0 else ()),
        *(at(share_name(share), share_name(share), share) for share in shares),
        Column("max", "curve.longest", "Max", said=lambda one: value_words(one.curve, target, 1.0)),
        Column("band", band, said=lambda one: f"± {format_share(band(one))}"),
    )
    rows = [_Group(*one) for one in (*zip(names, result.groups, strict=True), (ALL_RUNS, result.everything))]
    return Table("groups", "Quantiles", columns, rows)


def share_name(share: float) -> str:
    """'p95'."""
    return f"p{share * 100:.10g}"


def _limit_columns(limit: float) -> tuple[Column, ...]:
    def within(group: _Group) -> float | None:
        return _within(group.curve, limit)

    return (
        Column("within_slo", within, "Within the limit", unit="share", said=lambda one: met_words(one.curve, limit)),
        Column("within_slo_at_least", lambda one: share_within(one.curve, limit), unit="share", aside=True),
    )


def _within(curve: DurationCurve, limit: float) -> float | None:
    return share_within(curve, limit) if limit > 0 and known_at(curve, limit) else None


def met_words(curve: DurationCurve, limit: float) -> str:
    """The share of runs within a limit; past the longest run, if that was cut short, 'at least 50.0 %' or 'unknown'."""
    share = share_within(curve, limit)
    words = format_share(share)
    return words if known_at(curve, limit) else f"at least {words}" if share else UNKNOWN


def durations_answer(
    result: ObservedDurations,
    names: Sequence[str],
    view: ObservedView,
    shares: Sequence[float] = QUANTILES,
    *,
    curves: bool = False,
) -> Answer:
    """How long runs take, by group; `curves` = its document has the points of every curve."""

    def document(curve: DurationCurve) -> dict[str, Any]:
        points = {"points": curve.points, "shares": curve.shares, "grid_step": curve.grid_step} if curves else {}
        return _curve(curve, shares, view) | points

    return Answer(
        observed_sentence(result, names, view),
        tables=(quantile_table(result, names, view, shares),),
        notes=tuple(observed_notes(result, names, view, alone=True)),
        document={
            "by": result.settings.by,
            "target": result.settings.target,
            "confidence": result.settings.confidence,
            "all": document(result.everything),
            "groups": [document(one) for one in result.groups],
            "n_rows": result.n_rows,
            "cut_short": result.settings.cut_short,
            "left_out": {
                "missing": result.n_missing,
                "negative": result.n_negative,
                "zero": result.n_zero,
                "unfinished": result.n_unfinished,
            },
            "n_without_group": result.n_without_group,
            "seconds": result.seconds,
        },
    )


def usual_answer(result: ObservedDurations, called: Sequence[str]) -> Answer:
    """The same without a limit, where profiles have these names, by label, the last one 'Unclustered'."""
    return durations_answer(result, group_names(result, dict(enumerate(called[:-1]))), ObservedView())


def _curve(curve: DurationCurve, shares: Sequence[float], view: ObservedView) -> dict[str, Any]:
    def quantiles(one: DurationCurve) -> dict[str, float]:
        return {share_name(share): value_at(one, share) for share in shares}

    return {
        "group": curve.name,
        "n_merged": curve.n_merged,
        "rows": curve.n_rows,
        "censored": curve.n_censored,
        "effective_jobs": curve.n_effective,
        "few": curve.few,
        "quantiles": quantiles(curve),
        "finished_alone": None if curve.finished is None else quantiles(curve.finished),
        "max": curve.longest,
        "within_slo": _within(curve, view.limit),
        "within_slo_at_least": share_within(curve, view.limit) if view.limit > 0 else None,
        "band": band_at(curve, view.share),
    }


def observed_sentence(result: ObservedDurations, names: Sequence[str], view: ObservedView) -> str:
    """What the cursor and the SLO read over all runs, and the groups at both ends."""
    target, everything = result.settings.target, result.everything
    said = [share_words(everything, target, view.share, " of runs"), _ends(result, names, view)]
    if view.limit > 0:
        met, limit = met_words(everything, view.limit), limit_words(target, view.limit)
        said.append(f"how many meet the {limit} is unknown" if met == UNKNOWN else f"{met} meet the {limit}")
    return " ".join(f"{one[:1].upper()}{one[1:]}." for one in said if one)


def _ends(result: ObservedDurations, names: Sequence[str], view: ObservedView) -> str:
    """The groups with the shortest and the longest value at the cursor, of those where it is known."""
    every = [item for item in zip(names, result.groups, strict=True) if not item[1].few and not item[1].n_merged]
    named = [item for item in every if math.isfinite(value_at(item[1], view.share))]
    if len(named) < 2:
        return ""
    ordered = sorted(named, key=lambda item: (value_at(item[1], view.share), item[0]))
    if value_at(ordered[0][1], view.share) == value_at(ordered[-1][1], view.share):
        return f"no group differs from another at {view.percentile:g} %"
    least, most = ("shortest", "longest") if result.settings.target == "duration_s" else ("lowest", "highest")
    low, high = (
        f"{name} ({value_words(curve, result.settings.target, view.share)})"
        for name, curve in (ordered[0], ordered[-1])
    )
    finished = result.everything.n_censored and not any(one.n_censored for one in result.groups)
    few, merged = (any(getattr(one, name) for one in result.groups) for name in ("few", "n_merged"))
    of = f"groups with at least {FEWEST_ROWS} jobs" if few else f"the {len(every)} largest groups" if merged else ""
    if finished:
        of = f"{of or 'groups'} of finished runs alone"
    if len(named) < len(every):
        of = f"{of or 'groups'} known at {view.percentile:g} %"
    return f"of {of}, {low} is {least}, {high} {most}" if of else f"the {least} is {low}, the {most} {high}"


def share_words(curve: DurationCurve, target: str, share: float, of: str = "") -> str:
    """'80 % finish within 4 min 10 s', or the like for another target; 'fewer than 80 %' where that is not known."""
    known = math.isfinite(value_at(curve, share))
    words = formatted(target, value_at(curve, share) if known else curve.longest)
    verb = "finish within" if target == "duration_s" else "stay at or below"
    return f"{'' if known else 'fewer than '}{share * 100:.10g} %{of} {verb} {words}"


def limit_words(target: str, limit: float) -> str:
    """'SLO 10 min 00 s', or 'limit 2 GB' for another target."""
    return f"{'SLO' if target == 'duration_s' else 'limit'} {formatted(target, limit)}"


def observed_notes(
    result: ObservedDurations, names: Sequence[str], view: ObservedView, *, alone: bool = False
) -> list[str]:
    """What the curves rest on; `alone`: each group has a chart of its own."""
    few = [name for name, curve in zip(names, result.groups, strict=True) if curve.few]
    step = max(curve.grid_step for curve in (result.everything, *result.groups))
    n_effective, confidence = result.everything.n_effective, format_share(result.settings.confidence, 0)
    source = "Hall-Wellner" if result.everything.n_censored else "Dvoretzky-Kiefer-Wolfowitz"
    widened = (
        f"They widen where fewer runs are left: the table has them at {view.percentile:g} %. "
        if result.everything.n_censored
        else ""
    )
    hidden = len(result.groups) > MOST_BANDS and not alone
    words = (
        *result.notes,
        left_out_words(result),
        censored_words(result, view.share),
        f"Bands: {confidence} confidence for the whole curve ({source}). {widened}"
        f"Effective sample size: {counted(round(n_effective), 'job')} (runs of one job are alike).",
        "The groups' own bands: layout 'Small multiples'." if hidden else "",
        f"Dashed lines rest on fewer than {FEWEST_ROWS} effective jobs, too few to compare: {listed(few)}."
        if few
        else "",
        f"Curves of many values are thinned to 2,000 points: shares exact to {format_share(step)}." if step else "",
    )
    return [one for one in words if one]


def cursor_words(name: str, curve: DurationCurve, target: str, view: ObservedView) -> str:
    """What the cursor reads on the curve of a group."""
    return f"{name}: {share_words(curve, target, view.share)}"


def small_words(curve: DurationCurve, target: str, view: ObservedView) -> str:
    """What stands below the name of a group's small chart."""
    few = f" · n < {FEWEST_ROWS}" if curve.few else ""
    return f"{view.percentile:g} %: {value_words(curve, target, view.share)}{few}"


def value_words(curve: DurationCurve, target: str, share: float) -> str:
    """The value that a share of the runs does not exceed; 'over 2 h' where runs were cut short before."""
    value = value_at(curve, share)
    return f"over {formatted(target, curve.longest)}" if math.isinf(value) else formatted(target, value)


def left_out_words(result: ObservedDurations) -> str:
    """The runs, and how many were excluded for which reason."""
    counts = {
        "without a value": result.n_missing,
        "below zero": result.n_negative,
        "of zero seconds": result.n_zero,
        "that did not finish": result.n_unfinished,
    }
    reasons = ", ".join(f"{count:,} {words}" for words, count in counts.items() if count)
    out = f"; excluded: {reasons}" if reasons else "; none excluded"
    n_censored = result.everything.n_censored
    cut = f" and {n_censored:,} cut short" if n_censored else ""
    why = " (profiles are of finished runs)" if result.settings.by == PROFILE and n_censored else ""
    nowhere = f"; {result.n_without_group:,} are in no group{why}" if result.n_without_group else ""
    return f"{counted(result.n_rows - n_censored, 'finished run')}{cut}{out}{nowhere}."


def censored_words(result: ObservedDurations, share: float) -> str:
    """What the runs that were cut short change; empty where none is censored."""
    whole, target = result.everything, result.settings.target
    if whole.finished is None:
        return ""
    alone = value_words(whole.finished, target, share)
    return (
        f"Runs that timed out, were cancelled or still run take at least as long as they did (Kaplan-Meier). "
        f"Finished runs alone would say {alone} at {share * 100:g} %."
    )
