"""The glossary in reach: what a label, a column or a control is called there, and its help with that meaning."""

from __future__ import annotations

from workprof.charts.help.glossary import TERMS

_SPOKEN = {
    "adjusted Rand": ("truth (ari)", "truth_adjusted_rand"),
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
    "min_cluster_size": ("smallest profile (rows, 0 = auto)",),
    "min_samples": ("min_samples (0 = same)",),
    "optimal improvement": ("saved at best", "at best", "optimal_percent"),
    "estimated improvement": ("estimated", "estimated_percent"),
    "outlier": ("outliers", "in no profile", "into the outliers", "n_outliers", "outlier_share", "clustered"),
    "peak usage": ("peak memory", "max_gb", "largest_gb", "peak_memory_bytes"),
    "phase": ("phases so far", "phases"),
    "price of a failure": ("price of a failure (gb·h)",),
    "profile": ("profiles", "profiles found", "n_clusters"),
    "purity": ("job_purity",),
    "quantile": ("p5", "p25", "p50", "p75", "p90", "p95", "p99", "p50_gb", "p95_gb", "median"),
    "ranking": ("rank", "best node"),
    "ratio error": ("median error", "median ratio error"),
    "ratio score": ("best / worst",),
    "replayed": ("replayed_percent",),
    "requested": ("request now", "requested_gb", "requested_gb_h", "memory asked", "requested_memory_bytes"),
    "resource aspect": ("aspect",),
    "silhouette": ("avg_silhouette", "silhouette_clustered"),
    "stability": ("stable profiles", "jaccard"),
    "u-score": ("u_score",),
    "under-allocation": ("failed attempts", "failures", "over request", "over_request"),
    "unknown workload": ("unknown rejected", "with rejections"),
    "utilisation": ("memory used", "cpu used", "used_percent", "used_by_time_percent", "cpu_used_percent"),
    "wastage": ("wasted", "wasted now", "wasted_gb_h"),
    "headroom": ("headroom (%)", "margin"),
    "hazard": ("hazard_samples", "hazard (samples)"),
    "time to failure": ("time to failure (%)",),
    "counter": ("counters", "counters shown"),
}
"""Term -> what else it is called on labels and in columns; written in small letters."""

_OTHER_THINGS = ("run", "home", "leaf")
"""Terms whose words mean something else on labels: a run of a job, the page."""

_MEANINGS = {term.name.lower(): term.meaning for term in TERMS if term.name not in _OTHER_THINGS}
_MEANINGS |= {spoken: _MEANINGS[name.lower()] for name, others in _SPOKEN.items() for spoken in others}


def glossary_of(label: str) -> str:
    """Return the glossary's meaning of a label, a column or a control; '' where it is no term."""
    return _MEANINGS.get(label.strip().lower(), "")


def explained(label: str, meaning: str = "") -> str:
    """Return what a figure means where it stands, and then what the glossary says of its name."""
    found = glossary_of(label)
    if not found or found in meaning:
        return meaning
    return f"{meaning} {found}".strip()
