"""The questions of the Classify and Durations pages, of `workprof classify`, `durations` and `estimate`, each once."""

from typing import Any

from workprof.core.arrays import SUBMITTED
from workprof.core.question import Question
from workprof.forecasts.alternatives import Alternatives, AlternativeSettings
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import EVERYTHING, JOB, PROFILE, DurationSettings, ObservedDurations
from workprof.forecasts.embeddings import Embeddings, EmbeddingSettings
from workprof.forecasts.encoder import SUBMIT_FIELDS
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import TARGETS, EstimateEvaluationSettings, EstimateSettings
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.feedback.assignment import TIMES
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.feedback.model import FeedbackModel, Refit, RefitSettings
from workprof.forecasts.forecaster import ExplanationSettings, Forecaster, ForecasterSettings
from workprof.forecasts.held_out import HeldOut
from workprof.profiles.questions import CLUSTERABILITY, FIT, PAGE as PROFILES_PAGE, columns_of
from workprof.profiles.settings import FEATURE_SETS, ProfileSettings, default_features

CLASSIFY, DURATIONS = "classify", "durations"
LEARNED = (*SUBMIT_FIELDS, *SUBMITTED, "duration_s", *TARGETS)
"""Columns that classifier and estimators learn from."""


def _learned(_: Any) -> tuple[str, ...]:
    return LEARNED


def followed(settings: ForecasterSettings) -> tuple[str, ...]:
    """Return the columns that the profiles, the forecaster and the comparison of a feedback loop need."""
    features = settings.classifier.profiles.features
    return (*FEATURE_SETS.get(features[0], features), *SUBMIT_FIELDS, *TIMES, "duration_s", *TARGETS)


def faithful_classifier() -> ClassifierSettings:
    """Return the published classifier of the published profiles."""
    return ClassifierSettings(ProfileSettings(mode="faithful"), mode="faithful")


def faithful_forecaster() -> ForecasterSettings:
    """Return a forecaster with the published classifier."""
    return ForecasterSettings(faithful_classifier())


def _validated(settings: ClassifierSettings) -> tuple[str, ...]:
    """Return what is learned, and what profiles rest on where each fold's training runs are clustered alone."""
    features = settings.profiles.features or default_features(settings.profiles.mode)
    named = [column for name in features for column in FEATURE_SETS.get(name, (name,))]
    return LEARNED if settings.cluster_on == "all" else tuple(dict.fromkeys((*LEARNED, *named)))


