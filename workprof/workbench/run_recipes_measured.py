"""Recipes of the steps about phases."""

from __future__ import annotations

from dataclasses import replace

from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.library import Library, LibrarySettings, LibraryView, LibraryViewSettings
from workprof.phases.live import LiveLibrary, LiveSettings
from workprof.phases.matching import KnownMatchSettings, Match, MatchRunSettings
from workprof.phases.runs import RunList, RunListSettings
from workprof.phases.timeline import AlignedRuns, AlignmentSettings, DetectSettings, Phases, Timeline, TimelineSettings
from workprof.workbench import phase_views, phases
from workprof.workbench.run_recipe import Recipe


def _learned_from(asked: EvaluationSettings) -> dict[str, str | int]:
    return {"train": asked.train_hash} if asked.trained_elsewhere else {}


def _without_train(asked: EvaluationSettings) -> EvaluationSettings:
    """Return the settings as they were before the dataset to learn from was written into them."""
    return replace(asked, trained_elsewhere=False, train_hash="")


_FOLLOWED = "it is what the page follows a recording with, and says nothing by itself; `workprof phases library` does"

MEASURED = (
    Recipe(phases.DETECT, "run_phases", DetectSettings, Phases),
    Recipe(phases.MATCH_RUN, "match_run", MatchRunSettings, Match),
    Recipe(phases.LEARN, "workload_library", LibrarySettings, Library),
    Recipe(
        phases.EVALUATE, "evaluate_phases", EvaluationSettings, Evaluation, adapt=_without_train, more=_learned_from
    ),
    Recipe(phase_views.TIMELINE, "timeline", TimelineSettings, Timeline),
    Recipe(phase_views.MATCH, "known_match", KnownMatchSettings, Match),
    Recipe(phase_views.RUN_LIST, "phase_runs", RunListSettings, RunList, plain=True),
    Recipe(phase_views.LIBRARY, "library_view", LibraryViewSettings, LibraryView),
    Recipe(
        phase_views.LIVE,
        "start_live_library",
        LiveSettings,
        LiveLibrary,
        after=("workbench.wait(found.key)",),
        why_no_command=_FOLLOWED,
    ),
    Recipe(phase_views.ALIGN, "aligned_runs", AlignmentSettings, AlignedRuns),
)
