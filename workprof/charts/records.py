"""The main table, figure and title of a record, for `to_frame()`, `figure()` and notebooks."""

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from workprof.answers import bins
from workprof.answers.classifier import explanation_answer
from workprof.answers.durations import ObservedView, group_names, quantile_table
from workprof.answers.estimates import ErrorView
from workprof.answers.forecasts import Naming, predicted_sentence
from workprof.answers.growing import growing_answer
from workprof.answers.membership import membership_answer
from workprof.answers.nodes import rank_answer
from workprof.answers.partial import course_answer, early_answer
from workprof.answers.phase_methods import methods_answer, typical_answer
from workprof.answers.phases import changes_sentence, phase_table
from workprof.answers.profiles import fit_answer
from workprof.answers.shapes import shapes_answer
from workprof.answers.told import TOLD
from workprof.answers.verdict import verdict_answer
from workprof.charts import shapes
from workprof.charts.classify.effects import beeswarm
from workprof.charts.classify.job import predictions_table
from workprof.charts.classify.model import alternative_dots, split_bars
from workprof.charts.clusterability import baseline_dots, hopkins_line, stability_bars
from workprof.charts.durations.errors import error_cdf
from workprof.charts.durations.observed import observed_ecdf
from workprof.charts.memory.bins import improvement_chart, usage_ecdf
from workprof.charts.memory.boxes import fact_scatter, task_boxes
from workprof.charts.memory.demand import demand_chart
from workprof.charts.memory.ledger import ledger_bars
from workprof.charts.memory.models import estimated_and_replayed
from workprof.charts.memory.policies import frontier_chart, why_history
from workprof.charts.memory.schedule import waits_chart
from workprof.charts.memory.verdict import rows_chart
from workprof.charts.nodes.degradation import degradation_over_time
from workprof.charts.nodes.groups import silhouette_bars, transfer_bars, weight_bars
from workprof.charts.nodes.history import states_over_time
from workprof.charts.nodes.ranking import ranked_bars
from workprof.charts.nodes.search import cost_curves
from workprof.charts.over_time import over_time_chart
from workprof.charts.phases.evaluation import distance_matrix, known_bars
from workprof.charts.phases.fingerprints import overlay_chart
from workprof.charts.phases.matches import match_chart
from workprof.charts.phases.methods import growing_chart, methods_chart, shapes_chart, typical_chart
from workprof.charts.phases.partial import course_chart, early_chart
from workprof.charts.phases.timeline import most_moving, timeline_chart
from workprof.charts.profiles.jobs import profile_map
from workprof.charts.profiles.membership import hdbscan_tree, runs_frame
from workprof.charts.profiles.overview import profile_names
from workprof.charts.shapes import Chart
from workprof.charts.theme import COLOURS
from workprof.core.answer import Answer, to_frame
from workprof.core.errors import WorkprofError
from workprof.core.words import counted, plotly_text
from workprof.forecasts import questions as of_forecasts
from workprof.forecasts.alternatives import Alternatives
from workprof.forecasts.classifier_evaluation import ClassifierEvaluation
from workprof.forecasts.durations import ObservedDurations
from workprof.forecasts.estimate_evaluation import EstimateEvaluation
from workprof.forecasts.estimates import TARGETS
from workprof.forecasts.explain import GlobalExplanation
from workprof.forecasts.job_table import JobForecasts
from workprof.memory import questions as of_memory
from workprof.memory.assessment import Assessment
from workprof.memory.bins import Bins, ImprovementCurve, ProfileBins
from workprof.memory.demand import Demand
from workprof.memory.facts import FactPoints
from workprof.memory.ledger import Ledger
from workprof.memory.models import PredictorResult
from workprof.memory.over_time import OverTime
from workprof.memory.replay import ReplayResult
from workprof.memory.schedule import Schedule
from workprof.memory.verdict import Verdict
from workprof.memory.why import Why
from workprof.nodes import questions as of_nodes
from workprof.nodes.advice import Advice
from workprof.nodes.detection import Detection
from workprof.nodes.groups import Groups
from workprof.nodes.history import History
from workprof.nodes.ranking import Ranking
from workprof.nodes.search import Search
from workprof.nodes.transfer import Transfer
from workprof.phases import questions as of_phases
from workprof.phases.early import Early
from workprof.phases.evaluation import Evaluation
from workprof.phases.growing import Growing
from workprof.phases.library import LibraryView
from workprof.phases.matching import Match
from workprof.phases.methods import Methods
from workprof.phases.partial import Course
from workprof.phases.series import SeriesChanges
from workprof.phases.shapes import Shapes
from workprof.phases.timeline import AlignedRuns, Timeline
from workprof.phases.typical import TypicalRuns
from workprof.profiles import questions as of_profiles
from workprof.profiles.baseline import Baseline
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import Hopkins
from workprof.profiles.membership import Membership
from workprof.profiles.stability import Stability

