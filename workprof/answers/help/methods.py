"""What Help has beside the glossary: methods, published definitions, formats, limits, diagnostics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from workprof.core.stats import FEWEST_RUNS
from workprof.core.units import format_bytes
from workprof.memory.bin_search import MOST_BINS
from workprof.memory.chances import FEWEST_KNOWN
from workprof.memory.scenarios import MOST_COMPARED
from workprof.profiles.settings import EXACT_SILHOUETTE_ROWS, OPTICS_ROWS
from workprof.profiles.sweep import OPTICS_SWEEP_ROWS


@dataclass(frozen=True)
class Method:
    """A method."""

    name: str  # what it is about
    pages: str  # where it is used
    what: str  # what is computed
    ours: str  # where ours differs from the published method
    sources: tuple[str, ...]  # what to read
    limits: tuple[str, ...]  # what it cannot do, or not yet


EXTENDED = (
    "Formal and Empirical Study of Metadata-Based Profiling for Resource Management in the Computing Continuum, arXiv "
    "2504.20740 (2025)"
)

METHODS = (
    Method(
        "Job profiles",
        "Profiles, Sweep",
        "The sensors of the runs are scaled and clustered by density (HDBSCAN, OPTICS or DBSCAN); each "
        "cluster is summarised by "
        "use, duration, workloads and users. A sweep runs 4 transforms, 7 sizes and 2 distances: 56 "
        "runs an algorithm (Table III).",
        "Only sensors are clustered, missing values stay missing, and the target number of profiles is a setting. The "
        "spanning tree is saved, so another minimum size or pair of named runs needs no new fit. "
        "Memberships, outlier scores (GLOSH) and exemplars are hdbscan's own.",
        (
            "PolarisProfiler, SOSE 2023",
            EXTENDED,
            "Campello, Moulavi and Sander, Density-Based Clustering Based on Hierarchical Density Estimates, PAKDD "
            "2013 (HDBSCAN)",
            "Moulavi et al., Density-Based Clustering Validation, SDM 2014 (DBCV)",
            "Campello et al., A framework for semi-supervised and unsupervised optimal extraction of clusters from "
            "hierarchies, DMKD 27 (2013): pairs of runs that are alike or unlike",
        ),
        (
            "Profiles show which runs behave alike, not why; their numbers change with the rows.",
            "Runs that no profile holds are outliers: with few runs, or too large a minimum size, most of them are.",
        ),
    ),
    Method(
        "Cluster tendency and stability",
        "Profiles",
        "Hopkins statistic, silhouettes of metadata labels taken as clusters (Table II), and how well each profile "
        "is found again when runs are left out at random.",
        "Hopkins is near 0 for clusters, as in the paper; many programs print 1 - H. The stability study is not in the "
        "paper.",
        (
            "PolarisProfiler, SOSE 2023",
            "Hennig, Cluster-wise assessment of cluster stability, Computational Statistics and Data Analysis 52 "
            "(2007)",
        ),
        (
            "A Hopkins statistic near 0 says that runs are not uniform, not how many profiles there are.",
            "Stability is of the same rows drawn again, not of next month's.",
        ),
    ),
    Method(
        "Classification and forecasts",
        "Classify, Durations",
        "Boosted trees predict a job's profile from submit-time fields; further models predict "
        "duration, memory and use "
        "with intervals. SHAP values explain each prediction by field.",
        "SHAP values of the scores are carried on to the odds of the probability shown, against all other profiles. "
        "Encoders are fitted on training runs only, probabilities are calibrated apart for known jobs, new jobs, new "
        "groups and new users, the classifier may abstain, and every "
        "score is given for four splits. Test runs were part of the clustering, "
        "unless each fold's training runs are clustered alone (cluster on train). Intervals are calibrated on "
        "held-out jobs, and so are quantiles but by time: there past runs are no measure of later ones. "
        "The best guess of each quantity is that of the predictor with the least error on validation "
        "runs; a simple rule stays where nothing beats it. It is kept between its p10 and p90, unless validation runs "
        "are clearly better predicted without.",
        (
            "PolarisProfiler, SOSE 2023, its Table V and Figs. 4 and 5",
            "Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NIPS 2017 (SHAP)",
        ),
        (
            "Names and users that training never saw are predicted with wider intervals, or not at all.",
            "Rows of one job are alike: scores of the random split are too good, and stand there to show by how much.",
        ),
    ),
    Method(
        "Feedback",
        "Classify, last tab",
        "Finished jobs are assigned to profiles, errors and distributions are tested for drift, and "
        "a new fit is advised "
        "where needed.",
        "Jobs are assigned to the nearest profile, not the predicted one; old jobs count less by a window and a "
        "half-life; all tests of a check share one false-alarm rate.",
        (EXTENDED,),
        ("A drift is a difference, not its cause; after few finished jobs none can be shown.",),
    ),
    Method(
        "Memory sizes",
        "Memory",
        "Utilisation, memory bins, models that predict a run's bin, and sizing policies replayed run "
        "by run with retries.",
        "The best bin limits are found exactly, the largest bin is unrestricted, and policies are "
        "ranked by replay; the "
        "published estimate is shown beside it.",
        (
            "A thesis on load-aware provisioning, its Tables 5 to 13",
            "Bader et al., Sizey: Memory-Efficient Execution of Scientific Workflow Tasks, arXiv 2407.16353 (2024)",
            "Tovar et al., A Job Sizing Strategy for High-Throughput Scientific Workflows, IEEE Transactions on "
            "Parallel and Distributed Systems 29 (2018)",
            "Witt et al., Learning Low-Wastage Memory Allocations for Scientific Workflows at IceCube, 2019",
            "Blumenthal et al., Optimizing Memory Allocation in Distributed Clusters with Predictive Modeling, arXiv "
            "2604.18043 (2026)",
            "Lifka, The ANL/IBM SP Scheduling System, JSSPP 1995; PolarisProfiler, II-D: the replayed schedule",
            "Bandara, Hyndman and Bergmeir, MSTL, arXiv 2107.13462 (2021); PolarisProfiler, II-A: demand over time",
        ),
        (
            "A saving is what past runs would have saved; other inputs may save less.",
            "A use is a recorded peak: what was sampled too seldom is too low, and a size from it kills.",
            "Requests are compared run by run; `memory schedule` alone replays a queue and the packing of nodes.",
        ),
    ),
    Method(
        "Nodes",
        "Nodes",
        "Six benchmark tools make a fingerprint of every node: ranking by resource, groups, degraded runs, and "
        "runtimes carried over to other machines.",
        "Scores keep ratios and have intervals; the direction of each metric is declared; runs are "
        "compared with earlier "
        "ones only.",
        (
            "Scheinert et al., Perona: Robust Infrastructure Fingerprinting for Resource-Efficient Big Data Analytics, "
            "arXiv 2211.08227 (2022)",
            "Bader et al., Lotaru: Locally Estimating Runtimes of Scientific Workflow Tasks in Heterogeneous Clusters, "
            "SSDBM 2022",
            "Bader et al., Tarema: Adaptive Resource Allocation for Scalable Scientific Workflows in Heterogeneous "
            "Clusters, IEEE BigData 2021",
        ),
        (
            "Fewer than three runs of a benchmark give a value and no rank.",
            "Where paper and code of Perona's network differ, the published definitions follow the code: anomalous "
            "runs are counted inside a window, and a batch without any divides its loss by all runs. Unlike there, "
            "whole days between runs are kept, and the seed is not searched.",
            "Scores count per price in a configuration search: as published, they lead to what is fast and dear.",
            "Kinds of jobs are placed on groups of nodes as Tarema does: replayed on 282 tasks of three machines that "
            "gained nothing over the fastest node first (1.008 [1.001, 1.016] of its time).",
            "Whole nodes are compared as they were measured; without labelled runs a degradation has a "
            "p-value, not a probability, and a flag at 5 % takes 19 training runs of the benchmark.",
        ),
    ),
    Method(
        "Phases",
        "Phases",
        "Bayesian change points show where a run changes what it does. Which known workload it is, or that it is "
        "unknown, rests on its phases: level and deviation of each counter are compared with those of known "
        "runs at about the same time (Mahalanobis distance). Trees on the whole run count at a lower weight.",
        "Signs are kept, levels come from the training runs, only large distances reject a workload, and stretches "
        "of a run are compared at about the same time; as published, numbered phases of each counter are.",
        (
            "Hossain et al., CWD: A Machine Learning based Approach to Detect Unknown Cloud Workloads, arXiv "
            "2211.15739 (2022)",
            "Adams and MacKay, Bayesian Online Changepoint Detection, arXiv 0710.3742 (2007)",
            "Fearnhead, Exact and Efficient Bayesian Inference for Multiple Changepoint Problems, Statistics and "
            "Computing 16 (2006)",
        ),
        (
            "Samples are taken as equally spaced, and a phase needs at least two of them.",
            "A known workload is recognised where its counters were recorded in the same way on a like machine.",
        ),
    ),
)


@dataclass(frozen=True)
class Definition:
    """A definition that has two modes, or that differs here."""

    topic: str  # what is defined
    published: str  # how it was published (faithful)
    ours: str  # how it is here (corrected)
    numbers: str  # what the difference makes
    source: str  # of the numbers


_POLARIS = "PolarisProfiler's notebooks"
_THESIS = "the load-aware provisioning thesis"

DEFINITIONS = (
    Definition(
        "Error of an estimate",
        "A ratio, read as a percentage: 'below 5 % for 80 % of the jobs'.",
        "Ratio, percentage, factor and signed error, each under its own name.",
        "Below 5 means below 500 %, for 80.4 % of 999 jobs; 1.2 % of them are within 5 %.",
        f"{_POLARIS}, recomputed from the 999 printed values",
    ),
    Definition(
        "Join of the raw tables",
        "On inst_id, which names a job: tasks x instances x sensors of the job.",
        "On worker_name: every instance with its own sensors.",
        "129,761 tasks become 36,690,185 rows.",
        f"{_POLARIS}, printed row counts",
    ),
    Definition(
        "Features of the clustering",
        "17, including requests, start and end times and the duration.",
        "The 10 sensors: what a run really did.",
        "All 26 published profiles are one workload and one task, except for 13 rows of 75,398: they "
        "repeat the metadata.",
        f"{_POLARIS}, recomputed",
    ),
    Definition(
        "Missing values",
        "Become 0: 'not requested' looks like 0.",
        "Stay missing, or are filled from the training data.",
        "GPU requests are missing on 223,965 of 1,261,050 tasks (17.8 %).",
        "the PAI trace, counted by its authors",
    ),
    Definition(
        "Test of the classifier",
        "Runs drawn at random; runs of one job are in training and test.",
        "Four splits side by side: random, by job, by group, by time.",
        "95.19 % accuracy, while one job has up to 1,075 of the sampled rows.",
        f"{_POLARIS}, printed",
    ),
    Definition(
        "Target number of profiles",
        "26, the number that the winner itself has.",
        "A setting; the finished runs are scored again for it.",
        "With 26 the best ACQUIRES is 0.718; with 20 another run wins, with 0.723.",
        f"{_POLARIS}, both grids recomputed",
    ),
    Definition(
        "Violation of an estimate",
        "An overall error above 50, which no under-estimate can reach.",
        "One-sided, by resource: more used than predicted.",
        "Predicting zero for everything gives at most 49.93 on 686 runs.",
        "PolarisProfiler's package, computed on the development sample",
    ),
    Definition(
        "Bin limits",
        "Multiples of a stride; the largest bin stays at the largest request.",
        "Every limit that can be best is tried (exact); a run belongs to the smallest bin that holds its use with "
        "headroom, and the largest bin is what the largest run needs.",
        "Two bins of one task save 68.7 % with a fixed largest bin and 82.0 % with a free one.",
        "task BISMARK_DEDUPLICATE of Sizey's methylseq trace, computed",
    ),
    Definition(
        "Saving of a model",
        "Optimal improvement x accuracy - share of under-estimates.",
        "Replayed run by run, failed attempts included; the estimate is shown beside it.",
        "On a held-out task the estimate preferred 2 bins and the replay 3.",
        f"{_THESIS}, its formula on Sizey's traces",
    ),
    Definition(
        "Total of the plan",
        "A saving of 69.7 % that was computed against 200 GB is applied to a request of 100 GB.",
        "Saving and request belong together.",
        "325 GB and 78.6 % saved as published; 355.65 GB and 76.6 % against 200 GB.",
        f"{_THESIS}, Tables 6, 12 and 13",
    ),
    Definition(
        "Score of a node",
        "10-norm over resources, which compresses ratios.",
        "Ratios are kept.",
        "Median error of runtimes carried over: Perona 0.1411, Lotaru 0.1237, the plain ratio of sysbench cpu 0.0863.",
        "Perona, Table III, recomputed from Lotaru's reports; the last by workprof",
    ),
    Definition(
        "Normalised counters",
        "|x - mean| / sd: a step with equal halves is 1 on both sides.",
        "Signs are kept, mean and sd come from the training runs.",
        "A 1-nearest neighbour names 39 % of 23 programs as published and 72 % here (optimistic: the order counts).",
        "CWD, measured on hardware counters of one machine",
    ),
    Definition(
        "Unknown workloads",
        "Mean ± 1 sd of the distances: a run that is too close is unknown, too.",
        "Mean + c sd, one-sided.",
        "For normal distances, ± 1 sd rejects 16 % of the true runs on the far side alone.",
        "CWD, section V; arithmetic",
    ),
)


def definition_table() -> pd.DataFrame:
    """Return one line per definition."""
    lines = [(one.topic, one.published, one.ours, one.numbers, one.source) for one in DEFINITIONS]
    return pd.DataFrame(lines, columns=["what", "as published", "corrected", "the difference", "source"])


MEASURED = {
    "benchmarks": "Benchmark runs: JSON lines, one run each, as `workprof nodes suite` writes them",
    "telemetry": "Counters by the second: CSV with workload, run, t, as `workprof record` writes them",
    "configurations": "Measured configurations: CSV with machine, count, runtime, and cost or price_per_h",
    "scout": "Measured configurations: Scout's folders, a report.json and sar_node1.csv, ... for each run",
    "perfspect": "PerfSpect metrics (CSV, JSON, wide or plain text) and telemetry tables (JSON)",
    "perf-stat": "perf stat -I MILLISECONDS, with -x, or -j",
    "sadf": "sadf -d of sysstat",
    "prometheus": "Prometheus range query, JSON",
    "psrecord": "psrecord log",
    "wide": "Any CSV with one column per counter, and a mapping of time, run and workload",
}
"""Formats of measurements are read by code, not declared; these words name them."""


class Rule(Protocol):
    """A declared rule; `workprof.formats.declare.Rule` is one."""

    @property
    def field(self) -> str:
        """Of the job table."""

    @property
    def source(self) -> str:
        """Column of the file."""

    @property
    def unit(self) -> str:
        """Of the file."""


class Format(Protocol):
    """A declared format; `workprof.formats.declare.Format` is one."""

    @property
    def name(self) -> str:
        """As the command spells it."""

    @property
    def title(self) -> str:
        """For people."""

    @property
    def required(self) -> tuple[str, ...]:
        """Columns."""

    @property
    def finished(self) -> tuple[str, ...]:
        """Statuses."""


class Field(Protocol):
    """A field of a job table; `workprof.formats.fields.Field` is one."""

    @property
    def name(self) -> str:
        """Of the field."""

    @property
    def unit(self) -> str:
        """That it is kept in."""


def format_table(formats: Iterable[Format], more: Mapping[str, str]) -> pd.DataFrame:
    """Return one line per format, and per name of those that are read by code."""
    lines = [(one.name, one.title, ", ".join(one.required), ", ".join(one.finished)) for one in formats]
    lines += [(name, words, "", "") for name, words in more.items()]
    return pd.DataFrame(lines, columns=["format", "what it is", "columns it must have", "finished means"])


def rule_table(rules: Sequence[Rule]) -> pd.DataFrame:
    """Return which field each column of a format becomes, and the unit that it is read in."""
    lines = [(rule.source, rule.field, rule.unit or "as it is") for rule in rules]
    return pd.DataFrame(lines, columns=["column", "becomes", "read in"])


def field_table(fields: Iterable[Field], descriptions: Mapping[str, str]) -> pd.DataFrame:
    """Return the fields of a job table with unit and meaning."""
    lines = [(field.name, field.unit or "none", descriptions.get(field.name, "")) for field in fields]
    return pd.DataFrame(lines, columns=["field", "unit", "meaning"])


LIMITS = (
    "Dashboard, service and commands share a home folder: they read at the same time, and one writes at a time.",
    "The dashboard listens on 127.0.0.1 only. Nothing leaves the machine, and nothing that is uploaded is executed or "
    "unpickled.",
    "Databases are written by DuckDB 2 and cannot be read by DuckDB 1.",
    f"Silhouettes are exact up to {EXACT_SILHOUETTE_ROWS:,} runs and in the mode 'as published', "
    "otherwise sampled with "
    "a standard error; a setting makes them exact.",
    f"OPTICS uses at most {OPTICS_ROWS:,} runs, {OPTICS_SWEEP_ROWS:,} in a sweep, and shows the size of the sample.",
    f"A task with fewer than {FEWEST_RUNS} runs is marked. A row keeps its request until {FEWEST_KNOWN} runs ended.",
    f"One to {MOST_BINS} bins per task; up to {MOST_COMPARED} scenarios side by side.",
    "Tables show their first 1,000 rows; the downloaded CSV has all.",
    "Profiles show which runs behave alike, not why. A saving is what past runs would have saved; other inputs may "
    "save less.",
    "Costs are shown only for prices that you enter: workprof has no price list.",
)

KEYS = (
    ("Tab, Shift + Tab", "next and previous control"),
    ("Enter, Space", "press a button, expand a section, tick a box"),
    ("Arrows", "move a slider, choose in an open list, go through the tabs or the cells of a table"),
    ("Letters", "search in an open list"),
    ("Esc", "close a list, a dialog or a full-screen table"),
    ("Ctrl + F or Cmd + F", "search in the table that has the focus"),
    ("Ctrl + P or Cmd + P", "print the page, or save it as PDF"),
)


class Diagnostics(Protocol):
    """Versions and sizes; `workprof.workbench.diagnostics.Diagnostics` is one."""

    @property
    def versions(self) -> Mapping[str, str]:
        """Of workprof, Python and libraries."""

    @property
    def platform(self) -> str:
        """Kernel and processor kind."""

    @property
    def processors(self) -> int:
        """That this process may use."""

    @property
    def home_bytes(self) -> int:
        """On disk."""

    @property
    def memory_limit_bytes(self) -> int:
        """Of database and cache."""

    @property
    def datasets(self) -> Mapping[str, int]:
        """Kind -> how many."""

    @property
    def stored_runs(self) -> int:
        """How many."""

    @property
    def readonly(self) -> bool:
        """Whether changes are refused."""


def diagnostics_text(result: Diagnostics) -> str:
    """Return the diagnostics as lines to be copied."""
    datasets = ", ".join(f"{count} {kind}" for kind, count in result.datasets.items()) or "none"
    values = {
        **result.versions,
        "platform": result.platform,
        "processors": str(result.processors),
        "home folder": format_bytes(result.home_bytes),
        "memory limit": format_bytes(result.memory_limit_bytes),
        "datasets": datasets,
        "saved results": str(result.stored_runs),
        "read-only": "yes" if result.readonly else "no",
    }
    widest = max(len(name) for name in values)
    return "\n".join(f"{name.ljust(widest)}  {value}" for name, value in values.items())
