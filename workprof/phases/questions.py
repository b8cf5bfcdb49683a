"""The questions of the Phases page and of `workprof phases`, each declared once."""

from typing import Any

from workprof.core.question import Question
from workprof.phases.early import Early, EarlySettings
from workprof.phases.evaluation import Evaluation, EvaluationSettings
from workprof.phases.growing import Growing, GrowingSettings
from workprof.phases.library import Library, LibrarySettings, LibraryView, LibraryViewSettings, faithful_library
from workprof.phases.live import LiveLibrary, LiveSettings
from workprof.phases.matching import KnownMatchSettings, Match, MatchRunSettings
from workprof.phases.methods import Methods, MethodsSettings
from workprof.phases.partial import Course, CourseSettings
from workprof.phases.runs import RunList, RunListSettings
from workprof.phases.shapes import Shapes, ShapesSettings
from workprof.phases.timeline import AlignedRuns, AlignmentSettings, DetectSettings, Phases, Timeline, TimelineSettings
from workprof.phases.typical import TypicalRuns, TypicalSettings

PAGE = "phases"

RUNS = Question(
    "phases.runs",
    "List the runs of a dataset, by workload and name.",
    RunListSettings,
    RunList,
    "workprof.phases.runs:run_list",
    finds="run list",
    reads=lambda _: ("run", "t"),
    optional=lambda _: ("workload", "status"),
    page=PAGE,
    tab="Timeline",
    method="phase_runs",
)
DETECT = Question(
    "phases.detect",
    "Find the phases of one run, counter by counter.",
    DetectSettings,
    Phases,
    "workprof.phases.timeline:detect",
    version=4,
    finds="phases of a run",
    page=PAGE,
    tab="Timeline",
    method="run_phases",
    published=lambda: DetectSettings(library=faithful_library()),
)
TIMELINE = Question(
    "phases.timeline",
    "Look at one run, or a stretch of it: its samples, its phases, their statistics (the fingerprint).",
    TimelineSettings,
    Timeline,
    "workprof.phases.timeline:one_run",
    version=4,
    finds="phase timeline",
    page=PAGE,
    tab="Timeline",
    command=("phases", "show"),
    published=lambda: TimelineSettings(library=faithful_library()),
)
METHODS = Question(
    "phases.methods",
    "Find the phases of one run by every method (Bayesian, PELT, ...), and how far they agree.",
    MethodsSettings,
    Methods,
    "workprof.phases.methods:methods",
    finds="methods for change points side by side",
    version=2,
    page=PAGE,
    tab="Timeline",
    method="phase_methods",
)
TYPICAL = Question(
    "phases.typical",
    "Find the typical run of each workload: the barycenter of its runs under time warping.",
    TypicalSettings,
    TypicalRuns,
    "workprof.phases.typical:typical_runs",
    finds="typical run of each workload",
    version=2,
    page=PAGE,
    tab="Library",
    method="typical_runs",
)
SHAPES = Question(
    "phases.shapes",
    "Group runs by the shape of their usage under time warping; compare with groups by phases and by mean and maximum.",
    ShapesSettings,
    Shapes,
    "workprof.phases.shapes:shapes_of",
    finds="shapes of runs",
    version=2,
    page=PAGE,
    tab="Library",
    method="run_shapes",
)
GROWING = Question(
    "phases.growing",
    "Learn sizes of memory that grow over a run, from earlier runs of its workload; replay them beside one size.",
    GrowingSettings,
    Growing,
    "workprof.phases.growing:growing_of",
    finds="sizes that grow over a run",
    version=2,
    page=PAGE,
    tab="Library",
    method="growing_sizes",
)
LEARN = Question(
    "phases.learn",
    "Show the fingerprints of the labelled runs: counters x phases x statistics.",
    LibrarySettings,
    Library,
    "workprof.phases.library:learn",
    version=4,
    finds="library of workloads",
    page=PAGE,
    tab="Library",
    method="workload_library",
    command=("phases", "fingerprints"),
    published=faithful_library,
)
LIBRARY = Question(
    "phases.library",
    "Show how far apart the labelled runs are, and from where on a run is unknown.",
    LibraryViewSettings,
    LibraryView,
    "workprof.phases.library:library_view",
    version=4,
    finds="library of workloads, as shown",
    page=PAGE,
    tab="Library",
    method="library_view",
    published=lambda: LibraryViewSettings(library=faithful_library()),
)
MATCH = Question(
    "phases.match",
    "Compare one run with all others: which workload it is, or that it is unknown.",
    MatchRunSettings,
    Match,
    "workprof.phases.matching:match_run",
    version=5,
    finds="match of a run",
    page=PAGE,
    tab="Match",
    method="match_run",
    published=lambda: MatchRunSettings("", faithful_library()),
)
KNOWN_MATCH = Question(
    "phases.known_match",
    MATCH.title,
    KnownMatchSettings,
    Match,
    "workprof.phases.matching:match_known",
    version=5,
    finds="match of a run, library edited",
    names=("edits.labels",),
    page=PAGE,
    tab="Match",
    command=MATCH.words,
    published=lambda: KnownMatchSettings("", library=faithful_library()),
)
COURSE = Question(
    "phases.course",
    "Tell which workload a run is after 5, 10, 15 s and so on, from any part of it.",
    CourseSettings,
    Course,
    "workprof.phases.partial:course",
    finds="course of a run",
    version=3,
    page=PAGE,
    tab="Match",
    method="run_course",
)
ALIGN = Question(
    "phases.align",
    "Lay two runs over each other: which second of one goes with which second of the other.",
    AlignmentSettings,
    AlignedRuns,
    "workprof.phases.timeline:aligned_runs",
    finds="two runs side by side",
    version=4,
    page=PAGE,
    tab="Match",
    method="aligned_runs",
    published=lambda: AlignmentSettings("", "", library=faithful_library()),
)
EVALUATE = Question(
    "phases.evaluate",
    "Measure how well known workloads are recognised and unknown ones rejected.",
    EvaluationSettings,
    Evaluation,
    "workprof.phases.evaluation:evaluate",
    version=9,
    finds="evaluation of recognition",
    ignores=("trained_elsewhere",),
    page=PAGE,
    tab="Evaluation",
    method="evaluate_phases",
    published=lambda: EvaluationSettings(faithful_library()),
)
EARLY = Question(
    "phases.early",
    "Measure how soon runs are recognised: after 5, 10, 15 s, from which counters, in a part at any offset.",
    EarlySettings,
    Early,
    "workprof.phases.early:early",
    version=5,
    finds="how soon runs are recognised",
    page=PAGE,
    tab="Evaluation",
    method="early_recognition",
)
LIVE = Question(
    "phases.live_library",
    "Learn what a recording in progress is followed with.",
    LiveSettings,
    LiveLibrary,
    "workprof.phases.live:live_library",
    version=4,
    finds="library for a live recording",
    page=PAGE,
    tab="Live",
    published=lambda: LiveSettings(faithful_library()),
    no_command="it is what the page follows a recording with, and says nothing by itself; `workprof phases library` "
    "does",
)

QUESTIONS: tuple[Question[Any, Any], ...] = (
    *(RUNS, DETECT, TIMELINE, METHODS, TYPICAL, SHAPES, GROWING, LEARN),
    *(LIBRARY, MATCH, KNOWN_MATCH, COURSE, ALIGN, EVALUATE, EARLY, LIVE),
)