QUESTIONS = [one for room in (of_profiles, of_forecasts, of_memory, of_nodes, of_phases) for one in room.QUESTIONS]


@dataclass(frozen=True)
class View:
    """How a class of records is shown."""

    table: Callable[[Any], pd.DataFrame]
    chart: Callable[[Any], Chart]
    answer: Callable[[Any], Answer] | None = None


def answered(answer: Callable[[Any], Answer], chart: Callable[[Any], Chart]) -> View:
    """The first table and the sentence of an answer, and the figure beside them."""
    return View(lambda record: to_frame(answer(record)), chart, answer)


def _tells(record: Any) -> Callable[[Any], Answer] | None:
    return next((TOLD[one.name] for one in QUESTIONS if one.result is type(record) and one.name in TOLD), None)


def table(record: Any) -> pd.DataFrame:
    """Return the main table of a record: its own, that of its answer or its figure, or what it lists first.

    Raises WorkprofError when it lists nothing.
    """
    view, tells = VIEWS.get(type(record)), _tells(record)
    if view is not None:
        return view.table(record)
    answer = tells(record) if tells is not None else None
    if answer is not None and answer.tables:
        return to_frame(answer)
    chart = FIGURES[type(record)](record) if type(record) in FIGURES else None
    if chart is not None:
        return chart.data
    for one in fields(record):
        items = getattr(record, one.name)
        items = list(items.values()) if isinstance(items, dict) else items
        if isinstance(items, (tuple, list)) and items and is_dataclass(items[0]):
            return pd.DataFrame([_plain(item) for item in items])
    raise WorkprofError(f"{type(record).__name__} lists nothing that makes a table; read its fields")


def figure(record: Any) -> go.Figure:
    """Return the figure of a record; raises WorkprofError when it has none of its own."""
    return _chart(record).figure


def title(record: Any) -> str:
    """Return what a record says in one sentence; its class's name where it says nothing by itself."""
    view, tells = VIEWS.get(type(record)), _tells(record)
    if view is None:
        return tells(record).sentence if tells is not None else type(record).__name__
    return view.answer(record).sentence if view.answer else view.chart(record).takeaway


def _chart(record: Any) -> Chart:
    kind = type(record)
    draw = VIEWS[kind].chart if kind in VIEWS else FIGURES.get(kind)
    if draw is None:
        known = ", ".join(sorted(one.__name__ for one in (*VIEWS, *FIGURES)))
        raise WorkprofError(f"{kind.__name__} has no figure of its own; {known} have. Draw its to_frame()")
    chart = draw(record)
    if chart is None:
        raise WorkprofError(f"there is nothing to draw in this {kind.__name__}; read its to_frame()")
    return chart


def _plain(item: Any) -> dict[str, Any]:
    values = {one.name: getattr(item, one.name) for one in fields(item)}
    return {
        name: value
        for name, value in values.items()
        if value is None or isinstance(value, (bool, int, float, str, np.generic))
    }


def _durations(result: ObservedDurations) -> pd.DataFrame:
    return quantile_table(result, group_names(result), ObservedView()).frame()


MOST_SERIES = 12


def _changes_table(result: SeriesChanges) -> pd.DataFrame:
    """Return one row per phase, `sample` first: where it begins."""
    columns = ["sample", "series", "phase", "samples", "mean", "sd", "agreement"]
    return pd.DataFrame([_plain(one) for one in result.stretches], columns=columns)


def _changes_chart(result: SeriesChanges) -> Chart:
    shown, samples = range(min(len(result.names), MOST_SERIES)), result.values  # noqa: PD011  a record's field
    at = np.arange(result.change_points.n_samples, dtype=np.float64)
    traces = [
        shapes.panel_line(at, samples[place], name=plotly_text(result.names[place]), unit="", panel=place)
        for place in shown
    ]
    marks = [
        shapes.panel_boundary(float(change), place, dash="solid")
        for place in shown
        for change in result.change_points.boundaries_of(place)
    ]
    strip = shapes.strip(at, result.change_points.agreement, 1.0, len(shown))
    figure = shapes.panels(
        [*traces, strip],
        titles=[plotly_text(result.names[place]) for place in shown],
        units=[""] * len(shown),
        x_range=(0.0, float(result.change_points.n_samples)),
        marks=marks,
    )
    figure.update_xaxes(title={"text": "Sample"})
    return Chart(
        "change-points", figure, changes_sentence(result), "Series with a line at each change.", _changes_table(result)
    )


