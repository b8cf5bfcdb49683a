"""How a kept computation is asked for again: step name -> the workbench's method, its settings and its result."""

from __future__ import annotations

from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import DurationSettings, ObservedDurations
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.feedback.loop import FeedbackSettings
from workprof.forecasts.feedback.model import FeedbackModel, Refit, RefitSettings
from workprof.forecasts.forecaster import Forecaster, ForecasterSettings
from workprof.workbench import durations, explanations, feedback_loops, forecasts
from workprof.workbench.declared import DECLARED, PARTS
from workprof.workbench.explanations import ExplanationSettings
from workprof.workbench.run_recipe import Recipe


def _followed(forecaster: ForecasterSettings) -> FeedbackSettings:
    return FeedbackSettings(forecaster=forecaster)


_FOLLOWED = "workbench.forecaster(dataset, settings.forecaster)"
_REFIT = "it rests on the finished jobs that were observed by then: observe them, then ask for a refit"
_OBSERVED = "it is what finished jobs are compared with, and `workprof estimate observe` makes it when it is given some"
_REFITTED = (
    "it rests on the finished jobs that were observed by then: `workprof estimate observe` with --refit makes one"
)

_ALL = (
    Recipe(durations.OBSERVED, "observed_durations", DurationSettings, ObservedDurations, clustering="profiles"),
    Recipe(forecasts.TRAIN, "forecaster", ForecasterSettings, Forecaster),
    Recipe(forecasts.CLASSIFIER, "classifier_evaluation", ClassifierSettings, ClassifierEvaluation),
    Recipe(forecasts.ESTIMATES, "estimate_evaluation", EstimateEvaluationSettings, EstimateEvaluation),
    Recipe(explanations.EXPLAIN, "global_explanation", ExplanationSettings, GlobalExplanation, before=(_FOLLOWED,)),
    Recipe(
        feedback_loops.MODEL,
        "start_feedback_model",
        ForecasterSettings,
        FeedbackModel,
        adapt=_followed,
        before=(_FOLLOWED,),
        after=("workbench.wait(found.key)",),
        why_no_command=_OBSERVED,
    ),
    Recipe(feedback_loops.REFIT, "", RefitSettings, Refit, why_not=_REFIT, why_no_command=_REFITTED),
)

_DECLARED = tuple(
    Recipe(one.step, one.call, one.settings, one.result, why_not=one.no_python, why_no_command=one.no_command)
    for one in DECLARED.values()
    if one.compute
)
_PARTS = tuple(
    Recipe(one.step, one.asked_as[0].call, one.settings, one.result, adapt=one.asked_as[1])
    for one in PARTS.values()
    if one.asked_as
)
RECIPES: dict[str, Recipe] = {recipe.step.name: recipe for recipe in (*_ALL, *_DECLARED, *_PARTS)}
"""A step that is not here is listed, pinned and removed like every other; it only has no snippet."""
