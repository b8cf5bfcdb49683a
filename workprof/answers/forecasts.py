"""What is said of jobs before they run: how often a profile is predicted correctly, by what, and what one job needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import GB, format_share
from workprof.core.words import counted
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation, ClassScore, Reliability, SplitScores
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.feedback.drift import Drift
from workprof.forecasts.feedback.loop import Observed
from workprof.forecasts.one_job import JobForecast, Need
from workprof.forecasts.predictions import NO_PROFILE
from workprof.profiles.names import name_at

SHOWN_PROFILES = 3
SCORES = ("accuracy", "macro_f1", "weighted_f1", "abstained_share", "n_train", "n_test")
SMALL_LEAK = 0.02
"""A difference of accuracies that is worth a sentence."""


@dataclass(frozen=True)
class _Split:
    """The scores of one split; where profiles were found among the training runs, beside those of all runs."""

    name: str
    among: str
    scores: SplitScores


SPLITS = (
    Column("split", "name", "Split"),
    Column("among", heading="Profiles found among", optional=True),
    Column("accuracy", "scores.accuracy", "Accuracy", "%.3f"),
    Column("macro_f1", "scores.macro_f1", "Macro F1", "%.3f"),
    Column("weighted_f1", "scores.weighted_f1", "Weighted F1", "%.3f"),
    Column("abstained_share", "scores.abstained_share", "Abstained", unit="share"),
    Column("mean_probability", "scores.reliability.mean_stated", "Stated probability", "%.3f"),
    Column("correct_share", "scores.reliability.mean_observed", "Correct", unit="share"),
    Column("calibration_error", "scores.reliability.error", "Calibration error", "%.3f"),
    Column("n_test", "scores.n_test", "Test runs", unit="count"),
)


def profile_word(profile: int) -> str:
    """'P3'; 'none' where it is none."""
    return "none" if profile == NO_PROFILE else f"P{profile}"


CLASSES = (
    Column("profile", lambda one: profile_word(one.profile), "Profile"),
    Column("precision", heading="Precision", form="%.3f"),
    Column("recall", heading="Recall", form="%.3f"),
    Column("f1", heading="F1", form="%.3f"),
    Column("support", heading="Test runs", unit="count"),
)


def classifier_answer(result: ClassifierEvaluation) -> Answer:
    """How often the profile is predicted correctly, by split; and which profiles are not."""
    of_both = [(name, "training runs", scores) for name, scores in result.splits.items()] if result.beside else []
    among = "all runs" if of_both else ""
    of_all = [(name, among, scores) for name, scores in (result.beside or result.splits).items()]
    classes: Sequence[ClassScore] = result.classes
    return Answer(
        leak_sentence(result),
        tables=(
            Table("scores", "Splits", SPLITS, [_Split(*one) for one in (*of_both, *of_all)]),
            Table("classes", f"Profiles, lowest F1 first ({result.shown})", CLASSES, classes),
        ),
        notes=tuple(result.notes),
        document={
            "splits": {name: _split(scores) for name, scores in result.splits.items()},
            "cluster_on": result.settings.cluster_on,
            "clustered_on_all": {name: _split(scores) for name, scores in result.beside.items()} or None,
            "label_agreement": result.label_agreement or None,
            "not_made": result.not_made,
            "classes": [asdict(one) for one in classes],
            "shown": result.shown,
            "fields": list(result.fields),
            "mode": result.settings.mode,
            "train_seconds": result.train_seconds,
            "seconds": result.seconds,
        },
    )


def _split(scores: SplitScores) -> dict[str, Any]:
    return {
        **{key: getattr(scores, key) for key in SCORES},
        **_calibration(scores.reliability),
        "new_users": {"n_test": int(scores.new_users.rows.sum()), **_calibration(scores.new_users)},
    }


def _calibration(held: Reliability) -> dict[str, float | None]:
    result = {
        "mean_probability": held.mean_stated,
        "correct_share": held.mean_observed,
        "calibration_error": held.error,
    }
    return {key: None if math.isnan(value) else value for key, value in result.items()}


def strict_split(result: ClassifierEvaluation) -> str:
    """The split that is closest to new work: by group, else by job, else the first that could be made."""
    return next((name for name in ("by_group", "by_job") if name in result.splits), next(iter(result.splits)))


def leak_sentence(result: ClassifierEvaluation) -> str:
    """How often the profile is predicted correctly for new work, and how far a random split overstates it."""
    strict = strict_split(result)
    honest, leaky = result.splits[strict], result.splits.get("random")
    new = {"by_group": " of new groups", "by_job": " of new jobs", "by_time": " of later jobs"}.get(strict, "")
    words = (
        f"The profile is predicted correctly for {format_share(honest.accuracy, 0)} of the runs{new} "
        f"(macro F1 {honest.macro_f1:.2f})"
    )
    if leaky is None or strict == "random":
        return f"{words}.{_later(result, honest.accuracy)}"
    shares = format_share(leaky.accuracy, 0), f"macro F1 {leaky.macro_f1:.2f}"
    lost = leaky.accuracy - honest.accuracy
    if not math.isfinite(lost) or lost < SMALL_LEAK:
        return f"{words}; a random split gives about the same ({shares[0]}).{_later(result, honest.accuracy)}"
    return f"{words}. A random split overstates this: {shares[0]} ({shares[1]}).{_later(result, honest.accuracy)}"


def _later(result: ClassifierEvaluation, accuracy: float) -> str:
    """That later jobs are harder, where they are."""
    later = result.splits.get("by_time")
    if later is None or not accuracy - later.accuracy >= SMALL_LEAK:
        return ""
    return f" Later jobs are harder: {format_share(later.accuracy, 0)}."


@dataclass(frozen=True)
class _Effect:
    """The mean absolute SHAP value of a field or of a value, for every class."""

    name: str
    by_profile: dict[str, float]

    @property
    def total(self) -> float:
        """Over the classes."""
        return float(np.sum(list(self.by_profile.values())))

    @property
    def most(self) -> str:
        """The profiles for which it does most."""
        most = sorted(self.by_profile.items(), key=lambda item: -item[1])[:SHOWN_PROFILES]
        return ", ".join(f"{profile_word(int(profile))} ({value:.3f})" for profile, value in most)


def _effects(key: str) -> tuple[Column, ...]:
    return (
        Column(key, "name", key.capitalize()),
        Column("mean_abs_shap", "total", "Mean |SHAP| (log-odds)", "%.4f"),
        Column("by_profile", shown=False),
        Column("most", heading="Most for"),
    )


def explanation_answer(result: GlobalExplanation) -> Answer:
    """Which fields and values decide the profile."""
    classes = [str(int(one)) for one in result.classes]

    def effects(names: Sequence[str], means: Any) -> list[_Effect]:
        rows = zip(names, means, strict=True)
        return [_Effect(name, dict(zip(classes, map(float, row), strict=True))) for name, row in rows]

    fields = effects(result.fields, result.by_field)
    missed = f"SHAP values miss the output by up to {result.additivity_error:.2g}"
    return Answer(
        fields_sentence(result.fields, result.by_field.sum(axis=1)),
        tables=(
            Table("fields", "Fields", _effects("field"), fields),
            Table("values", "Values", _effects("value"), effects(result.values, result.by_value)),
        ),
        notes=() if result.additive else (missed,),
        document={
            name: getattr(result, name) for name in ("n_sampled", "n_rows", "seed", "additivity_error", "seconds")
        },
    )


def fields_sentence(lines: Sequence[str], totals: Any) -> str:
    """The three fields that decide most."""
    if not len(totals) or not totals.sum():
        return "No field changes the score."
    share = totals / totals.sum()
    first = ", ".join(f"{line} ({format_share(part, 0)})" for line, part in zip(lines[:3], share[:3], strict=True))
    return f"Most important: {first} of total absolute SHAP."


def forecast_document(result: JobForecast, called: Sequence[str]) -> dict[str, Any]:
    """The document of one job: memory in GB (1e9 bytes), duration in s, usage in per cent of a core or GPU.

    Args:
        result: of the job.
        called: names of the profiles by label, that of -1 last.
    """
    explained = result.explanation
    return {
        "profile": result.profile,
        "name": None if result.abstained else name_at(called, result.profile),
        "probability": result.probability,
        "top": [{"profile": profile, "probability": probability} for profile, probability in result.top],
        "abstained": result.abstained,
        "reason": result.reason or None,
        "estimates": {_in_gb(target): _need(target, need) for target, need in result.needs.items()},
        "shap": None
        if explained is None
        else {
            "profile": explained.profile,
            "fields": dict(zip(explained.fields, explained.contributions.tolist(), strict=True)),
            "base": explained.base,
            "output": explained.output,
            "additivity_error": explained.additivity_error,
            "words": list(explained.sentences),
        },
    }


def _in_gb(target: str) -> str:
    return target.replace("_bytes", "_gb")


def _need(target: str, need: Need) -> dict[str, float | str]:
    scale = GB if target.endswith("_bytes") else 1.0
    return {name: value if isinstance(value, str) else value / scale for name, value in vars(need).items()}


FAR = Column("outlier_share", heading="Far from every profile", unit="share", help="Of the recent jobs.")
ACQUIRES = Column("acquires", heading="ACQUIRES", form="%.3f", help="Of the clustering, with the recent jobs.")
DRIFT = (
    Column("target", heading="What"),
    Column("jobs", heading="Jobs", unit="count"),
    Column("errors", "error.word", "Errors"),
    Column("factor", "error.factor", "Factor", "%.2f"),
    Column("needs", "distribution.word", "Needs"),
    Column("distance", "distribution.distance", "Distance", "%.2f"),
)


def observed_answer(result: Observed, called: Sequence[str] = ()) -> Answer:
    """What finished jobs say of their predictions, and whether to cluster again; `called` = names of the profiles."""
    stands = result.assessment
    profile = Column("profile", lambda one: name_at(called, one.profile), "Profile")
    advice = "; ".join(stands.reasons) or "no drift that calls for another clustering"
    done = " Profiles and classifier were trained again." if result.refitted else ""
    if stands.recluster_advised and not result.refitted:
        done = " Another clustering is advised: add --refit."
    far = f"{result.filed.get('-1', 0):,} are far from every profile"
    return Answer(
        f"{result.observed:,} of {counted(result.n_read, 'run')} are compared, {far}: {advice}.{done}",
        (
            Figure(FAR, stands, f"{format_share(stands.outlier_share_at_fit)} at the fit"),
            Figure(ACQUIRES, stands, f"{stands.acquires_at_fit:.3f} at the fit"),
        ),
        (Table("drift", "Drift", (profile, *DRIFT), [one for one in stands.drift if one.jobs]),),
        notes=tuple(result.notes),
        document={
            "observed": result.observed,
            "rows_read": result.n_read,
            "repeated": result.n_repeated,
            "already_observed": result.already,
            "filed": result.filed,
            "not_filed": result.n_unfiled,
            "agreed_share": result.agreed_share,
            "violations": result.violations,
            "drift": [_drift(one) for one in stands.drift],
            "outlier_share": stands.outlier_share,
            "outlier_share_at_fit": stands.outlier_share_at_fit,
            "acquires": stands.acquires,
            "acquires_at_fit": stands.acquires_at_fit,
            "recluster_advised": stands.recluster_advised,
            "reasons": list(stands.reasons),
            "refitted": result.refitted,
            "acquires_history": list(result.history),
            "seconds": result.seconds,
        },
    )


def _drift(one: Drift) -> dict[str, Any]:
    return {
        "profile": one.profile,
        "target": one.target,
        "jobs": one.jobs,
        "effective_jobs": one.effective,
        "drift": one.is_drifting,
        "error": vars(one.error) | {"factor": one.error.factor},
        "distribution": vars(one.distribution),
    }
