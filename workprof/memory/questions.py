"""The questions of the Memory page and of `workprof memory`, each declared once."""

from collections.abc import Callable
from typing import Any

from workprof.core.causes import KILLS, LOWER_BOUND
from workprof.core.question import Question
from workprof.memory.assessment import Assessment, AssessmentSettings
from workprof.memory.bin_models import PredictorSettings, faithful_predictor
from workprof.memory.bin_search import COST, BinSettings, faithful_bins
from workprof.memory.bins import Bins, ImprovementCurve, ProfileBins, ProfileBinSettings
from workprof.memory.changes import Changes, ChangesSettings
from workprof.memory.chargeback import Chargeback, ChargebackSettings
from workprof.memory.demand import Demand, DemandSettings
from workprof.memory.facts import FactPoints, FactPointsSettings
from workprof.memory.ledger import Ledger, LedgerRunList
from workprof.memory.ledger_settings import NODE_COLUMNS, READS, LedgerRunsSettings, LedgerSettings
from workprof.memory.model_tables import PredictorTables, TableSettings
from workprof.memory.models import PredictorResult
from workprof.memory.over_time import (
    OverTime,
    OverTimeRuns,
    OverTimeRunsSettings,
    OverTimeSettings,
    read_over_time,
)
from workprof.memory.replay import ReplayResult
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.resources import TOLD
from workprof.memory.rollup import GROUPINGS, Rollup, RollupSettings
from workprof.memory.schedule import Schedule, ScheduleSettings
from workprof.memory.usage import LABELS, NO_INPUT, USAGE_COLUMNS
from workprof.memory.verdict import Verdict, VerdictSettings
from workprof.memory.why import Why, WhySettings

PAGE = "memory"
SIZING = (
    *("task_name", "requested_memory_bytes", "duration_s", "submit_time_s", "peak_memory_bytes", "rss"),
    *("requested_cpu_percent", "cpu_usage_percent", "start_time_s", "end_time_s", "attempt"),
    *("status", LOWER_BOUND, KILLS),
)
"""Columns that sizing itself needs."""


def _sizing(*more: str) -> Callable[[Any], tuple[str, ...]]:
    """What reads the columns of sizing and more."""
    return lambda _: (*SIZING, *more)


VERDICT_READS = (
    *("cluster", "namespace", "user", "group", "workload", "task_name", "container", "status", "windows"),
    *("requested_memory_bytes", "peak_memory_bytes", "rss", "requested_cpu_percent", "cpu_usage_percent"),
    *("requested_gpu_percent", "gpu_usage_percent", "time_limit_s", "duration_s"),
    *("submit_time_s", "start_time_s", "end_time_s", KILLS, LOWER_BOUND, *TOLD, *NODE_COLUMNS),
)
"""Columns of which a verdict is made: keys, requests, uses, times and evidence."""


def read_assessment(target: str) -> tuple[str, ...]:
    """The columns that an assessment needs of every row; where rows are many, others are read of those drawn."""
    spared = {"attempt", *USAGE_COLUMNS.values()} - {USAGE_COLUMNS[target]}
    return tuple(name for name in SIZING if name not in spared)


def _named(name: Callable[[Any], str]) -> Callable[[Any], tuple[str, ...]]:
    """What reads the column that the settings name, if they name one."""
    return lambda settings: tuple(column for column in (name(settings),) if column not in ("", NO_INPUT))


