"""Terms of jobs, profiles and forecasts."""

from __future__ import annotations

from workprof.charts.help.term import Term
from workprof.profiles.settings import DEFAULT_SHARE, EXACT_SILHOUETTE_ROWS, SMALLEST_DEFAULT_SIZE
from workprof.profiles.settings import PUBLISHED_TARGET_CLUSTERS as TARGET

_SIZE = f"0 = {DEFAULT_SHARE:.1%} of the rows, at least {SMALLEST_DEFAULT_SIZE}"

JOB_TERMS = (
    Term("job", "What a user submits. It holds tasks, and a task holds instances.", "Jobs"),
    Term("task", "One role or step of a job, such as worker or ps, or one process of a workflow.", "Jobs"),
    Term("instance", "One running copy of a task. Requests of the PAI trace are per instance.", "Jobs"),
    Term("requested", "What was asked for before the run; it is held from start to end, used or not.", "Jobs"),
    Term("peak usage", "The largest use at any time of the run. It decides whether a memory limit is enough.", "Jobs"),
    Term("mean usage", "The use averaged over the run.", "Jobs"),
    Term("submit-time metadata", "What is known when a job is submitted: names, user, group, workload, plan.", "Jobs"),
    Term("dataset hash", "A digest of a dataset's content and reading: the same content has the same hash.", "Jobs"),
)

PROFILE_TERMS = (
    Term("cluster", "Rows that lie close together in the scaled features. Its number has no meaning.", "Profiles"),
    Term("profile", "A cluster with its summary: what its jobs use, how long they run, whose they are.", "Profiles"),
    Term("outlier", "A row in no dense region; it has the label -1 and is in no profile.", "Profiles"),
    Term("membership", "How firmly a row belongs to its profile, 0 to 1, from the densities around it.", "Profiles"),
    Term("min_cluster_size", f"The smallest group that counts as a profile, in rows; {_SIZE}.", "Profiles"),
    Term("min_samples", "Neighbours that make a point's density; more of them make more outliers.", "Profiles"),
    Term("eom", "Excess of mass: the branches of the tree that last longest become profiles.", "Profiles"),
    Term("leaf", "The tips of the tree become profiles: more of them, and smaller ones.", "Profiles"),
    Term("epsilon", "Profiles closer than this distance, in scaled units, are merged.", "Profiles"),
    Term("power transform", "Yeo-Johnson: makes skewed features roughly normal, then standardises them.", "Profiles"),
    Term(
        "silhouette",
        "How much nearer a row is to its own profile than to the next one, -1 to 1. Without the outliers unless it is "
        f"called 'as published'; exact up to {EXACT_SILHOUETTE_ROWS:,} rows, then sampled with its standard error.",
        "Profiles",
    ),
    Term("Davies-Bouldin", "Spread of the profiles over their distances; lower is better.", "Profiles"),
    Term("DBCV", "Validity by density, -1 to 1; it compares clusterings of one dataset only.", "Profiles"),
    Term(
        "ACQUIRES",
        "Mean of three terms: silhouette as published, nearness of the number of profiles to the target "
        f"({TARGET} in the paper), and share of rows that are no outliers.",
        "Profiles",
    ),
    Term("scores_v3", "0.4 silhouette + 0.1 number of profiles + 0.5 rows in profiles; published.", "Profiles"),
    Term("CCPM", "Silhouette + 1 / Davies-Bouldin; published.", "Profiles"),
    Term("Hopkins", "Is there anything to cluster? Near 0 = clusters, 0.5 = uniform, as the paper has it.", "Profiles"),
    Term("stability", "Mean Jaccard overlap of a profile with itself when rows are left out, 0 to 1.", "Profiles"),
    Term("adjusted Rand", "Agreement of two groupings: 1 = the same groups, 0 = what chance gives.", "Profiles"),
    Term("purity", "Share of a profile's rows in its most frequent workload and task.", "Profiles"),
    Term("re-cut", "Another size, method or epsilon on the kept tree: no new fit is needed.", "Profiles"),
)

FORECAST_TERMS = (
    Term(
        "abstain", "No profile is named: too improbable, nothing of the job was seen before, or too few.", "Forecasts"
    ),
    Term("calibrated", "Of the answers given with 70 % probability, 70 % are right.", "Forecasts"),
    Term(
        "SHAP value",
        "What a field adds to the score of a profile for one job; all of them and the base value add up to the score.",
        "Forecasts",
    ),
    Term("base value", "The score before any field of the job is looked at.", "Forecasts"),
    Term(
        "macro F1",
        "F1 averaged over profiles, small and large alike; it shows profiles that are never hit.",
        "Forecasts",
    ),
    Term("random split", "Rows are drawn for the test one by one; rows of one job stand on both sides.", "Forecasts"),
    Term("by-job split", "No job has rows on both sides: how good it is for new jobs.", "Forecasts"),
    Term("by-group split", "No group has rows on both sides: how good it is for kinds never seen.", "Forecasts"),
    Term("by-time split", "Trained on earlier jobs, tested on later ones: the last 30 % of the time.", "Forecasts"),
    Term("interval", "A range that holds the true value as often as promised, 90 % unless set otherwise.", "Forecasts"),
    Term("coverage", "How often intervals really held the truth, on rows that training never saw.", "Forecasts"),
    Term("ECDF", "Share of jobs at or below a value; it ends at 1.", "Forecasts"),
    Term("quantile", "The value that a given share of jobs does not exceed; the median is that of 50 %.", "Forecasts"),
    Term(
        "ratio error", "|predicted - true| / true; 1 = off by the whole true value. It is no percentage.", "Forecasts"
    ),
    Term("factor error", "max(predicted / true, true / predicted); 2 = twice or half as much.", "Forecasts"),
    Term("drift", "Finished jobs differ from those that were learned, by more than chance and by enough.", "Forecasts"),
)