OBSERVED_DURATIONS = Question(
    "profiles.durations",
    "Show how long jobs took (or what they used): quantiles, and the share within a limit, per group.",
    DurationSettings,
    ObservedDurations,
    "workprof.forecasts.durations:observed_durations",
    version=4,
    finds="observed durations",
    reads=lambda settings: tuple({settings.target, settings.by} - {PROFILE, EVERYTHING}),
    optional=lambda _: (JOB, "status", "task_name"),
    page=DURATIONS,
    tab="Observed",
    method="observed_durations",
    command=("durations",),
    rests_on_fit=True,
)
FORECASTER = Question(
    "profiles.forecaster",
    "Predict the profile of new jobs, what they will need, and why.",
    ForecasterSettings,
    Forecaster,
    "workprof.forecasts.forecaster:train_forecaster",
    version=13,
    finds="trained classifier and estimators",
    optional=_learned,
    page=CLASSIFY,
    command=("classify", "predict"),
    always=("--set", "task_name=any"),
    published=faithful_forecaster,
    ignores=("classifier.cluster_on",),
)
"""A shell trains a forecaster by predicting a job; any will do."""
HELD_OUT = Question(
    "profiles.held_out",
    "Predict runs of jobs that training did not see.",
    ForecasterSettings,
    HeldOut,
    "workprof.forecasts.held_out:hold_out",
    version=14,
    finds="predictions of held-out jobs",
    optional=_learned,
    page=CLASSIFY,
    published=faithful_forecaster,
    no_command="the Classify page shows its example; `workprof classify evaluate` tests every job",
    ignores=("classifier.cluster_on",),
)
EVALUATE_CLASSIFIER = Question(
    "profiles.classifier_evaluation",
    "Score the classifier under random, by-job, by-group and by-time splits.",
    ClassifierSettings,
    ClassifierEvaluation,
    "workprof.forecasts.classifier_evaluation:evaluate_classifier",
    version=7,
    finds="validation of the classifier",
    optional=_validated,
    page=CLASSIFY,
    tab="Model",
    command=("classify", "evaluate"),
    published=faithful_classifier,
)
ALTERNATIVES = Question(
    "profiles.classifier_alternatives",
    "Compare the classifier with nearest runs, rules, a tree and a network, on the same folds.",
    AlternativeSettings,
    Alternatives,
    "workprof.forecasts.alternatives:compare_classifiers",
    version=6,
    finds="comparison of classifiers",
    optional=_learned,
    page=CLASSIFY,
    tab="Model",
    method="classifier_alternatives",
    command=("classify", "compare"),
    ignores=("classifier.cluster_on",),
)
EMBEDDINGS = Question(
    "profiles.embeddings",
    "Compare the profiles with those of an autoencoder: how distinct, and what they forecast of unseen jobs.",
    EmbeddingSettings,
    Embeddings,
    "workprof.forecasts.embeddings:compare_embeddings",
    version=3,
    finds="comparison of embeddings",
    optional=lambda settings: columns_of(settings.fit.features or ("sensors10",), *LEARNED),
    page=PROFILES_PAGE,
    tab=CLUSTERABILITY,
    controls=(("fit", FIT),),
)
EXPLAIN = Question(
    "profiles.explain_all",
    "Show which fields matter to the classifier: mean |SHAP| per field and value, in log-odds.",
    ExplanationSettings,
    GlobalExplanation,
    "workprof.forecasts.explain:explain_all",
    version=6,
    finds="feature importance",
    optional=_learned,
    page=CLASSIFY,
    tab="Model",
    method="global_explanation",
    command=("classify", "explain"),
    published=lambda: ExplanationSettings(faithful_forecaster()),
    ignores=("forecaster.classifier.cluster_on",),
)
EVALUATE_ESTIMATES = Question(
    "profiles.estimate_evaluation",
    "Test every predictor on rows that training never saw, with the interval's coverage.",
    EstimateEvaluationSettings,
    EstimateEvaluation,
    "workprof.forecasts.estimate_evaluation:run_evaluation",
    version=11,
    finds="evaluation of the predictors",
    optional=_learned,
    page=DURATIONS,
    tab="Prediction error",
    command=("estimate", "evaluate", "--train"),
    published=lambda: EstimateEvaluationSettings(EstimateSettings(mode="faithful"), ProfileSettings(mode="faithful")),
)
FEEDBACK_MODEL = Question(
    "profiles.feedback_model",
    "Build the drift baseline: what finished jobs are compared with.",
    ForecasterSettings,
    FeedbackModel,
    "workprof.forecasts.feedback.model:build_feedback_model",
    version=13,
    finds="drift baseline",
    optional=followed,
    page=CLASSIFY,
    tab="Drift",
    no_command="it is what finished jobs are compared with, and `workprof estimate observe` makes it when given some",
    ignores=("classifier.cluster_on",),
)
REFIT = Question(
    "profiles.feedback_refit",
    "Find profiles and train again with the finished jobs.",
    RefitSettings,
    Refit,
    "workprof.forecasts.feedback.model:refit",
    version=13,
    finds="profiles refitted with finished jobs",
    optional=lambda settings: followed(settings.forecaster),
    page=CLASSIFY,
    tab="Drift",
    method="refit",
    no_python="it rests on the finished jobs that were observed by then: observe them, then refit",
    no_command="it rests on the finished jobs observed by then: `workprof estimate observe` with --refit makes one",
    ignores=("forecaster.classifier.cluster_on",),
)
OBSERVE = Question(
    "profiles.feedback",
    "Fold finished jobs in: estimates follow, drift is measured, another clustering is advised (or run).",
    FeedbackSettings,
    FeedbackModel,
    FEEDBACK_MODEL.compute,
    page=CLASSIFY,
    tab="Drift",
    method="feedback",
    command=("estimate", "observe"),
    always=("--jobs", "finished.csv"),
    published=lambda: FeedbackSettings(faithful_forecaster()),
    ignores=("forecaster.classifier.cluster_on",),
)
"""The loop's settings, for its command and its form; what is cached of it is `FEEDBACK_MODEL`, `REFIT`, its state."""

QUESTIONS: tuple[Question[Any, Any], ...] = (
    *(OBSERVED_DURATIONS, FORECASTER, HELD_OUT, EVALUATE_CLASSIFIER, ALTERNATIVES, EMBEDDINGS, EXPLAIN),
    EVALUATE_ESTIMATES,
    *(FEEDBACK_MODEL, REFIT),
)