ASSESS = Question(
    "memory.assess",
    "Show what tasks request and use, the ones that waste most first.",
    AssessmentSettings,
    Assessment,
    "workprof.memory.assessment:assessment_of",
    finds="requests and use by task",
    version=7,
    page=PAGE,
    tab="Tasks",
    method="assessment",
)
FACT = Question(
    "memory.fact",
    "Set one column against the use of memory: points of a number, a box of every category.",
    FactPointsSettings,
    FactPoints,
    "workprof.memory.facts:fact_points_of",
    finds="feature v memory",
    reads=lambda settings: (settings.column,),
    optional=_sizing(),
    page=PAGE,
    tab="Tasks",
    method="fact_points",
)
BINS = Question(
    "memory.bins",
    "Find the bin limits of a task or a profile that save most, or report what given limits would save.",
    BinSettings,
    Bins,
    "workprof.memory.bins:bins_of",
    finds="bins of a task",
    version=4,
    reads=_named(lambda settings: settings.price_column if settings.weight == COST else ""),
    optional=_sizing(),
    names=("task",),
    either=(("-k", "--edges"),),
    page=PAGE,
    tab="Bins",
    published=faithful_bins,
)
PROFILE_BINS = Question(
    "memory.profile_bins",
    BINS.title,
    ProfileBinSettings,
    ProfileBins,
    "workprof.memory.bins:profile_bins_of",
    finds="bins of a profile",
    version=5,
    page=PAGE,
    tab="Bins",
    command=BINS.words,
    either=(("-k", "--edges"),),
    published=lambda: ProfileBinSettings(0, faithful_bins()),
    rests_on_fit=True,
)
CURVE = Question(
    "memory.improvement",
    "Show what one to eight bins would save, and what no number of bins can beat.",
    BinSettings,
    ImprovementCurve,
    "workprof.memory.bins:improvement_curve",
    finds="saving by number of bins",
    version=3,
    reads=BINS.reads,
    optional=BINS.optional,
    names=("task",),
    page=PAGE,
    tab="Bins",
    command=("memory", "curve"),
    ignores=("k", "edges_bytes"),
)
PROFILE_CURVE = Question(
    "memory.profile_improvement",
    CURVE.title,
    ProfileBinSettings,
    ImprovementCurve,
    "workprof.memory.bins:profile_curve_of",
    finds="saving of a profile by number of bins",
    version=3,
    page=PAGE,
    tab="Bins",
    command=CURVE.words,
    rests_on_fit=True,
    ignores=("bins.k", "bins.edges_bytes"),
)
TRAIN = Question(
    "memory.train",
    "Train models that predict a run's bin before it runs; the published estimate and a replay side by side.",
    PredictorSettings,
    PredictorResult,
    "workprof.memory.models:train_predictors",
    finds="models that predict bins",
    version=5,
    names=("bins.task",),
    either=(("-k", "--edges"),),
    page=PAGE,
    tab="Models",
    method="bin_models",
    published=faithful_predictor,
)
TABLES = Question(
    "memory.tables",
    TRAIN.title,
    TableSettings,
    PredictorTables,
    "workprof.memory.model_tables:train_tables",
    finds="published tables of the models",
    version=3,
    names=("predictor.bins.task",),
    either=(("-k", "--edges"),),
    page=PAGE,
    tab="Models",
    method="bin_tables",
    command=TRAIN.words,
    always=("--tables",),
    published=lambda: TableSettings(faithful_predictor()),
)
REPLAY = Question(
    "memory.replay",
    "Replay every policy over the runs as they came: what each would have wasted and failed.",
    ReplaySettings,
    ReplayResult,
    "workprof.memory.compared:replay_and_compare",
    finds="replay of the policies",
    version=11,
    reads=_named(lambda settings: settings.used_input),
    optional=lambda _: (*SIZING, *LABELS, *VERDICT_READS),
    page=PAGE,
    tab="Policies",
)
WHY = Question(
    "memory.why",
    "Explain the size that our policy by the task alone gives the next run of a task, and how likely it is too small.",
    WhySettings,
    Why,
    "workprof.memory.why:why",
    names=("task",),
    finds="reason for a request",
    version=7,
    ignores=("sizing.by_labels",),
    reads=_named(lambda settings: settings.input_column),
    optional=_sizing(),
    page=PAGE,
    tab="Policies",
    method="why_size",
)
VERDICT = Question(
    "memory.verdict",
    "Say what to request, row by row: lower, keep or raise, with what it saves and what it risks.",
    VerdictSettings,
    Verdict,
    "workprof.memory.verdict:verdict_of",
    finds="verdict on the requests",
    version=16,
    optional=lambda _: VERDICT_READS,
    page=PAGE,
    tab="Plan",
    command=("memory", "plan"),
)
WHAT_IF = tuple(f"verdict.what_if.{name}" for name in ("times", "cap_bytes", "node_bytes", "price_gb_h"))
ROLLUP = Question(
    "memory.rollup",
    "Add up the judged runs of `memory plan` before and after its sizes.",
    RollupSettings,
    Rollup,
    "workprof.memory.rollup:rollup_of",
    version=9,
    finds="judged runs before and after",
    optional=lambda settings: (*VERDICT_READS, *GROUPINGS[settings.by]),
    page=PAGE,
    tab="Plan",
    ignores=WHAT_IF,
)
SCHEDULE = Question(
    "memory.schedule",
    "How many nodes would we need? Replay the runs on nodes of one kind, as requested and as the verdict sizes them.",
    ScheduleSettings,
    Schedule,
    "workprof.memory.schedule:schedule_of",
    finds="nodes needed",
    optional=lambda _: (*READS, *VERDICT_READS, "node"),
    version=6,
    page=PAGE,
    tab="Nodes needed",
    ignores=(*WHAT_IF, "verdict.as_of"),
)
DEMAND = Question(
    "memory.demand",
    "How many GB will be needed? Trend, seasons and anomalies of what is requested, used or submitted, and a forecast.",
    DemandSettings,
    Demand,
    "workprof.memory.demand:demand_of",
    finds="demand over time",
    version=3,
    optional=lambda _: READS,
    page=PAGE,
    tab="Demand",
    rests_on_fit=True,
)
LEDGER = Question(
    "memory.ledger",
    "Add up what is requested, used and wasted of every resource, and list what to request instead.",
    LedgerSettings,
    Ledger,
    "workprof.memory.ledger:ledger_of",
    finds="ledger of every resource",
    version=10 * VERDICT.version + 3,  # its findings are rows of the verdict
    optional=lambda _: (*READS, *VERDICT_READS),
    page=PAGE,
    tab="Ledger",
    rests_on_fit=True,
)
LEDGER_RUNS = Question(
    "memory.ledger_runs",
    "List the runs behind a number of the ledger, those that waste most first.",
    LedgerRunsSettings,
    LedgerRunList,
    "workprof.memory.ledger:ledger_run_list",
    finds="runs behind the ledger",
    version=10 * VERDICT.version + 3,
    optional=lambda _: (*READS, *VERDICT_READS),
    page=PAGE,
    tab="Ledger",
    command=("memory", "ledger-runs"),
    rests_on_fit=True,
)

