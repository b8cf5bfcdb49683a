"""How long jobs take, and how far off every predictor is."""

from __future__ import annotations

from workprof.charts.durations.errors import (
    ErrorView,
    error_cdf,
    error_headlines,
    interval_sentence,
    predictor_table,
    profile_error_boxes,
)
from workprof.charts.durations.observed import ObservedView, group_names, observed_ecdf, quantile_table
from workprof.charts.profiles.overview import profile_names
from workprof.forecasts.durations import PROFILE, DurationSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.profiles.settings import ProfileSettings
from workprof.progress import Progress
from workprof.report.asking import through_job
from workprof.report.parts import Content, Kind, Table
from workprof.report.sections.profiles import profiles_of
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench


def _durations(workbench: Workbench, dataset: Dataset, progress: Progress) -> Content:
    clustering, view = ProfileSettings(), ObservedView()
    by_profile = DurationSettings(by=PROFILE)
    fit = profiles_of(workbench, dataset, clustering, progress)
    profiles = profile_names(fit, workbench.profile_notes(dataset.hash, clustering))
    observed = workbench.observed_durations(dataset.hash, by_profile, progress, fit=clustering)
    names = group_names(observed, profiles)
    tested = EstimateEvaluationSettings()
    errors = through_job(workbench.estimate_evaluation, dataset.hash, tested, progress)
    charts = (
        observed_ecdf(observed, names, view),
        error_cdf(errors, ErrorView()),
        profile_error_boxes(errors, profiles),
    )
    return Content(
        settings={"observed": by_profile, "errors": tested},
        headlines=error_headlines(errors),
        words=(interval_sentence(errors), *errors.notes),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(
            Table("Quantiles by profile", "quantiles", quantile_table(observed, names, view)),
            Table("Predictors", "predictors", predictor_table(errors)),
        ),
    )


DURATIONS = Kind("durations", "Durations", "durations", JOBS, _durations)
