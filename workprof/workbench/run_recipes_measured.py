"""Recipes of the steps about nodes and phases."""

from __future__ import annotations

from dataclasses import replace

from workprof.nodes.advice import Advice, AdviceSettings
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.groups import Groups, GroupSettings
from workprof.nodes.ranking import Ranking
from workprof.nodes.selection import RankSettings
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.library import Library, LibrarySettings, LibraryView, LibraryViewSettings
from workprof.phases.live import LiveLibrary, LiveSettings
from workprof.phases.matching import KnownMatchSettings, Match, MatchRunSettings
from workprof.phases.runs import RunList, RunListSettings
from workprof.phases.timeline import AlignedRuns, AlignmentSettings, DetectSettings, Phases, Timeline, TimelineSettings
from workprof.workbench import nodes, phase_views, phases
from workprof.workbench.run_recipe import Recipe


def _train(asked: DegradationSettings) -> dict[str, str | int]:
    return {"train": asked.train} if asked.train else {}


def _learned_from(asked: EvaluationSettings) -> dict[str, str | int]:
    return {"train": asked.train_hash} if asked.trained_elsewhere else {}


def _about(asked: AdviceSettings) -> dict[str, str | int]:
    return {"jobs": asked.jobs, "profile": asked.profile}


def _without_train(asked: EvaluationSettings) -> EvaluationSettings:
    """Return the settings as they were before the dataset to learn from was written into them."""
    return replace(asked, trained_elsewhere=False, train_hash="")


_FOLLOWED = "it is what the page follows a recording with, and says nothing by itself; `workprof phases library` does"

MEASURED = (
    Recipe(nodes.RANK, "node_ranking", RankSettings, Ranking),
    Recipe(nodes.GROUPS, "node_groups", GroupSettings, Groups),
    Recipe(nodes.DETECT, "degradation", DegradationSettings, Detection, adapt=lambda asked: asked.detect, more=_train),
    Recipe(nodes.ADVICE, "node_advice", AdviceSettings, Advice, adapt=lambda asked: asked.ranking, more=_about),
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