CHARGEBACK = Question(
    "memory.chargeback",
    "Bill who requested what, month by month: GB·h, core·h, GPU·h and money of every run.",
    ChargebackSettings,
    Chargeback,
    "workprof.memory.chargeback:chargeback_of",
    finds="bill by month",
    version=2,
    optional=lambda _: READS,
    page=PAGE,
    tab="Ledger",
)

HOME = "home"
OVER_TIME = Question(
    "memory.over_time",
    "Show when memory lies idle: requested, used and unused GB·h by profile, task, user or group and time bin.",
    OverTimeSettings,
    OverTime,
    "workprof.memory.over_time:over_time_of",
    finds="memory over time",
    version=3,
    optional=lambda settings: read_over_time(settings.by),
    page=HOME,
    command=("memory", "over-time"),
    rests_on_fit=True,
)
OVER_TIME_RUNS = Question(
    "memory.over_time_runs",
    "List the runs of a row and a time bin, those that leave most memory idle first.",
    OverTimeRunsSettings,
    OverTimeRuns,
    "workprof.memory.over_time:over_time_runs_of",
    finds="runs behind memory over time",
    version=2,
    optional=lambda settings: read_over_time(settings.over.by),
    page=HOME,
    command=("memory", "over-time-runs"),
    rests_on_fit=True,
)

CHANGES = Question(
    "memory.changes",
    "Show what changed since the week or month before: waste, kills, profiles, rows taken up or worse, drift.",
    ChangesSettings,
    Changes,
    "workprof.memory.changes:changes_of",
    finds="what changed since the period before",
    version=10 * VERDICT.version + 3,  # what was advised before is a verdict
    optional=lambda _: (*READS, *VERDICT_READS),
    page=HOME,
    command=("changes",),
    rests_on_fit=True,
)

QUESTIONS: tuple[Question[Any, Any], ...] = (
    *(ASSESS, FACT, BINS, PROFILE_BINS, CURVE, PROFILE_CURVE, TRAIN, TABLES, REPLAY, WHY),
    *(VERDICT, ROLLUP, SCHEDULE, DEMAND, LEDGER, LEDGER_RUNS, CHARGEBACK, OVER_TIME, OVER_TIME_RUNS, CHANGES),
)
