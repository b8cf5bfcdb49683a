"""The questions of the Nodes page and of `workprof nodes`, each declared once."""

from typing import Any

from workprof.core.question import Question
from workprof.nodes.advice import Advice, AdviceSettings
from workprof.nodes.allocation import Allocation, AllocationSettings
from workprof.nodes.detection import DegradationSettings, Detection
from workprof.nodes.detection_data import FAITHFUL, DetectSettings
from workprof.nodes.groups import Groups, GroupSettings
from workprof.nodes.history import History, HistorySettings
from workprof.nodes.ranking import Ranking
from workprof.nodes.search import Search, SearchSettings
from workprof.nodes.selection import EXCLUDE_NONE, FLAGGED, PERONA, RankSettings
from workprof.nodes.suite import RunLine, SuiteSettings
from workprof.nodes.transfer import Transfer, TransferSettings

PAGE = "nodes"

# A ranking may stand on a detection: raise the versions of RANK, GROUPS, ADVICE and ALLOCATE with that of DETECT.
RANK = Question(
    "nodes.rank",
    "Rank the nodes: how much better, how sure, tied with whom, degraded or not.",
    RankSettings,
    Ranking,
    "workprof.nodes.ranking:rank_nodes",
    finds="ranking of nodes",
    version=10,
    page=PAGE,
    tab="Ranking",
    fold="nodes_more",
    method="node_ranking",
    published=lambda: RankSettings(score=PERONA, exclude=EXCLUDE_NONE),
)
GROUPS = Question(
    "nodes.groups",
    "Group the nodes that are alike.",
    GroupSettings,
    Groups,
    "workprof.nodes.groups:group_nodes",
    finds="groups of nodes",
    version=7,
    page=PAGE,
    tab="Groups",
    method="node_groups",
    ignores=("ranking.weights", "ranking.score", "ranking.prices_per_h", "ranking.confidence"),
)
DETECT = Question(
    "nodes.detect",
    "Find the benchmark runs that are degraded, with a probability where runs are labelled.",
    DegradationSettings,
    Detection,
    "workprof.nodes.detection:detect",
    finds="degradation detection",
    version=6,
    page=PAGE,
    tab="Degradation",
    fold="nodes_detect_settings",
    method="degradation",
)
HISTORY = Question(
    "nodes.history",
    "Follow the nodes over time: re-run to confirm, excluded, back in service.",
    HistorySettings,
    History,
    "workprof.nodes.history:node_history",
    finds="verdicts on nodes over time",
    version=5,
    page=PAGE,
    tab="Over time",
    method="node_history",
)
ADVICE = Question(
    "nodes.advice",
    "Advise which node suits a profile of jobs, by what they use.",
    AdviceSettings,
    Advice,
    "workprof.nodes.advice:advise",
    finds="nodes for a profile",
    version=11,
    page=PAGE,
    tab="Ranking",
    method="node_advice",
    command=("nodes", "advise"),
)
ALLOCATE = Question(
    "nodes.allocation",
    "Place kinds of jobs on groups of nodes by what they use, as Tarema does.",
    AllocationSettings,
    Allocation,
    "workprof.nodes.allocation:allocate",
    finds="groups of nodes for kinds of jobs",
    version=3,
    page=PAGE,
    tab="Groups",
    method="node_allocation",
    command=("nodes", "allocate"),
    ignores=(*(f"grouping.{path}" for path in GROUPS.ignores), "grouping.n_resamples", "grouping.reference"),
)
SEARCH = Question(
    "nodes.search",
    "Find the cheapest configuration with few trials, on a table of measured ones.",
    SearchSettings,
    Search,
    "workprof.nodes.search:search_frames",
    finds="configuration search",
    version=9,
    page=PAGE,
    tab="Search",
    method="configuration_search",
)
"""Asked of a dataset of measured configurations; raise its version with that of RANK, whose scores it may take."""
QUESTIONS: tuple[Question[Any, Any], ...] = (RANK, GROUPS, DETECT, HISTORY, ADVICE, ALLOCATE, SEARCH)

TRANSFER = Question(
    "nodes.transfer",
    "Predict the runtimes of tasks on other machines, and show how far off each method is.",
    TransferSettings,
    Transfer,
    "workprof.nodes.transfer:transfer",
    page=PAGE,
    tab="Transfer",
    method="runtime_transfer",
)
"""Asked of a folder of reports: it is no step, and nothing of it is cached."""

SUITE = Question(
    "nodes.suite",
    "Run the six benchmark tools here; the file is what `workprof ingest` takes.",
    SuiteSettings,
    RunLine,
    "workprof.nodes.suite:run_suite",
)
"""Asked of this machine: it is no step, and nothing of it is cached."""


def needed_detections(settings: RankSettings) -> tuple[DegradationSettings, ...]:
    """The detections that a ranking rests on: of the runs that it leaves out, and of the published codes."""
    return (
        *((DegradationSettings(),) if settings.exclude == FLAGGED else ()),
        *((DegradationSettings(DetectSettings(mode=FAITHFUL)),) if settings.score == PERONA else ()),
    )
