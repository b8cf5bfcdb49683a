"""What can be said of a job before it runs: its profile, what it will need, and how far that can be believed.

encoder, splits, boosting           submit-time fields as a matrix, honest test rows, trees and their calibration
predictions, classifier             from a job's fields to its profile, or to an abstention with its reason
alternatives                        nearest runs, rules, a tree and a network beside it
embeddings                          what profiles of an autoencoder forecast beside the others
classifier_evaluation, explain      how often that is right, and why a job got its profile
history, candidates, intervals      what past jobs needed, three ways to a job's quantiles, intervals that hold
estimates, estimate_evaluation, errors      the estimator of one target, and how wrong it and others are
durations                           what was observed: ECDFs with bands
forecaster                          classifier and estimators trained in one go
feedback                            do the forecasts still hold now that jobs have finished?
weighted_samples                    statistics of samples whose rows count unequally
"""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.forecasts.alternatives import AlternativeSettings as AlternativeSettings
    from workprof.forecasts.classifier import ClassifierSettings as ClassifierSettings
    from workprof.forecasts.durations import DurationSettings as DurationSettings
    from workprof.forecasts.embeddings import EmbeddingSettings as EmbeddingSettings
    from workprof.forecasts.estimates import (
        EstimateEvaluationSettings as EstimateEvaluationSettings,
        EstimateSettings as EstimateSettings,
    )
    from workprof.forecasts.feedback.model import RefitSettings as RefitSettings
    from workprof.forecasts.forecaster import (
        ExplanationSettings as ExplanationSettings,
        ForecasterSettings as ForecasterSettings,
    )

__getattr__, __dir__, __all__ = lazily(__name__)
