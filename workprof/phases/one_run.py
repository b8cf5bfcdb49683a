"""The step that looks at one run of a table of samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from workprof.phases.runs import runs_of
from workprof.phases.timeline.records import Timeline, TimelineSettings
from workprof.phases.timeline.timeline import timeline_of
from workprof.progress import Progress

if TYPE_CHECKING:
    import pandas as pd


def one_run(frames: Mapping[str, pd.DataFrame], settings: TimelineSettings, progress: Progress) -> Timeline:
    """Return one run of `frames['samples']`, or a stretch of it, with its phases.

    Raises:
        SettingsError: for a run or a counter that is not there.
        NotEnoughData: when the window holds no sample.
    """
    return timeline_of(runs_of(frames["samples"], settings.library.counters), settings, progress)
