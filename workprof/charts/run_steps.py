"""What each step finds, in the words of a reader who does not know its name."""

from __future__ import annotations

STEPS = {
    "profiles.fit": "profiles",
    "profiles.tree": "spanning tree that profiles are cut from",
    "profiles.hopkins": "Hopkins statistic",
    "profiles.baseline": "metadata labels taken as clusters",
    "profiles.stability": "stability of profiles",
    "profiles.sweep_group": "part of a sweep",
    "profiles.durations": "observed durations",
    "profiles.forecaster": "trained classifier and estimators",
    "profiles.classifier_evaluation": "test of the classifier",
    "profiles.estimate_evaluation": "test of the predictors",
    "profiles.explain_all": "what the classifier looks at",
    "profiles.feedback_model": "what finished jobs are compared with",
    "profiles.feedback_refit": "profiles found again with finished jobs",
    "memory.assess": "what tasks ask for and use",
    "memory.fact": "a fact beside memory",
    "memory.bins": "bins of a task",
    "memory.improvement": "saving by number of bins",
    "memory.profile_bins": "bins of a profile",
    "memory.profile_improvement": "saving of a profile by number of bins",
    "memory.train": "models of a run's bin",
    "memory.tables": "published tables of the models",
    "memory.replay": "replay of the policies",
    "memory.why": "reason for a size",
    "memory.plan": "plan of sizes",
    "memory.violations": "runs that a plan would break",
    "memory.rollup": "roll-up of a plan",
    "nodes.rank": "ranking of nodes",
    "nodes.groups": "groups of nodes",
    "nodes.detect": "degraded runs of benchmarks",
    "nodes.advice": "nodes for a profile",
    "phases.runs": "list of runs",
    "phases.detect": "phases of a run",
    "phases.timeline": "phases of a run, to look at",
    "phases.match": "match of a run",
    "phases.known_match": "match of a run, library edited",
    "phases.align": "two runs side by side",
    "phases.learn": "library of workloads",
    "phases.library": "library of workloads, to look at",
    "phases.live_library": "library for a live recording",
    "phases.evaluate": "test of recognition",
}
"""Step -> what it finds, for people."""


def step_words(step: str) -> str:
    """Return what a step finds, in words; its name where there are none."""
    return STEPS.get(step, step)
