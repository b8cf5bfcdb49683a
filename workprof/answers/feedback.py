"""What is said of finished jobs beside their predictions: whether these still hold, and when to cluster again."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from workprof.answers.profiles import ACQUIRES
from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted, formatted, label, shortened
from workprof.forecasts.feedback.drift import DRIFT, TOO_FEW, Assessment, CurrentQuantiles, Drift, FeedbackNow
from workprof.forecasts.feedback.loop import Observed
from workprof.forecasts.feedback.windows import REFITTED, FeedbackState, HistoryEntry
from workprof.profiles.names import OUTLIERS, UNCLUSTERED

MORE = "Predictions whose job needed more than the upper end of the interval: under-provisioned."
LESS = "Predictions whose job needed less than the lower end of the interval: over-provisioned."
AGREED = "Share of the jobs with a predicted profile whose measurements belong to it."
OUTSIDE = "Share of the recent jobs that are far from every profile."
FAR = Column("far_share", "outlier_share", "Far from every profile", "", OUTSIDE, unit="share", also=("outlier_share",))


def _share_of(part: str) -> Any:
    def share(state: FeedbackState) -> float:
        known, own = (
            sum(int(getattr(one.tally, name).sum()) for one in state.profiles.values()) for name in ("known", part)
        )
        return own / known if known else math.nan

    return share


def _agreed(state: FeedbackState) -> float:
    return state.n_agreed / state.n_predicted if state.n_predicted else math.nan


HELD = (
    Column("needed_more_share", _share_of("under"), "Needed more", "", MORE, unit="share"),
    Column("needed_less_share", _share_of("over"), "Needed less", "", LESS, unit="share"),
    Column("agreed_share", _agreed, "As predicted", "", AGREED, unit="share"),
)


def feedback_figures(state: FeedbackState, stands: Assessment) -> tuple[Figure, ...]:
    """The loop as figures; both kinds of violations are counted over all targets since the last fit."""
    at_fit = f"{format_share(stands.outlier_share_at_fit)} at the fit"
    return (*(Figure(column, state, lacking="none observed") for column in HELD), Figure(FAR, stands, at_fit))


def advice_sentence(stands: Assessment) -> str:
    """Whether another clustering is advised, and why."""
    if not stands.recluster_advised:
        return "No drift that calls for another clustering."
    return f"Another clustering is advised: {'; '.join(stands.reasons)}."


def observed_words(state: FeedbackState) -> str:
    """How many finished jobs the comparison rests on."""
    again = f" since {counted(state.refits, 'refit')}" if state.refits else ""
    return f"{counted(state.n_observed, 'finished job')} compared{again}"


def observed_sentence(result: Observed) -> str:
    """What became of a table of finished jobs."""
    if result.already:
        return f"This table of {counted(result.n_read, 'finished job')} was compared before; nothing is counted twice."
    parts = [f"{counted(result.observed, 'finished job')} compared"]
    if result.n_repeated:
        parts.append(f"{result.n_repeated:,} compared before and not counted again")
    if result.n_unfiled:
        parts.append(f"{result.n_unfiled:,} have too few measurements for a profile")
    return f"{'; '.join(parts)}."


def history_sentence(history: Sequence[HistoryEntry]) -> str:
    """How the clustering's score moved since the fit."""
    first, last = history[0], history[-1]
    refits = sum(entry.event == REFITTED for entry in history)
    after = f", {counted(refits, 'refit')} between" if refits else ""
    if len(history) == 1:
        return f"The overall score was {first.acquires:.3f} at the fit; no finished job was compared since."
    if not math.isfinite(last.acquires):
        return (
            f"The overall score was {first.acquires:.3f} at the fit; the recent jobs are too similar to compute it now."
        )
    return (
        f"The overall score is {last.acquires:.3f} after {counted(last.jobs, 'finished job')}; it was "
        f"{first.acquires:.3f} at "
        f"the fit{after}."
    )


def drift_words(drift: Sequence[Drift], target: str = "") -> str:
    """How many profiles drift, and how many cannot be judged yet, in one sentence."""
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


@dataclass(frozen=True)
class _Drift:
    """A profile's drift with its name."""

    name: str
    of: Drift


def _end(of: str) -> Any:
    return lambda one: float(np.exp(getattr(one.of.error, of)))


