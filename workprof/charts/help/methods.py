"""What each part of workprof computes, by whose method, and where ours differs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Method:
    """A method.

    Attributes:
        name: what it is about.
        pages: where it is used.
        what: what is computed.
        ours: where ours differs from the published method.
        sources: what to read.
    """

    name: str
    pages: str
    what: str
    ours: str
    sources: tuple[str, ...]


EXTENDED = (
    "Formal and Empirical Study of Metadata-Based Profiling for Resource Management in the Computing Continuum, arXiv "
    "2504.20740 (2025)"
)

METHODS = (
    Method(
        "Profiles of jobs",
        "Profiles, Sweep",
        "Jobs are scaled, clustered by density (HDBSCAN, or OPTICS), and each cluster is summed up by what its jobs "
        "use and whose they are. A sweep runs 4 transforms, 7 sizes and 2 distances: 56 runs an algorithm (Table III).",
        "The sensors alone make the clusters, missing values stay missing, and the target number of profiles is a "
        "setting. The spanning tree is kept, so that another cut needs no new fit.",
        (
            "PolarisProfiler, SOSE 2023",
            EXTENDED,
            "Campello, Moulavi and Sander, Density-Based Clustering Based on Hierarchical Density Estimates, PAKDD "
            "2013 (HDBSCAN)",
            "Moulavi et al., Density-Based Clustering Validation, SDM 2014 (DBCV)",
        ),
    ),
    Method(
        "Is there anything to cluster?",
        "Profiles, last tab",
        "Hopkins statistic, silhouettes of metadata labels taken as clusters (Table II), and how well each profile "
        "comes back when rows are left out.",
        "Hopkins is near 0 for clusters, as the paper has it; many programs print 1 - H. The study of stability is not "
        "in the paper.",
        (
            "PolarisProfiler, SOSE 2023",
            "Hennig, Cluster-wise assessment of cluster stability, Computational Statistics and Data Analysis 52 "
            "(2007)",
        ),
    ),
    Method(
        "Classification and forecasts",
        "Classify, Durations",
        "Boosted trees tell a job's profile from what is known at submission; estimators tell duration, memory and use "
        "with intervals. SHAP values say why, summed per field.",
        "Encoders see training rows only, probabilities are calibrated, it may abstain, and every score stands under "
        "four splits. Intervals are set on held-out jobs, so that they cover as promised.",
        (
            "PolarisProfiler, SOSE 2023, its Table V and Figs. 4 and 5",
            "Lundberg and Lee, A Unified Approach to Interpreting Model Predictions, NIPS 2017 (SHAP)",
        ),
    ),
    Method(
        "Feedback",
        "Classify, last tab",
        "Finished jobs are filed, errors and distributions are tested for drift, and another clustering is advised.",
        "Jobs are filed under the nearest profile, not the predicted one; a window and a half-life forget old jobs; "
        "all tests of a check share one false-alarm rate.",
        (EXTENDED,),
    ),
    Method(
        "Memory sizes",
        "Memory",
        "Utilisation, bins of sizes, models of a run's bin, and policies replayed run by run with retries.",
        "The best edges are found exactly, the top edge is free, and everything is ranked by the replay; the published "
        "estimate stands beside it.",
        (
            "A thesis on load-aware provisioning, its Tables 5 to 13",
            "Bader et al., Sizey: Memory-Efficient Execution of Scientific Workflow Tasks, arXiv 2407.16353 (2024)",
            "Tovar et al., A Job Sizing Strategy for High-Throughput Scientific Workflows, IEEE Transactions on "
            "Parallel and Distributed Systems 29 (2018)",
            "Witt et al., Learning Low-Wastage Memory Allocations for Scientific Workflows at IceCube, 2019",
        ),
    ),
    Method(
        "Nodes",
        "Nodes",
        "Six benchmark tools make a fingerprint of every node: ranking by resource, groups, degraded runs, and "
        "runtimes carried over to other machines.",
        "Scores keep ratios and have intervals; which way a metric points is declared; runs are judged against earlier "
        "ones only.",
        (
            "Scheinert et al., Perona: Robust Infrastructure Fingerprinting for Resource-Efficient Big Data Analytics, "
            "arXiv 2211.08227 (2022)",
            "Bader et al., Lotaru: Locally Estimating Runtimes of Scientific Workflow Tasks in Heterogeneous Clusters, "
            "SSDBM 2022",
            "Bader et al., Tarema: Adaptive Resource Allocation for Scalable Scientific Workflows in Heterogeneous "
            "Clusters, IEEE BigData 2021",
        ),
    ),
    Method(
        "Phases",
        "Phases",
        "Counters by the second are cut into phases (Bayesian change points), summed up as a fingerprint, and compared "
        "with those of known workloads: the same, or unknown.",
        "Signs are kept, levels come from the training runs, and only distances that are too large reject a workload.",
        (
            "Hossain et al., CWD: A Machine Learning based Approach to Detect Unknown Cloud Workloads, arXiv "
            "2211.15739 (2022)",
            "Adams and MacKay, Bayesian Online Changepoint Detection, arXiv 0710.3742 (2007)",
            "Fearnhead, Exact and Efficient Bayesian Inference for Multiple Changepoint Problems, Statistics and "
            "Computing 16 (2006)",
        ),
    ),
)
