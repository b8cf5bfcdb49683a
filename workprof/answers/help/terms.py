"""The glossary: every term once, what else it is called on labels and columns, and its meaning beside a control."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from workprof.core.errors import SettingsError
from workprof.core.words import column_words
from workprof.memory.bin_models import PENALTY
from workprof.memory.policies import DEFAULT
from workprof.profiles.settings import (
    DEFAULT_SHARE,
    EXACT_SILHOUETTE_ROWS,
    PUBLISHED_TARGET_CLUSTERS as TARGET,
    SMALLEST_DEFAULT_SIZE,
)


@dataclass(frozen=True)
class Term:
    """A term, what it means here, and the room that it belongs to."""

    name: str
    meaning: str
    room: str


_SIZE = f"0 = {DEFAULT_SHARE * 100:g} % of the runs, at least {SMALLEST_DEFAULT_SIZE}"

JOB_TERMS = (
    Term("job", "What a user submits. It has tasks, and a task has runs.", "Jobs"),
    Term("task", "One role or step of a job, such as worker or ps, or one process of a workflow.", "Jobs"),
    Term("instance", "One running copy of a task: a run. Requests of the PAI trace are per instance.", "Jobs"),
    Term("requested", "What was booked before the run; it is held from start to end, used or not.", "Jobs"),
    Term("peak usage", "The largest use at any time of the run. A memory limit below it kills the run.", "Jobs"),
    Term("mean usage", "The use averaged over the run.", "Jobs"),
    Term("submit-time metadata", "What is known when a job is submitted: names, user, group, workload, plan.", "Jobs"),
    Term("dataset hash", "A digest of a dataset's content: the same content has the same hash.", "Jobs"),
)

PROFILE_TERMS = (
    Term("cluster", "Runs that lie close together in the scaled features. Its number has no meaning.", "Profiles"),
    Term(
        "profile",
        "A group of runs that behave alike: a cluster with its summary of use, duration and users.",
        "Profiles",
    ),
    Term("outlier", "A run in no dense region: it is in no profile (Unclustered; -1 in files).", "Profiles"),
    Term("membership", "How firmly a run belongs to its profile, 0 to 1, from the densities around it.", "Profiles"),
    Term(
        "min_cluster_size",
        f"Minimum profile size: the smallest group that counts as a profile, in runs; {_SIZE}.",
        "Profiles",
    ),
    Term("min_samples", "Neighbours that make a point's density; more of them make more outliers.", "Profiles"),
    Term("eom", "Excess of mass: the branches of the tree that last longest become profiles.", "Profiles"),
    Term("leaf", "The tips of the tree become profiles: more of them, and smaller ones.", "Profiles"),
    Term("epsilon", "Profiles closer than this distance, in scaled units, are merged.", "Profiles"),
    Term("power transform", "Yeo-Johnson: makes skewed features roughly normal, then standardises them.", "Profiles"),
    Term(
        "silhouette",
        "Separation on the pages. How much nearer a run is to its own profile than to the next one, -1 to 1. "
        "Without the outliers unless it is "
        f"called 'paper': then they are one cluster, and the mean is "
        f"over the other runs; exact up to {EXACT_SILHOUETTE_ROWS:,} runs, then sampled with its standard error.",
        "Profiles",
    ),
    Term(
        "Davies-Bouldin",
        "Overlap on the pages: spread of the profiles over their distances; lower is better.",
        "Profiles",
    ),
    Term("DBCV", "Density-based validity index, -1 to 1: how dense profiles are and how well parted.", "Profiles"),
    Term(
        "Relative validity",
        "Density contrast on the pages: a quick stand-in for DBCV; it compares clusterings of one dataset only.",
        "Sweep",
    ),
    Term(
        "ACQUIRES",
        "Overall score on the pages: mean of three terms: silhouette as published, nearness of the number of "
        "profiles to the target "
        f"({TARGET} in the paper), and share of runs that are in a profile.",
        "Profiles",
    ),
    Term(
        "scores_v3", "0.4 silhouette + 0.1 number of profiles + 0.5 share of runs in profiles; published.", "Profiles"
    ),
    Term("CCPM", "Silhouette + 1 / Davies-Bouldin; published.", "Profiles"),
    Term("Hopkins", "Cluster tendency: near 0 = clusters, 0.5 = uniform, as the paper defines it.", "Profiles"),
    Term(
        "stability",
        "Mean Jaccard overlap of a profile with itself when runs are left out at random, 0 to 1.",
        "Profiles",
    ),
    Term(
        "outlier score",
        "GLOSH of hdbscan: 0 = as dense as the cluster that a run is nearest to, 1 = far outside of it.",
        "Profiles",
    ),
    Term("soft membership", "How strongly a run belongs to each profile, 0 to 1 (hdbscan).", "Profiles"),
    Term("exemplar", "A run in the densest part of its profile, as hdbscan names it: a typical one.", "Profiles"),
    Term("adjusted Rand", "Agreement of two groupings: 1 = the same groups, 0 = what chance gives.", "Profiles"),
    Term("purity", "Share of a profile's runs with its most frequent workload and task.", "Profiles"),
    Term("re-cut", "Another minimum size, method or epsilon on the same tree, without a new fit.", "Profiles"),
)

FORECAST_TERMS = (
    Term(
        "abstain",
        "No profile is predicted: the probability is too low, or the job is unlike any in the training data.",
        "Forecasts",
    ),
    Term("calibrated", "Of the predictions with 70 % probability, 70 % are right.", "Forecasts"),
    Term(
        "SHAP value",
        "What a field adds to the log-odds of a profile for one job; with the base value they add up to its odds.",
        "Forecasts",
    ),
    Term("base value", "The log-odds before any field of the job is known.", "Forecasts"),
    Term(
        "macro F1",
        "F1 averaged over profiles, small and large alike; it shows profiles that are never predicted.",
        "Forecasts",
    ),
    Term(
        "random split",
        "Runs are drawn for the test one by one; runs of one job are in training and test, which overstates accuracy.",
        "Forecasts",
    ),
    Term("by-job split", "No job is in both training and test: the accuracy for new jobs.", "Forecasts"),
    Term("by-group split", "No group is in both training and test: the accuracy for new workloads.", "Forecasts"),
    Term("by-time split", "Trained on earlier jobs, tested on later ones: the last 30 % of the runs.", "Forecasts"),
    Term("interval", "A range that contains the true value in a given share of cases, 90 % by default.", "Forecasts"),
    Term("coverage", "How often intervals contained the true value, on runs outside the training data.", "Forecasts"),
    Term("ECDF", "Share of jobs at or below a value; it ends at 1.", "Forecasts"),
    Term("quantile", "The value that a given share of jobs does not exceed; the median is that of 50 %.", "Forecasts"),
    Term("ratio error", "|predicted - true| / true; 1 = the prediction misses by the whole true value.", "Forecasts"),
    Term("factor error", "max(predicted / true, true / predicted); 2 = twice or half as much.", "Forecasts"),
    Term(
        "drift",
        "Finished jobs differ from the training data by more than chance, and by enough to matter.",
        "Forecasts",
    ),
)


MEMORY_TERMS = (
    Term(
        "GB and GiB",
        "1 GB is 1e9 bytes; all memory is shown in it. 1 GiB is 1024 to the power of 3 bytes: 7.4 % more.",
        "Memory",
    ),
    Term("GB·h", "Memory times time: 1 GB held for an hour.", "Memory"),
    Term("allocation", "The memory that a run is given.", "Memory"),
    Term("wastage", "Allocated and not used, over time; failed attempts count in full. In GB·h.", "Memory"),
    Term(
        "requests enforced", "A run above its request is killed and runs again with more; today it may live.", "Memory"
    ),
    Term("over-allocation", "More memory than the run uses: it wastes.", "Memory"),
    Term("under-allocation", "Less than the run uses: it is killed and retried with more.", "Memory"),
    Term("headroom", "Share of its use that a run keeps free above it.", "Memory"),
    Term("utilisation", "Memory used over memory requested; by time, both are weighted with the run time.", "Memory"),
    Term("bin", "One of a few allocations for the runs of a task; each run gets the smallest that fits.", "Memory"),
    Term(
        "largest bin",
        "The largest allocation: fixed at the largest request (as published), or what the largest run needs.",
        "Memory",
    ),
    Term("optimal improvement", "Upper bound of the saving: every run is placed in its right bin.", "Memory"),
    Term("estimated improvement", "Published: optimal improvement x accuracy - share of under-estimates.", "Memory"),
    Term("by count", "Every run counts as one; by time, a run of two hours counts as two.", "Memory"),
    Term("retry probability", "How likely a run is killed for memory at its first attempt and retried.", "Memory"),
    Term("replayed", "Simulated run by run, with failed attempts included. Policies are ranked by it.", "Memory"),
    Term("u-rate", "Share of runs predicted below their bin; their first attempt fails.", "Memory"),
    Term("u-score", f"100 x (over-estimates + {PENALTY:g} x under-estimates) / runs; 0 is perfect.", "Memory"),
    Term("time to failure", "Share of its run time after which an attempt that is too small dies.", "Memory"),
    Term("cold run", "One of the first runs of a task, which starts at its request.", "Memory"),
    Term("frontier", "The least waste that is possible for each number of failures.", "Memory"),
    Term(
        "cost per failure",
        f"What a failure costs beyond the memory it held, in mean runs; {DEFAULT.price_runs:g} by default.",
        "Memory",
    ),
    Term("oracle", "Knows the true use in advance: an upper bound, not a policy.", "Memory"),
    Term(
        "node cap",
        "The memory of the largest node: no size is above it, and runs that use more can never run.",
        "Memory",
    ),
    Term(
        "burst", "A task on a day on which it requested over 5 % of all GB·h, and over three times its usual.", "Memory"
    ),
    Term(
        "memory needed at once",
        "The most that all runs together hold at one moment.",
        "Memory",
    ),
)

NODE_TERMS = (
    Term("benchmark run", "One run of one tool on one node, saved with its raw output.", "Nodes"),
    Term(
        "benchmark type", "Which tool on which resource: sysbench cpu and memory, fio, ioping, iperf3, qperf.", "Nodes"
    ),
    Term("node", "A machine, physical or virtual, with a name of its own.", "Nodes"),
    Term("resource aspect", "cpu, memory, disk or network.", "Nodes"),
    Term(
        "embedding", "The few numbers into which the network encodes a run; similar runs have similar numbers.", "Nodes"
    ),
    Term(
        "degradation",
        "A run that is much slower or less regular than the node's earlier ones, with a probability.",
        "Nodes",
    ),
    Term("ranking", "Nodes by score, 1 = best; nodes whose intervals overlap are ties.", "Nodes"),
    Term("ratio score", "A node that is twice as fast has twice the score.", "Nodes"),
)

PHASE_TERMS = (
    Term("counter", "A metric of the machine, read every second, such as context switches per second.", "Phases"),
    Term("change point", "The first sample of a new phase.", "Phases"),
    Term("phase", "A stretch of a run in which a counter keeps its level and spread.", "Phases"),
    Term("hazard", "How often changes are expected: 1 over the expected length of a phase.", "Phases"),
    Term("fingerprint", "The statistics of a run by counter and phase; missing phases are empty.", "Phases"),
    Term("DTW", "Dynamic time warping: distance of two sequences that may be stretched against each other.", "Phases"),
    Term("offset", "Where in the longer run the shorter one fits best, in phases.", "Phases"),
    Term(
        "known workload", "The run is as close to a workload as that workload's own runs are to each other.", "Phases"
    ),
    Term(
        "unknown workload",
        "The run is farther from every known workload than mean + c sd of its own distances.",
        "Phases",
    ),
)

PRODUCT_TERMS = (
    Term(
        "as published",
        "The published definition, errors included; marked wherever it is shown (`faithful` in commands).",
        "workprof",
    ),
    Term(
        "default",
        "What the published definition meant, with its errors corrected (`corrected` in commands).",
        "workprof",
    ),
    Term(
        "run",
        "One run of a task; on the Runs page one saved result with its dataset, settings and versions.",
        "workprof",
    ),
    Term("pinned", "A saved result that is not removed when space is needed.", "workprof"),
    Term("seed", "The number that makes random draws repeatable.", "workprof"),
    Term("home", "The folder of database and results, WORKPROF_HOME; one process uses it at a time.", "workprof"),
    Term("scenario", "A plan of the Memory page saved under a name, to be compared.", "workprof"),
    Term("read-only", "WORKPROF_READONLY=1: everything can be viewed, nothing changed.", "workprof"),
)


__all__ = ["TERMS", "Term", "matching_terms", "meaning_of", "term_table"]

TERMS = (*JOB_TERMS, *PROFILE_TERMS, *FORECAST_TERMS, *MEMORY_TERMS, *NODE_TERMS, *PHASE_TERMS, *PRODUCT_TERMS)
_BY_NAME = {term.name.lower(): term for term in TERMS}


def meaning_of(name: str) -> str:
    """Return what a term means, whatever its case.

    Raises SettingsError for a term that the glossary lacks: a page must not promise help that is not there.
    """
    term = _BY_NAME.get(name.lower())
    if term is None:
        raise SettingsError(f"the glossary has no term {name!r}; add it to workprof.answers.help")
    return term.meaning


def matching_terms(text: str) -> tuple[Term, ...]:
    """Return the terms that hold every word of a text, those with it in the name first; all of them for no word."""
    words = text.lower().split()
    result = [
        term for term in TERMS if all(word in f"{term.name} {term.meaning} {term.room}".lower() for word in words)
    ]
    return tuple(sorted(result, key=lambda term: not all(word in term.name.lower() for word in words)))


def term_table(terms: Sequence[Term]) -> pd.DataFrame:
    """Return one line per term."""
    lines = [(term.name, term.meaning, term.room) for term in terms]
    return pd.DataFrame(lines, columns=["term", "meaning", "of"])


_SPOKEN = {
    "adjusted Rand": ("truth (ari)", "agreement with ground truth", "truth_adjusted_rand"),
    "Davies-Bouldin": ("davies–bouldin", "davies_bouldin"),
    "benchmark type": ("benchmark",),
    "bin": ("edge_gb", "bins"),
    "change point": ("change_points_s",),
    "coverage": ("interval covers",),
    "dataset hash": ("hash",),
    "degradation": ("degraded", "flagged"),
    "factor error": ("within a factor 2", "median factor"),
    "interval": ("interval width", "low", "high", "retry_low", "retry_high", "failed_low", "failed_high"),
    "known workload": ("known rejected",),
    "min_cluster_size": ("smallest profile", "minimum profile size", "minimum profile size (runs)"),
    "min_samples": ("minimum samples",),
    "optimal improvement": ("saving, upper bound", "upper bound", "optimal_percent"),
    "estimated improvement": ("estimated", "estimated_percent"),
    "outlier": (
        "outliers",
        "in no profile",
        "far from every profile",
        "into the outliers",
        "unclustered",
        "unclustered runs",
        "in a profile",
        "to outliers",
        "n_outliers",
        "outlier_share",
        "clustered",
    ),
    "peak usage": ("peak memory", "max_gb", "largest_gb", "peak_memory_bytes"),
    "phase": ("phases so far", "phases"),
    "cost per failure": (
        "price of a failure",
        "price of a failure (gb·h)",
        "cost per failure (gb·h)",
        "cost per kill (gb·h)",
    ),
    "profile": ("profiles", "profiles found", "n_clusters"),
    "purity": ("job_purity",),
    "quantile": ("p5", "p25", "p50", "p75", "p90", "p95", "p99", "p50_gb", "p95_gb", "median"),
    "ranking": ("rank", "best node"),
    "ratio error": ("median error", "median relative error", "median ratio error"),
    "ratio score": ("best / worst",),
    "replayed": ("replayed_percent",),
    "requested": (
        "request now",
        "current request",
        "requested_gb",
        "requested_gb_h",
        "memory asked",
        "requested_memory_bytes",
    ),
    "resource aspect": ("aspect",),
    "silhouette": (
        "silhouette (without outliers)",
        "silhouette (paper)",
        "avg_silhouette",
        "silhouette_clustered",
    ),
    "stability": ("stable profiles", "jaccard"),
    "u-score": ("u_score",),
    "under-allocation": (
        "failed attempts",
        "failures",
        "over request",
        "above request",
        "runs above request",
        "over_request",
    ),
    "unknown workload": ("unknown rejected", "with rejections"),
    "utilisation": (
        "memory utilisation",
        "memory used",
        "cpu used",
        "used_percent",
        "used_by_time_percent",
        "cpu_used_percent",
    ),
    "wastage": ("wasted", "wasted now", "wasted today", "wasted_gb_h"),
    "headroom": ("headroom (%)", "margin"),
    "hazard": ("hazard_samples", "hazard (samples)"),
    "time to failure": ("time to failure (%)",),
    "counter": ("counters", "counters shown"),
}
"""Term -> what else it is called on labels and in columns; written in small letters."""

_OTHER_THINGS = ("run", "home", "leaf", "default")
"""Terms whose words mean something else on labels and in columns."""

_MEANINGS = {term.name.lower(): term.meaning for term in TERMS if term.name not in _OTHER_THINGS}
_MEANINGS |= {spoken: _MEANINGS[name.lower()] for name, others in _SPOKEN.items() for spoken in others}


def glossary_of(label: str) -> str:
    """Return the glossary's meaning of a label, a column or a control; '' where it is no term."""
    return _MEANINGS.get(label.strip().lower(), "")


_WORD = re.compile(r"[a-z]{2,}(?![\w.])")
"""A symbol as 'p95' or 'k', or a counter's name, begins as it is written."""


def heading(name: str) -> str:
    """Return the words above a column: 'Duration p95 (s)' of duration_p95_s. Every heading begins with a capital."""
    words = column_words(name)
    return f"{words[0].upper()}{words[1:]}" if _WORD.match(words) else words


def explained(label: str, meaning: str = "") -> str:
    """Return what a figure means where it stands, and then what the glossary says of its name."""
    result = glossary_of(label)
    if not result or result in meaning:
        return meaning
    return f"{meaning} {result}".strip()