DRIFTS = (
    Column("profile", "of.profile", aside=True),
    Column("name", "", "Profile"),
    Column("target", "of.target", "What"),
    Column("jobs", "of.jobs", "Jobs", "%,.0f"),
    Column("independent_jobs", lambda one: round(one.of.effective, 1), "Independent jobs", "%,.1f"),
    Column("errors", "of.error.word", "Errors"),
    Column("error_factor", "of.error.factor", "Factor", "%.2f"),
    Column("factor_low", _end("low"), "Interval", "%.2f", to=Column("factor_high", _end("high"), form="%.2f")),
    Column("error_p", "of.error.probability", "p of the errors", "%.3g"),
    Column("needs", "of.distribution.word", "Needs"),
    Column("distance", "of.distribution.distance", "Distance", "%.2f"),
    Column("stability_index", "of.distribution.stability_index", "Stability index", "%.2f"),
    Column("needs_p", "of.distribution.probability", "p of the needs", "%.3g"),
)


def drift_table(drift: Sequence[Drift], names: Mapping[int, str] | None = None) -> Table:
    """One line per profile and target, those with drift first."""
    given = names or {}
    ordered = sorted(drift, key=lambda one: (not one.is_drifting, one.profile, one.target))
    rows = [_Drift(shortened(given.get(one.profile, f"P{one.profile}")), one) for one in ordered]
    return Table("drift", "Drift", DRIFTS, rows)


@dataclass(frozen=True)
class _Needs:
    """What the jobs of a profile need, now and at the fit."""

    name: str
    of: CurrentQuantiles


def needs_table(now: FeedbackNow, target: str, names: Mapping[int, str] | None = None) -> Table:
    """One line per profile: quantiles of one target now and at the fit, in the target's unit."""
    given = {OUTLIERS: UNCLUSTERED, **(names or {})}
    rows = [
        _Needs(shortened(given.get(int(name), f"P{name}")), targets[target]) for name, targets in now.quantiles.items()
    ]

    def value(place: int, level: str, when: str) -> Column:
        def number(one: _Needs) -> float:
            return float(getattr(one.of, when)[place])

        words = f"{level} {when.replace('at_fit', 'at the fit')}"
        return Column(f"{level}_{when}", number, words, said=lambda one: formatted(target, number(one)))

    levels = [f"p{level * 100:g}" for level in rows[0].of.levels] if rows else []
    columns = (
        Column("profile", "name", "Profile"),
        *(value(place, level, when) for place, level in enumerate(levels) for when in ("now", "at_fit")),
        Column("independent_jobs", lambda one: round(one.of.effective, 1), "Independent jobs", "%,.1f"),
    )
    return Table("needs", "Needs", columns, rows)


def observed_answer(result: Observed, called: Sequence[str] = ()) -> Answer:
    """What finished jobs say of their predictions, and whether to cluster again; `called` = names of the profiles."""
    stands = result.assessment
    advice = "; ".join(stands.reasons) or "no drift that calls for another clustering"
    done = " Profiles and classifier were trained again." if result.refitted else ""
    if stands.recluster_advised and not result.refitted:
        done = " Another clustering is advised: add --refit."
    far = f"{result.filed.get('-1', 0):,} are far from every profile"
    return Answer(
        f"{result.observed:,} of {counted(result.n_read, 'run')} are compared, {far}: {advice}.{done}",
        (
            Figure(FAR, stands, f"{format_share(stands.outlier_share_at_fit)} at the fit"),
            Figure(ACQUIRES, stands, f"{stands.acquires_at_fit:.3f} at the fit"),
        ),
        (drift_table([one for one in stands.drift if one.jobs], dict(enumerate(called[:-1]))),),
        notes=tuple(result.notes),
        document={
            "observed": result.observed,
            "rows_read": result.n_read,
            "repeated": result.n_repeated,
            "already_observed": result.already,
            "filed": result.filed,
            "not_filed": result.n_unfiled,
            "agreed_share": result.agreed_share,
            "violations": result.violations,
            "drift": [_drift(one) for one in stands.drift],
            "outlier_share": stands.outlier_share,
            "outlier_share_at_fit": stands.outlier_share_at_fit,
            "acquires": stands.acquires,
            "acquires_at_fit": stands.acquires_at_fit,
            "recluster_advised": stands.recluster_advised,
            "reasons": list(stands.reasons),
            "refitted": result.refitted,
            "acquires_history": list(result.history),
            "seconds": result.seconds,
        },
    )


def _drift(one: Drift) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "target": one.target,
        "jobs": one.jobs,
        "effective_jobs": one.effective,
        "drift": one.is_drifting,
        "error": vars(one.error) | {"factor": one.error.factor},
        "distribution": vars(one.distribution),
    }


DRIFT_NOTE = (
    "Above 1, jobs need more than predicted, compared with the fit. Lines: 95 % interval. Drift: significant "
    "(all tests of a check together) and large enough to matter; slight: significant only. Runs of one job count "
    "together."
)
