"""The sections of a report, one per page, in the order in which they are read; the appendix is last."""

from workprof.answers.assessment import assessment_answer
from workprof.answers.configurations import search_figures, search_sentence
from workprof.answers.degradation import (
    degradation_sentence,
    detection_figures,
    detectors_table,
    doubts,
    runs_table,
    trust_sentence,
)
from workprof.answers.demand import called, demand_answer
from workprof.answers.durations import ObservedView, group_names, quantile_table
from workprof.answers.estimates import ErrorView, choice_words, error_figures, interval_sentence, predictor_table
from workprof.answers.forecasts import Naming
from workprof.answers.ledger import judged_resources, ledger_answer
from workprof.answers.membership import membership_answer
from workprof.answers.node_groups import groups_sentence, groups_table
from workprof.answers.nodes import (
    decision_sentence,
    degraded_sentences,
    leave_out_table,
    node_table,
    pair_table,
    ranking_figures,
    robustness_sentence,
)
from workprof.answers.phases import phase_table
from workprof.answers.policies import replay_answer
from workprof.answers.profiles import fit_notes, paper_figures, quality_figures, size_figures, summary_table
from workprof.answers.recognition import (
    NOT_THE_PAPER,
    evaluation_figures,
    evaluation_sentence,
    inner_table,
    known_table,
    unknown_table,
)
from workprof.answers.scenarios import comparison_table, scenarios_answer
from workprof.answers.sweep import summary_sentence, sweep_answer
from workprof.answers.verdict import verdict_answer
from workprof.charts.classify.effects import beeswarm, dependence, interaction_heatmap
from workprof.charts.classify.model import confusion_heatmap, field_bars, reliability_diagram, split_bars, table_five
from workprof.charts.clusterability import hopkins_line
from workprof.charts.data import check_table, column_table, coverage_chart, ingest_sentence, join_table
from workprof.charts.durations.errors import error_cdf, profile_error_boxes
from workprof.charts.durations.observed import observed_ecdf
from workprof.charts.home import dataset_headlines, overview_sentence, unended_words
from workprof.charts.memory.boxes import task_boxes
from workprof.charts.memory.demand import demand_chart
from workprof.charts.memory.ledger import ledger_bars
from workprof.charts.memory.models import learning_curve
from workprof.charts.memory.policies import frontier_chart
from workprof.charts.memory.tasks import classes_chart
from workprof.charts.memory.verdict import curve_chart, rows_chart
from workprof.charts.nodes.degradation import (
    code_map,
    degradation_over_time,
    detection_reliability,
    reconstruction_errors,
    timeline,
)
from workprof.charts.nodes.groups import silhouette_bars
from workprof.charts.nodes.ranking import aspect_lines, ranked_bars
from workprof.charts.nodes.search import cost_curves, search_path
from workprof.charts.phases.evaluation import confusion_chart, known_bars, measures_of, open_curve
from workprof.charts.phases.methods import methods_chart, typical_chart
from workprof.charts.phases.timeline import most_moving, timeline_chart
from workprof.charts.profiles.features import feature_boxes, metadata_heatmap
from workprof.charts.profiles.jobs import profile_map
from workprof.charts.profiles.membership import hdbscan_tree, outlier_histogram, single_linkage
from workprof.charts.profiles.overview import (
    condensed_tree,
    profile_names,
    silhouette_boxes,
    size_bars,
)
from workprof.charts.shapes import headline, headlines as headlines_of
from workprof.charts.sweep import parallel_coordinates, score_heatmap, target_bars
from workprof.core.errors import ColumnMissing, NotEnoughData
from workprof.core.progress import Progress
from workprof.forecasts.classifier import ClassifierSettings
from workprof.forecasts.durations import EVERYTHING, GROUPINGS, GROUPINGS_SHOWN, PROFILE, DurationSettings
from workprof.forecasts.estimates import EstimateEvaluationSettings
from workprof.forecasts.forecaster import ExplanationSettings, ForecasterSettings
from workprof.formats.measured import BENCHMARKS, CONFIGURATIONS, TELEMETRY
from workprof.memory.assessment import AssessmentSettings
from workprof.memory.ledger_settings import LedgerSettings
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.scenarios import MOST_COMPARED
from workprof.memory.verdict import VerdictSettings
from workprof.nodes.detection import DegradationSettings
from workprof.nodes.groups import GroupSettings
from workprof.nodes.search import SearchSettings
from workprof.nodes.selection import RankSettings
from workprof.phases.evaluation import EvaluationSettings
from workprof.phases.methods import MethodsSettings
from workprof.phases.runs import RunList
from workprof.phases.timeline import TimelineSettings
from workprof.phases.typical import TypicalSettings
from workprof.profiles.fit import ProfileFit
from workprof.profiles.hopkins import HopkinsSettings
from workprof.profiles.membership import MembershipSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.sweep import SweepSettings
from workprof.report.parts import Content, Kind, Need, Table, of_answer, through_job
from workprof.store.reports import Dataset
from workprof.workbench import JOBS, Workbench