def _forecast_table(result: JobForecasts) -> pd.DataFrame:
    return predictions_table(result.jobs, result.forecasts, Naming(result.names), first_row=0)


MOST_JOBS = 40


def _forecast_chart(result: JobForecasts) -> Chart:
    """Return the estimate of the first target for each job, with its interval."""
    target = next((name for name in TARGETS if name in result.forecasts.estimates), None)
    profiles, rows = result.forecasts.profiles, min(len(result.jobs), MOST_JOBS)
    n_predicted = int((~profiles.abstained).sum())
    sentence = predicted_sentence(n_predicted, len(profiles))
    names = [f"job {row}" for row in range(rows)]
    if target is None:
        trace = shapes.bars(profiles.probability[:rows], names, colour=COLOURS[0])
        axis = "Probability of the profile"
    else:
        own = result.forecasts.estimates[target]
        trace = shapes.points(own.point[:rows], names, colour=COLOURS[0])
        trace["error_x"] = shapes.interval(own.point[:rows], own.low[:rows], own.high[:rows], colour=COLOURS[0])
        axis = target
    figure = shapes.figure_of(
        [trace],
        x={"title": axis, "type": "linear" if target is None else "log"},
        y={"autorange": "reversed", "type": "category"},
        height=120 + 18 * rows,
    )
    shows = f"Estimates of {counted(rows, 'job')} with intervals."
    return Chart("forecasts", figure, sentence, shows, _forecast_table(result))


VIEWS: dict[type, View] = {
    ProfileFit: answered(
        lambda fit: fit_answer(fit, profile_names(fit)), lambda fit: profile_map(fit, profile_names(fit))
    ),
    GlobalExplanation: answered(explanation_answer, lambda result: beeswarm(result, Naming())),
    Membership: View(runs_frame, lambda result: hdbscan_tree(result, {}), membership_answer),
    Verdict: answered(verdict_answer, rows_chart),
    ObservedDurations: View(_durations, lambda result: observed_ecdf(result, group_names(result), ObservedView())),
    Ranking: answered(rank_answer, ranked_bars),
    SeriesChanges: View(_changes_table, _changes_chart),
    Methods: answered(methods_answer, methods_chart),
    TypicalRuns: answered(typical_answer, typical_chart),
    Course: answered(course_answer, course_chart),
    Early: answered(early_answer, early_chart),
    Shapes: answered(shapes_answer, shapes_chart),
    Growing: answered(growing_answer, growing_chart),
    Timeline: View(
        lambda result: phase_table(result).frame(), lambda result: timeline_chart(result, most_moving(result))
    ),
    JobForecasts: View(_forecast_table, _forecast_chart),
    Bins: answered(bins.answer, usage_ecdf),
    ProfileBins: answered(bins.profile_answer, lambda result: usage_ecdf(result.bins)),
    ImprovementCurve: answered(bins.curve_answer, lambda result: improvement_chart(result, result.k[-1])),
}
FIGURES: dict[type, Callable[[Any], Chart | None]] = {
    Hopkins: hopkins_line,
    Baseline: baseline_dots,
    Stability: lambda result: stability_bars(result, {}),
    ClassifierEvaluation: lambda result: split_bars(result, Naming(mode=result.settings.mode)),
    Alternatives: alternative_dots,
    EstimateEvaluation: lambda result: error_cdf(result, ErrorView()),
    Assessment: task_boxes,
    FactPoints: fact_scatter,
    Ledger: ledger_bars,
    OverTime: lambda result: over_time_chart(result, {}),
    Schedule: waits_chart,
    Demand: demand_chart,
    ReplayResult: lambda result: frontier_chart(result, 0.0),
    PredictorResult: estimated_and_replayed,
    Why: why_history,
    Groups: silhouette_bars,
    Advice: weight_bars,
    Transfer: transfer_bars,
    History: states_over_time,
    Search: cost_curves,
    Detection: degradation_over_time,
    LibraryView: lambda result: distance_matrix(result, "euclidean"),
    AlignedRuns: overlay_chart,
    Match: lambda result: match_chart(result, "euclidean"),
    Evaluation: known_bars,
}
"""Of records whose table and sentence are those of their answers."""
