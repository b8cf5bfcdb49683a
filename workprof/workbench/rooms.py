"""The workbench by room: `bench.memory.plan(dataset)` asks what `workprof memory plan` asks.

A room holds no state. Its names are those of the commands, each for a flat method of the workbench.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

from workprof.profiles.fit import ProfileFit
from workprof.profiles.settings import ProfileSettings
from workprof.workbench.comparison import ComparisonQuestions
from workprof.workbench.datasets import DatasetQuestions
from workprof.workbench.feedback import FeedbackQuestions
from workprof.workbench.forecasts import ForecastQuestions
from workprof.workbench.memory import MemoryQuestions
from workprof.workbench.nodes import NodeQuestions
from workprof.workbench.notices import NoticeQuestions
from workprof.workbench.phases import PhaseQuestions
from workprof.workbench.profiles import ProfileQuestions
from workprof.workbench.question_methods import Bound, ask
from workprof.workbench.runs import RunQuestions
from workprof.workbench.sources import SourceQuestions
from workprof.workbench.sweeps import SweepQuestions

S = TypeVar("S")
R = TypeVar("R")
P = ParamSpec("P")
RoomKind = TypeVar("RoomKind")


class asks(Generic[S, R]):  # noqa: N801  reads as a declaration
    """A question of the workbench under its name in a room."""

    def __init__(self, flat: Bound[S, R]) -> None:
        self.declared: ask[S, R] = flat.declared

    def __get__(self, room: Any, _: object = None) -> Bound[S, R]:
        return Bound(None if room is None else room.bench, self.declared)


class does(Generic[P, R]):  # noqa: N801
    """A method of the workbench under its name in a room."""

    def __init__(self, flat: Callable[Concatenate[Any, P], R]) -> None:
        self.flat = flat

    def __get__(self, room: Any, _: object = None) -> Callable[P, R]:
        return functools.wraps(self.flat)(functools.partial(self.flat, None if room is None else room.bench))


@dataclass(frozen=True)
class Room:
    """Questions and deeds that belong together, of one open workbench."""

    bench: Any

    def __dir__(self) -> list[str]:
        return sorted(name for name in vars(type(self)) if not name.startswith("_"))

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {', '.join(dir(self))}"


class Data(Room):
    """Datasets: what is loaded, from where, and what it holds."""

    ingest = does(DatasetQuestions.ingest)
    pull = does(DatasetQuestions.pull)
    detect = does(DatasetQuestions.detect)
    suggest = does(DatasetQuestions.suggest)
    list = does(DatasetQuestions.datasets)
    one = does(DatasetQuestions.dataset)
    rename = does(DatasetQuestions.rename)
    remove = does(DatasetQuestions.remove)
    export = does(DatasetQuestions.export)
    sample = does(DatasetQuestions.sample)
    report = does(DatasetQuestions.ingest_report)
    rejects = does(DatasetQuestions.rejects)
    columns = does(DatasetQuestions.columns)
    column_profiles = does(DatasetQuestions.column_profiles)
    time_coverage = does(DatasetQuestions.time_coverage)
    counts = does(DatasetQuestions.counts)
    values_of = does(DatasetQuestions.values_of)
    rows = does(DatasetQuestions.rows)
    mappings = does(DatasetQuestions.mappings)
    compare = does(ComparisonQuestions.compare)
    alerts = does(NoticeQuestions.alerts)
    add_alert = does(NoticeQuestions.add_alert)
    remove_alert = does(NoticeQuestions.remove_alert)
    sources = does(SourceQuestions.sources)
    add_source = does(SourceQuestions.add_source)
    refresh = does(SourceQuestions.refresh)


@dataclass(frozen=True)
class Profiles(Bound[ProfileSettings, ProfileFit]):
    """Profiles: runs that behave alike. The room itself is called as `fit` is."""

    fit = asks(ProfileQuestions.profiles)
    membership = asks(ProfileQuestions.membership)
    hopkins = asks(ProfileQuestions.hopkins)
    baseline = asks(ProfileQuestions.baseline)
    stability = asks(ProfileQuestions.stability)
    sweep = does(SweepQuestions.sweep)
    assign = does(ProfileQuestions.assign_files)
    names = does(ProfileQuestions.profile_names)
    notes = does(ProfileQuestions.profile_notes)
    set_note = does(ProfileQuestions.set_profile_note)

    def __dir__(self) -> list[str]:
        return sorted({name for kind in (Profiles, Bound) for name in vars(kind) if not name.startswith("_")})


class Forecasts(Room):
    """What jobs will need, before they run, and whether that still holds."""

    train = asks(ForecastQuestions.forecaster)
    predict = does(ForecastQuestions.forecast_job)
    predict_file = does(ForecastQuestions.forecast_file)
    evaluate = asks(ForecastQuestions.classifier_evaluation)
    compare = asks(ForecastQuestions.classifier_alternatives)
    compare_embeddings = asks(ForecastQuestions.embeddings)
    explain = asks(ForecastQuestions.global_explanation)
    evaluate_estimates = asks(ForecastQuestions.estimate_evaluation)
    durations = asks(ForecastQuestions.observed_durations)
    observe = does(FeedbackQuestions.observe)
    feedback = does(FeedbackQuestions.feedback)
    refit = asks(FeedbackQuestions.refit)
    adopt_refit = does(FeedbackQuestions.adopt_refit)


class Memory(Room):
    """What memory is wasted, what to request, and at what risk."""

    plan = asks(MemoryQuestions.verdict)
    assess = asks(MemoryQuestions.assessment)
    ledger = asks(MemoryQuestions.ledger)
    ledger_runs = asks(MemoryQuestions.ledger_runs)
    chargeback = asks(MemoryQuestions.chargeback)
    changes = asks(MemoryQuestions.changes)
    realised = does(MemoryQuestions.realised)
    over_time = asks(MemoryQuestions.over_time)
    over_time_runs = asks(MemoryQuestions.over_time_runs)
    bins = asks(MemoryQuestions.bins)
    bins_of_profile = asks(MemoryQuestions.profile_bins)
    curve = asks(MemoryQuestions.improvement)
    curve_of_profile = asks(MemoryQuestions.profile_improvement)
    train = asks(MemoryQuestions.bin_models)
    replay = asks(MemoryQuestions.replay)
    rollup = asks(MemoryQuestions.rollup)
    schedule = asks(MemoryQuestions.schedule)
    demand = asks(MemoryQuestions.demand)
    why = asks(MemoryQuestions.why_size)
    fact = asks(MemoryQuestions.fact_points)
    decide = does(MemoryQuestions.decide)
    decisions = does(MemoryQuestions.decisions)
    scenarios = does(MemoryQuestions.scenarios)
    save_scenario = does(MemoryQuestions.save_scenario)
    remove_scenario = does(MemoryQuestions.remove_scenario)
    compare_scenarios = does(MemoryQuestions.compare_scenarios)


class Nodes(Room):
    """Which node is fastest for which work, and which has degraded."""

    rank = asks(NodeQuestions.node_ranking)
    groups = asks(NodeQuestions.node_groups)
    history = asks(NodeQuestions.node_history)
    advise = asks(NodeQuestions.node_advice)
    allocate = asks(NodeQuestions.node_allocation)
    detect = asks(NodeQuestions.degradation)
    search = asks(NodeQuestions.configuration_search)
    names = does(NodeQuestions.node_names)
    machines = does(NodeQuestions.machines_of)
    scenarios = does(NodeQuestions.node_scenarios)
    save_scenario = does(NodeQuestions.save_node_scenario)
    remove_scenario = does(NodeQuestions.remove_node_scenario)


class Phases(Room):
    """What phases a run has, and which known workload it is like."""

    runs = asks(PhaseQuestions.phase_runs)
    detect = asks(PhaseQuestions.run_phases)
    show = asks(PhaseQuestions.timeline)
    methods = asks(PhaseQuestions.phase_methods)
    typical = asks(PhaseQuestions.typical_runs)
    shapes = asks(PhaseQuestions.run_shapes)
    growing = asks(PhaseQuestions.growing_sizes)
    fingerprints = asks(PhaseQuestions.workload_library)
    library = asks(PhaseQuestions.library_view)
    match = asks(PhaseQuestions.match_run)
    match_known = asks(PhaseQuestions.known_match)
    course = asks(PhaseQuestions.run_course)
    align = asks(PhaseQuestions.aligned_runs)
    evaluate = asks(PhaseQuestions.evaluate_phases)
    early = asks(PhaseQuestions.early_recognition)
    counters = does(PhaseQuestions.system_counters)
    edits = does(PhaseQuestions.library_edits)
    set_edits = does(PhaseQuestions.set_library_edits)


class Results(Room):
    """What was computed, and how it is made again."""

    list = does(RunQuestions.stored_runs)
    one = does(RunQuestions.stored_run)
    pin = does(RunQuestions.pin_run)
    remove = does(RunQuestions.remove_run)
    compare = does(RunQuestions.compare_runs)
    again = does(RunQuestions.run_again)
    in_python = does(RunQuestions.run_in_python)
    in_shell = does(RunQuestions.run_in_shell)
    address = does(RunQuestions.run_address)


class room(Generic[RoomKind]):  # noqa: N801
    """A room of the workbench."""

    def __init__(self, kind: Callable[..., RoomKind], *more: object) -> None:
        self.kind, self.more = kind, more

    def __get__(self, bench: Any, _: object = None) -> RoomKind:
        return self.kind(bench, *self.more)


ROOMS = ("data", "profiles", "forecasts", "memory", "nodes", "phases", "results")