NOT_IN_PRINT = ["histogram"]


def _data(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    progress(None, "Looking at the columns")
    columns = workbench.column_profiles(dataset.hash)
    loaded = workbench.ingest_report(dataset.hash)
    coverage = coverage_chart(workbench.time_coverage(dataset.hash))
    tables = [
        Table("Columns", "columns", column_table(columns).drop(columns=NOT_IN_PRINT, errors="ignore")),
        Table("Checks", "checks", check_table(loaded)),
    ]
    if loaded.joins:
        tables.append(Table("Joins", "joins", join_table(loaded)))
    if loaded.rejected:
        tables.append(Table("Rejected rows (first 1,000)", "rejects", workbench.rejects(dataset.hash)))
    jobs = dataset.kind == JOBS
    overview: tuple[str, ...] = ()
    if jobs:
        counts = workbench.counts(dataset.hash)
        overview = (overview_sentence(dataset, columns, counts), *unended_words(counts, columns))
    return Content(
        settings={},
        headlines=dataset_headlines(dataset, columns) if jobs else (),
        words=(*overview, ingest_sentence(loaded)),
        charts=(coverage,) if coverage is not None else (),
        tables=tuple(tables),
        published=dataset.mode == "faithful",
    )


DATA = Kind("data", "Data", "data", "", _data, appendix=True)


def profiles_of(workbench: Workbench, dataset: Dataset, settings: ProfileSettings, progress: Progress) -> ProfileFit:
    """Return the profiles: kept, or found by a job."""
    return through_job(workbench.profiles, dataset.hash, settings, progress)


def _profiles(workbench: Workbench, dataset: Dataset, progress: Progress, clustering: ProfileSettings) -> Content:
    fit = profiles_of(workbench, dataset, clustering, progress)
    tendency, membership = _tendency(clustering), MembershipSettings(clustering)
    hopkins = through_job(workbench.hopkins, dataset.hash, tendency, progress)
    names = profile_names(fit, workbench.profile_notes(dataset.hash, clustering))
    weighed = through_job(workbench.membership, dataset.hash, membership, progress)
    told = membership_answer(weighed, names)
    charts = [
        size_bars(fit, names),
        profile_map(fit, names),
        silhouette_boxes(fit, names),
        condensed_tree(fit, names),
        *(feature_boxes(fit, names, feature) for feature in fit.features),
        *(metadata_heatmap(fit, names, heatmap.field) for heatmap in fit.heatmaps),
        hopkins_line(hopkins),
        outlier_histogram(weighed),
        hdbscan_tree(weighed, names),
        single_linkage(weighed),
    ]
    return Content(
        settings={"profiles": fit.settings, "hopkins": tendency, "membership": membership},
        headlines=tuple(map(headline, (*size_figures(fit), *quality_figures(fit), *paper_figures(fit)))),
        words=fit_notes(fit),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(of_answer(summary_table(fit, names)), *map(of_answer, told.tables)),
        published=fit.settings.mode == "faithful",
    )


def _tendency(clustering: ProfileSettings) -> HopkinsSettings:
    """Return the test of the same space."""
    names = ("features", "scaler", "metric", "mode", "seed")
    return HopkinsSettings(**{name: getattr(clustering, name) for name in names})


def _profile_needs(workbench: Workbench, _: Dataset, clustering: ProfileSettings) -> tuple[Need, ...]:
    return (
        (workbench.profiles, clustering),
        (workbench.hopkins, _tendency(clustering)),
        (workbench.membership, MembershipSettings(clustering)),
    )


PROFILES = Kind("profiles", "Profiles", "profiles", JOBS, _profiles, _profile_needs)


SCORE = "silhouette_clustered"


def _sweep(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    state = workbench.sweep(dataset.hash, SweepSettings(), progress)
    answer, algorithm = sweep_answer(state), state.runs[max(state.chosen, 0)].settings.algorithm
    return Content(
        settings={"sweep": state.settings},
        words=(answer.sentence, summary_sentence(state.summary)),
        charts=(
            score_heatmap(state.runs, SCORE, algorithm, state.chosen),
            parallel_coordinates(state.runs, state.best),
            target_bars(state.winners, state.runs),
        ),
        tables=tuple(of_answer(one, f"sweep-{one.name}") for one in answer.tables[:2]),
    )


def _sweep_needs(workbench: Workbench, dataset: Dataset, _: ProfileSettings) -> tuple[Need, ...]:
    """Raises NotEnoughData where the grid is refused."""
    groups = workbench.sweep_state(dataset.hash, SweepSettings()).groups
    return tuple((workbench.sweep_group, group.settings) for group in groups)


SWEEP = Kind("sweep", "Sweep", "sweep", JOBS, _sweep, _sweep_needs)


EXPLAINED_RUNS = 200
"""Of the beeswarm in print."""


def _classify(workbench: Workbench, dataset: Dataset, progress: Progress, clustering: ProfileSettings) -> Content:
    settings = ClassifierSettings(clustering, mode=clustering.mode)
    fit = profiles_of(workbench, dataset, settings.profiles, progress)
    result = through_job(workbench.classifier_evaluation, dataset.hash, settings, progress)
    naming = Naming(profile_names(fit, workbench.profile_notes(dataset.hash, clustering)), settings.mode)
    shown = result.splits[result.shown]
    forecaster = ForecasterSettings(settings)
    through_job(workbench.forecaster, dataset.hash, forecaster, progress)
    sample = ExplanationSettings(forecaster, n_sampled=EXPLAINED_RUNS)
    explained = workbench.global_explanation(dataset.hash, sample, progress)
    effects = (
        field_bars(explained, naming),
        beeswarm(explained, naming),
        dependence(explained, naming, explained.fields[0]),
        interaction_heatmap(explained, naming),
    )
    return Content(
        settings={"classifier": settings, "explanation": sample},
        words=result.notes,
        charts=(
            split_bars(result, naming),
            table_five(shown, naming),
            confusion_heatmap(shown, naming),
            reliability_diagram(shown, naming),
            *(chart for chart in effects if chart is not None and explained.additive),
        ),
        published=settings.mode == "faithful",
    )


def _classify_needs(workbench: Workbench, _: Dataset, clustering: ProfileSettings) -> tuple[Need, ...]:
    settings = ClassifierSettings(clustering, mode=clustering.mode)
    return (
        (workbench.profiles, clustering),
        (workbench.classifier_evaluation, settings),
        (workbench.forecaster, ForecasterSettings(settings)),
    )


CLASSIFY = Kind("classify", "Classify", "classify", JOBS, _classify, _classify_needs)


def _durations(workbench: Workbench, dataset: Dataset, progress: Progress, clustering: ProfileSettings) -> Content:
    view, profiles = ObservedView(), {}
    columns = {column.name for column in workbench.columns(dataset.hash)} | {EVERYTHING}
    grouped = DurationSettings(by=next(by for by in GROUPINGS if by in columns))
    refused = workbench.profiles.cached(dataset.hash, clustering).refusal
    if not refused:
        fit, grouped = profiles_of(workbench, dataset, clustering, progress), DurationSettings(by=PROFILE)
        profiles = profile_names(fit, workbench.profile_notes(dataset.hash, clustering))
    observed = workbench.observed_durations(dataset.hash, grouped, progress, fit=clustering)
    names = group_names(observed, profiles)
    curves = observed_ecdf(observed, names, view)
    title = "Quantiles" if grouped.by == EVERYTHING else f"Quantiles by {GROUPINGS_SHOWN[grouped.by].lower()}"
    quantiles = of_answer(quantile_table(observed, names, view), "quantiles", title)
    if refused:
        return Content({"observed": grouped}, (), (f"Not by profile: {refused}.",), (curves,), (quantiles,))
    tested = EstimateEvaluationSettings(profiles=clustering)
    errors = through_job(workbench.estimate_evaluation, dataset.hash, tested, progress)
    charts = (
        curves,
        error_cdf(errors, ErrorView()),
        profile_error_boxes(errors, profiles),
    )
    return Content(
        settings={"observed": grouped, "errors": tested},
        headlines=tuple(map(headline, error_figures(errors))),
        words=(choice_words(errors), interval_sentence(errors), *errors.notes),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(quantiles, of_answer(predictor_table(errors))),
    )


def _duration_needs(workbench: Workbench, _: Dataset, clustering: ProfileSettings) -> tuple[Need, ...]:
    tested = EstimateEvaluationSettings(profiles=clustering)
    return (workbench.profiles, clustering), (workbench.estimate_evaluation, tested)


DURATIONS = Kind("durations", "Durations", "durations", JOBS, _durations, _duration_needs)


REQUEST = "requested_memory_bytes"


def _memory(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    if REQUEST not in {column.name for column in workbench.columns(dataset.hash)}:
        raise ColumnMissing(f"savings compare with requests, and {dataset.name} has no column {REQUEST}; map it")
    assessment, best, policies = AssessmentSettings(), VerdictSettings(), ReplaySettings()
    verdict = through_job(workbench.verdict, dataset.hash, best, progress)
    assessed = workbench.assessment(dataset.hash, assessment, progress)
    replayed = through_job(workbench.replay, dataset.hash, policies, progress)
    curve = curve_chart(verdict)
    plan, use, rules = verdict_answer(verdict), assessment_answer(assessed), replay_answer(replayed)
    return Content(
        settings={"verdict": best, "assessment": assessment, "replay": policies},
        headlines=(*headlines_of(plan), *headlines_of(use), *headlines_of(rules)),
        words=(plan.sentence, *plan.notes, use.sentence, *use.notes),
        charts=(
            rows_chart(verdict),
            *(() if curve is None else (curve,)),
            task_boxes(assessed),
            classes_chart(assessed),
            frontier_chart(replayed, 0.0),
            learning_curve(replayed),
        ),
        tables=(
            *(of_answer(one, f"memory-plan-{one.name}") for one in plan.tables),
            *(of_answer(one, f"memory-{one.name}") for one in (*use.tables, rules.table())),
        ),
    )


def _memory_needs(workbench: Workbench, dataset: Dataset, _: ProfileSettings) -> tuple[Need, ...]:
    if REQUEST not in {column.name for column in workbench.columns(dataset.hash)}:
        return ()
    return (workbench.verdict, VerdictSettings()), (workbench.replay, ReplaySettings())


MEMORY = Kind("memory", "Memory", "memory", JOBS, _memory, _memory_needs)


def _ledger(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    settings = LedgerSettings()
    result = workbench.ledger(dataset.hash, settings, progress)
    told = ledger_answer(result)
    return Content(
        settings={"ledger": result.settings},
        headlines=headlines_of(told),
        words=(told.sentence, *told.notes),
        charts=(ledger_bars(result),) if judged_resources(result) else (),
        tables=tuple(of_answer(one, f"ledger-{one.name}") for one in told.tables),
    )


LEDGER = Kind("ledger", "Ledger", "memory", JOBS, _ledger)


def _demand(workbench: Workbench, dataset: Dataset, progress: Progress, clustering: ProfileSettings) -> Content:
    found = workbench.demand(dataset.hash, progress=progress, fit=clustering)
    result = called(found, workbench.profile_names(dataset.hash, clustering))
    told = demand_answer(result)
    return Content(
        settings={"demand": result.settings},
        headlines=headlines_of(told),
        words=(told.sentence, *told.notes),
        charts=(demand_chart(result),),
        tables=tuple(of_answer(one, f"demand-{one.name}") for one in told.tables if one.rows),
    )


DEMAND = Kind("demand", "Demand", "memory", JOBS, _demand)


def _scenarios(workbench: Workbench, dataset: Dataset, _: Progress, __: ProfileSettings) -> Content:
    scenarios = workbench.scenarios(dataset.hash)
    if not scenarios:
        raise NotEnoughData(f"no scenario of {dataset.name} is saved; save one on the Memory page")
    shown = [one.name for one in scenarios[:MOST_COMPARED]]
    compared = workbench.compare_scenarios(dataset.hash, shown)
    words = [f"{warning[:1].upper()}{warning[1:]}." for warning in compared.warnings]
    if len(shown) < len(scenarios):
        words.append(f"Side by side are the newest {len(shown)} of {len(scenarios)}.")
    return Content(
        settings={f"scenario {one.name}": one for one in compared.scenarios},
        words=tuple(words),
        tables=(
            of_answer(scenarios_answer(scenarios).table(), "scenarios"),
            Table("Side by side", "scenarios-compared", comparison_table(compared)),
        ),
    )


SCENARIOS = Kind("scenarios", "Scenarios", "memory", JOBS, _scenarios)


def _ranking(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    settings, grouped = RankSettings(), GroupSettings()
    result = workbench.node_ranking(dataset.hash, settings, progress)
    groups = workbench.node_groups(dataset.hash, grouped, progress)
    return Content(
        settings={"ranking": settings, "groups": grouped},
        headlines=tuple(map(headline, ranking_figures(result))),
        words=(
            *(decision_sentence(result), *degraded_sentences(result), robustness_sentence(result)),
            *(groups_sentence(groups), *result.notes),
        ),
        charts=(ranked_bars(result), aspect_lines(result), *((silhouette_bars(groups),) if groups.silhouettes else ())),
        tables=(
            of_answer(node_table(result), title="Nodes"),
            *map(of_answer, (pair_table(result), leave_out_table(result), groups_table(groups))),
        ),
        published=result.published,
    )


def _degradation(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    settings = DegradationSettings()
    result = through_job(workbench.degradation, dataset.hash, settings, progress)
    names = sorted({str(name) for name in result.runs.node})
    charts = (
        degradation_over_time(result),
        *(timeline(result, name) for name in names),
        code_map(result),
        detection_reliability(result),
        reconstruction_errors(result),
    )
    return Content(
        settings={"detection": settings.detect},
        headlines=tuple(map(headline, detection_figures(result))),
        words=(degradation_sentence(result), trust_sentence(result), *result.messages),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(
            of_answer(detectors_table(result), "node-detectors"),
            of_answer(runs_table(result), "node-runs-judged"),
            *map(of_answer, doubts(result)),
        ),
        published=result.published,
    )


RANKING = Kind("nodes", "Nodes", "nodes", BENCHMARKS, _ranking)
DEGRADATION = Kind(
    "degradation",
    "Degradation",
    "nodes",
    BENCHMARKS,
    _degradation,
    lambda workbench, *_: ((workbench.degradation, DegradationSettings()),),
)


MOST_RUNS = 12


def _timelines(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    runs = workbench.phase_runs(dataset.hash, progress=progress)
    shown = _first_of_each(runs)
    settings = [TimelineSettings(run=name) for name in shown]
    result = [through_job(workbench.timeline, dataset.hash, own, progress) for own in settings]
    charts = tuple(timeline_chart(one, most_moving(one)) for one in result)
    compared = through_job(workbench.phase_methods, dataset.hash, MethodsSettings(run=shown[0]), progress)
    charts = (*charts, methods_chart(compared))
    if any(line.workload for line in runs.runs):
        typical = through_job(workbench.typical_runs, dataset.hash, TypicalSettings(), progress)
        charts = (*charts, typical_chart(typical))
    held = f"{len(runs.runs)} runs; shown is the first of each of {len(shown)} workloads."
    return Content(
        settings=dict(zip(shown, settings, strict=True)),
        words=(*(f"{name}: {chart.takeaway}" for name, chart in list(zip(shown, charts, strict=False))[:1]), held),
        charts=charts,
        tables=tuple(
            of_answer(phase_table(one), f"phases-{name.replace('/', '-')}", f"Phases of {name}")
            for name, one in zip(shown, result, strict=True)
        ),
    )


def _first_of_each(runs: RunList) -> list[str]:
    first: dict[str, str] = {}
    for line in runs.runs:
        first.setdefault(line.workload or line.name, line.name)
    return list(first.values())[:MOST_RUNS]


def _evaluation(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    settings = EvaluationSettings()
    result = through_job(workbench.evaluate_phases, dataset.hash, settings, progress)
    charts = [known_bars(result), *(open_curve(result, measure) for measure in measures_of(result)[:1])]
    if result.known is not None:
        charts.append(confusion_chart(result.known))
    return Content(
        settings={"evaluation": settings},
        headlines=tuple(map(headline, evaluation_figures(result))),
        words=(evaluation_sentence(result), *result.notes, NOT_THE_PAPER),
        charts=tuple(chart for chart in charts if chart is not None),
        tables=(
            *((of_answer(known_table(result)),) if result.known else ()),
            *(of_answer(one, f"phases-{one.name}") for one in (unknown_table(result), inner_table(result))),
        ),
    )


def _search(workbench: Workbench, dataset: Dataset, progress: Progress, _: ProfileSettings) -> Content:
    settings = _search_settings(workbench, dataset)
    result = through_job(workbench.configuration_search, dataset.hash, settings, progress)
    return Content(
        settings={"search": settings},
        headlines=tuple(map(headline, search_figures(result))),
        words=(search_sentence(result), *result.notes),
        charts=(cost_curves(result), *(search_path(result, name) for name in list(result.workloads)[:MOST_RUNS])),
    )


def _search_settings(workbench: Workbench, dataset: Dataset) -> SearchSettings:
    """Return the default search, with the scores of the newest benchmark runs of the table's machines."""
    machines = set(workbench.machines_of(dataset.hash))
    runs = (one.hash for one in workbench.datasets() if one.kind == BENCHMARKS)
    return SearchSettings(runs=next((one for one in runs if machines & set(workbench.node_names(one))), ""))


SEARCHED = Kind(
    "search",
    "Configuration search",
    "nodes",
    CONFIGURATIONS,
    _search,
    lambda workbench, dataset, _: ((workbench.configuration_search, _search_settings(workbench, dataset)),),
)


TIMELINES = Kind("phases", "Phases", "phases", TELEMETRY, _timelines)
EVALUATION = Kind(
    "recognition",
    "Known and unknown workloads",
    "phases",
    TELEMETRY,
    _evaluation,
    lambda workbench, *_: ((workbench.evaluate_phases, EvaluationSettings()),),
)


SECTIONS: tuple[Kind, ...] = (
    PROFILES,
    CLASSIFY,
    SWEEP,
    DURATIONS,
    MEMORY,
    LEDGER,
    DEMAND,
    SCENARIOS,
    RANKING,
    DEGRADATION,
    SEARCHED,
    TIMELINES,
    EVALUATION,
    DATA,
)
"""To add one: write it above and list it here; page, command and test follow."""
