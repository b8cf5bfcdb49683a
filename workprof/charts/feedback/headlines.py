"""The loop in figures and sentences: what was observed, how often intervals were left, what is advised."""

from __future__ import annotations

import math

from workprof.charts.shapes import Headline
from workprof.charts.text import counted
from workprof.forecasts.feedback.drift import Assessment
from workprof.forecasts.feedback.loop import Observed
from workprof.forecasts.feedback.windows import FeedbackState
from workprof.units import format_share


def feedback_headlines(state: FeedbackState, stands: Assessment) -> tuple[Headline, ...]:
    """Return the loop as figures; both kinds of violations are counted over all targets since the last fit."""
    known = sum(int(one.tally.known.sum()) for one in state.profiles.values())
    under = sum(int(one.tally.under.sum()) for one in state.profiles.values())
    over = sum(int(one.tally.over.sum()) for one in state.profiles.values())
    agreed = state.n_agreed / state.n_predicted if state.n_predicted else math.nan
    return (
        Headline("Finished jobs", f"{state.n_observed:,}", "Rows observed so far.", counted(state.refits, "refit")),
        Headline(
            "Needed more",
            format_share(under / known if known else math.nan),
            "Estimates whose job needed more than the upper end: under-provisioned.",
        ),
        Headline(
            "Needed less",
            format_share(over / known if known else math.nan),
            "Estimates whose job needed less than the lower end: over-provisioned.",
        ),
        Headline(
            "As predicted",
            format_share(agreed),
            "Of the jobs with a predicted profile: filed under it by what they measured.",
        ),
        Headline(
            "In no profile",
            format_share(stands.outlier_share),
            "Of the recent jobs: far from every profile.",
            f"{format_share(stands.outlier_share_at_fit)} at the fit",
        ),
    )


def advice_sentence(stands: Assessment) -> str:
    """Return whether another clustering is advised, and why."""
    if not stands.recluster_advised:
        return "Nothing speaks for another clustering."
    return f"Another clustering is advised: {'; '.join(stands.reasons)}."


def observed_sentence(found: Observed) -> str:
    """Return what became of a table of finished jobs."""
    if found.already:
        return f"This table of {counted(found.n_read, 'finished job')} was observed before; nothing was counted twice."
    parts = [f"{counted(found.observed, 'finished job')} observed"]
    if found.n_repeated:
        parts.append(f"{found.n_repeated:,} observed before and not counted again")
    if found.n_unfiled:
        parts.append(f"{found.n_unfiled:,} measured too little to belong to a profile")
    return f"{'; '.join(parts)}."
