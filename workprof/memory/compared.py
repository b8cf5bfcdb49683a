"""The verdict among the policies: the runs that it is judged on, sized by each, charged by one rule.

Every size is fixed when a run is submitted, from what had ended by then. Saving, kills and today are the verdict's: a
kill is a size below both request and use, and the killed attempt is charged with what follows it. A run that a policy
does not size keeps its request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Floats, latest_of, numbers_if_present
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.progress import Progress, silent
from workprof.core.units import GB
from workprof.memory.charges import charges_of
from workprof.memory.known import SizedRuns
from workprof.memory.orders import FINISHED, SUBMIT_TIME
from workprof.memory.origins import APPLIED, charged_of, killed_by
from workprof.memory.policies import ORACLES
from workprof.memory.policy_figures import REQUESTS, VERDICT, Compared, ComparedLine
from workprof.memory.replay import ReplayResult, ordered_runs, replay
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.resources import MEMORY, clock_of, resources_of, with_windows
from workprof.memory.usage import finished_of
from workprof.memory.verdict import VerdictSettings, judgement_of

if TYPE_CHECKING:
    import pandas as pd


def replay_and_compare(
    frames: Mapping[str, pd.DataFrame], settings: ReplaySettings, progress: Progress = silent
) -> ReplayResult:
    """The replay of the policies, and the verdict among them where sizes are by what had ended."""
    result = replay(frames, settings, progress)
    if settings.protocol != SUBMIT_TIME or settings.known != FINISHED or settings.train:
        return result
    progress(None, "Comparing with the verdict")
    return replace(result, compared=compared(frames, settings))


def compared(frames: Mapping[str, pd.DataFrame], settings: ReplaySettings) -> Compared | None:
    """The verdict and the policies on the same runs; None where no run has a request and a use."""
    jobs, _ = latest_of(frames["jobs"], settings.latest_runs)
    jobs = with_windows(jobs)
    try:
        resource = next(one for one in resources_of(jobs, settings.target, 0.0) if one.name == MEMORY)
        runs, orders = ordered_runs({"jobs": _known_at_submission(jobs)}, settings)
    except (ColumnMissing, NotEnoughData):
        return None
    asked = {applied: VerdictSettings(applied=applied, target=settings.target) for applied in APPLIED}
    judged = {applied: judgement_of(resource, one) for applied, one in asked.items()}
    first = next(iter(judged.values())).first
    own = resource.runs.take(slice(first, len(resource.runs)))
    lines = [_line((VERDICT, applied), own, one.size, one.killed, one.charged) for applied, one in judged.items()]
    places, n_finished = resource.places[first:], len(finished_of(jobs))
    for name in dict.fromkeys((REQUESTS, *settings.policies)):
        charges = charges_of((orders, settings), name)[0]
        sizes = np.full(n_finished, np.nan)
        sizes[runs.rows[charges.rows]] = charges.first_bytes / GB
        given = np.append(sizes, np.nan)[np.minimum(places, n_finished)]
        size = np.where(np.isfinite(given), given, own.request)
        killed = killed_by(size, own.request, own.use)
        charged = charged_of(size, own.request, own.use, own.hours, killed)
        lines.append(_line((name, ""), own, size, killed, charged))
    lines.sort(key=lambda one: (-one.saved_share, one.kills))
    return Compared(len(own), float(own.booked.sum()), tuple(lines))


def _known_at_submission(jobs: pd.DataFrame) -> pd.DataFrame:
    """The table with every start at its submission, where there is one: sizes are fixed then."""
    seconds = numbers_if_present(jobs, "duration_s")
    if seconds is None:
        return jobs
    submit, start, end = clock_of(jobs, seconds)
    return jobs.assign(start_time_s=np.where(np.isfinite(submit), submit, start), end_time_s=end)


def _line(named: tuple[str, str], own: SizedRuns, size: Floats, killed: Bools, charged: Floats) -> ComparedLine:
    booked = float(own.booked.sum())
    return ComparedLine(
        name=named[0],
        applied=named[1],
        n_sized=int((size != own.request).sum()),
        charged_gb_h=float(charged.sum()),
        wasted_gb_h=float(np.maximum(charged - own.use * own.hours, 0.0).sum()),
        saved_share=float((own.booked - charged).sum()) / booked if booked > 0 else float("nan"),
        kills=int(killed.sum()),
        hindsight=named[0] in ORACLES,
    )
