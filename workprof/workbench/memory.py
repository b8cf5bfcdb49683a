"""The Memory page's questions, declared in `workprof.memory.questions`, and its scenarios."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast

import pandas as pd

from workprof.core.arrays import MOST_USED
from workprof.core.errors import ColumnMissing, NotEnoughData, SettingsError
from workprof.core.progress import Progress, silent
from workprof.core.question import Question
from workprof.core.roles import DECIDE, whoami
from workprof.core.scope import TO, Scope, bounds, clock_text, narrowed, of_dataset, split
from workprof.core.shares import CPU, MEMORY
from workprof.core.units import GB, dated
from workprof.formats import utc_offset_s
from workprof.memory import questions
from workprof.memory.advice import SIZED, VERDICT, verdict_settings, verdict_table
from workprof.memory.assessment import DRAWN
from workprof.memory.bin_models import PredictorSettings
from workprof.memory.bin_search import BinSettings
from workprof.memory.bins import PROFILE_COLUMN
from workprof.memory.changes import Changes, ChangesSettings, refuse_short
from workprof.memory.decided import decided, decisions_on, rows_named
from workprof.memory.decisions import LEAVE_OUT, Decision, keys_named
from workprof.memory.facts import MOST_TESTED
from workprof.memory.findings import decided_findings
from workprof.memory.ledger import Ledger
from workprof.memory.ledger_settings import GROUPINGS, PROFILE, TASK, USER, usual_rows
from workprof.memory.model_data import DRAWN_OF
from workprof.memory.model_tables import TableSettings
from workprof.memory.over_time import usual_over_time_rows
from workprof.memory.realised import ACCEPTED_ROWS, CLOCK, RealisedSaving, accepted_advice, realised_of, verdict_advice
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.scenarios import Comparison, Scenario, compare
from workprof.memory.schedule import ScheduleSettings
from workprof.memory.size_lists import SizeList, bin_sizes, policy_sizes
from workprof.memory.usage import USAGE_COLUMNS, finished_of, killed_for_memory
from workprof.memory.verdict import Verdict, VerdictSettings
from workprof.profiles.fit import labelled
from workprof.profiles.names import name_of
from workprof.profiles.settings import ProfileSettings
from workprof.store.frames import Drawn
from workprof.store.reports import Dataset
from workprof.workbench.profiles import ProfileQuestions
from workprof.workbench.question_methods import JOBS, Frames, ask, refuse_other_kind


def _with_profiles(
    bench: Any, entry: Dataset, settings: Any, fit: ProfileSettings, progress: Progress | None
) -> Frames:
    """A function that finds the profiles where they are not cached, and reads what sizing needs with them."""

    def read() -> Mapping[str, pd.DataFrame]:
        every = bench.frames_of(entry, questions.BINS.columns(settings.bins), every=True)()["jobs"]
        found = bench.profiles(entry.hash, fit, progress or silent)
        killed = killed_for_memory(every, settings.bins.target)
        return {"jobs": labelled(finished_of(every), found, PROFILE_COLUMN), "killed": killed}

    return read


def _rows_named(bench: Any, entry: Dataset, settings: Any) -> Any:
    ledger = getattr(settings, "ledger", settings)
    if ledger.by:
        return settings
    own = [name for by in (USER, "group") for name in GROUPINGS[by]]
    held = [one.column.name for one in bench.column_profiles(entry.hash, own) if one.missing_share < 1]
    named = replace(ledger, by=usual_rows(held))
    return named if ledger is settings else replace(settings, ledger=named)


def _machine_named(bench: Any, entry: Dataset, settings: ScheduleSettings) -> ScheduleSettings:
    """The settings with the largest machine of a trace that gives amounts as its shares."""
    whole = {one.resource: one.whole_machine for one in bench.machine_shares(entry.hash)}
    memory, cores = whole.get(MEMORY), whole.get(CPU)
    if settings.memory_bytes is None and memory is not None:
        settings = replace(settings, memory_bytes=memory * GB)
    return replace(settings, cpus=cores) if settings.cpus is None and cores is not None else settings


def _over_time_named(bench: Any, entry: Dataset, settings: Any) -> Any:
    """The settings of memory over time with its rows named: by profile where the default ones are cached."""
    over = getattr(settings, "over", settings)
    if over.by:
        return settings
    clustered = bench.profiles.cached(entry.hash, ProfileSettings()).result is not None
    own = [name for by in (TASK, USER, "group") for name in GROUPINGS[by]]
    held = {one.column.name: one.distinct for one in bench.column_profiles(entry.hash, own) if one.missing_share < 1}
    named = replace(over, by=usual_over_time_rows(held, clustered=clustered))
    return named if over is settings else replace(settings, over=named)


def _fit_of_rows(_: Any, __: Dataset, settings: Any, fit: ProfileSettings | None) -> ProfileSettings | None:
    """The clustering whose profiles make the rows; None where they are something else."""
    by = getattr(settings, "ledger", getattr(settings, "over", settings)).by
    return (fit or ProfileSettings()) if by == PROFILE else None


IN_PARTS = (questions.LEDGER, questions.LEDGER_RUNS, questions.OVER_TIME, questions.OVER_TIME_RUNS)
"""Questions that read a long table in parts; the others hold it."""


def _with_rows(question: Question[Any, Any]) -> Callable[..., Frames]:
    """What reads all runs, finished or not, with their profiles where those name rows."""

    def frames(
        bench: Any, entry: Dataset, settings: Any, fit: ProfileSettings | None, progress: Progress | None
    ) -> Frames:
        if fit is not None and progress is None and bench.profiles.cached(entry.hash, fit).result is None:
            raise NotEnoughData("the profiles that make the rows are not there yet; find profiles first")

        def read() -> Mapping[str, pd.DataFrame]:
            columns = question.columns(settings)
            read_rows = bench.table_of(entry, columns) if question in IN_PARTS else _whole(bench, entry, columns)
            jobs = read_rows()["jobs"]
            if fit is None:
                return {"jobs": jobs}
            return {"jobs": labelled(jobs, bench.profiles(entry.hash, fit, progress or silent), PROFILE_COLUMN)}

        return read

    return frames


def _with_verdict(
    bench: Any, entry: Dataset, settings: Any, fit: ProfileSettings | None, progress: Progress | None
) -> Frames:
    """A function that reads all runs and the verdict, whose rows the findings are."""
    read = _with_rows(questions.LEDGER)(bench, entry, settings, fit, progress)
    ledger = getattr(settings, "ledger", settings)
    sized = verdict_settings(ledger.target)

    def both() -> Mapping[str, pd.DataFrame]:
        if getattr(settings, "key", "any") or settings.rule:
            try:
                verdict = bench.verdict(entry.hash, sized, progress or silent)
            except (ColumnMissing, NotEnoughData):  # other resources may have rows
                return {**read(), SIZED: _every_run_of(questions.VERDICT)(bench, entry, sized)()["jobs"]}
            return {VERDICT: verdict_table(verdict), **read()}
        return read()

    return both


def _whole(bench: Any, entry: Dataset, columns: Sequence[str] | None, latest: int | None = None) -> Frames:
    """A function that reads all runs, finished or not: those killed for memory are evidence, too."""
    every: Frames = bench.frames_of(entry, columns, every=True, latest=latest)
    return every


def _every_run_of(question: Question[Any, Any]) -> Callable[..., Frames]:
    """What reads all runs; the latest alone where the settings, or those of a verdict among them, say how many."""

    def read(bench: Any, entry: Dataset, settings: Any, *_: object) -> Frames:
        latest = getattr(getattr(settings, "verdict", settings), "latest_runs", None)
        return _whole(bench, entry, question.columns(settings), latest)

    return read


def _earlier_by_hash(bench: Any, entry: Dataset, settings: ReplaySettings) -> ReplaySettings:
    """The settings with the content of the earlier datasets, so that it is part of the key.

    Raises:
        WrongKind: when one holds no jobs.
        SettingsError: when one is the dataset itself.
    """
    others = [bench.dataset(name) for name in settings.train]
    for other in others:
        refuse_other_kind(other, JOBS)
        if other.hash == entry.hash:
            raise SettingsError(f"train names {other.name}, which is the dataset that is replayed; give earlier ones")
    return replace(settings, train=tuple(dict.fromkeys(other.hash for other in others)))


def _every_row(bench: Any, entry: Dataset, settings: Any, *_: object) -> Frames:
    """A function that reads all jobs, finished or not; of a large table most columns of drawn rows alone."""
    column = USAGE_COLUMNS[settings.target]
    if entry.finished_rows <= MOST_TESTED or column not in {one.name for one in bench.columns(entry.hash)}:
        return _whole(bench, entry, questions.ASSESS.columns(settings))
    drawn = Drawn(MOST_TESTED, column)
    return lambda: {
        **bench.table_of(entry, questions.read_assessment(settings.target))(),
        DRAWN: bench.frames_of(entry, questions.ASSESS.columns(settings), drawn=drawn)()["jobs"],
    }


def _of_task(bench: Any, entry: Dataset, settings: PredictorSettings | TableSettings, *_: object) -> Frames:
    """A function that reads every column of the finished jobs; of a large table of drawn rows of the task."""
    predictor = settings.predictor if isinstance(settings, TableSettings) else settings
    column, names = USAGE_COLUMNS[predictor.bins.target], {one.name for one in bench.columns(entry.hash)}
    if entry.finished_rows <= MOST_USED or not {column, "task_name"} <= names:
        return _whole(bench, entry, None)

    def read() -> Mapping[str, pd.DataFrame]:
        jobs = bench.frames_of(entry, None, drawn=Drawn(MOST_USED, column, predictor.bins.task))()["jobs"]
        if len(jobs) == MOST_USED:
            jobs.attrs[DRAWN_OF] = entry.finished_rows
        return {"jobs": jobs}

    return read


def _with_earlier(bench: Any, entry: Dataset, settings: ReplaySettings, *_: object) -> Frames:
    """A function that reads all jobs, finished or not, and those of each earlier dataset under its hash."""
    columns = questions.REPLAY.columns(settings)

    def read() -> Mapping[str, pd.DataFrame]:
        others = {name: bench.frames_of(bench.dataset(name), columns, every=True)()["jobs"] for name in settings.train}
        return {**_whole(bench, entry, columns, settings.latest_runs)(), **others}

    return read


def _decided(bench: Any, entry: Dataset, result: Verdict) -> Verdict:
    """A verdict with what was decided about its rows; the last one is kept, as a page asks again and again."""
    kept = bench.decisions(entry.hash)
    if not kept:
        return result
    last = bench._decided
    if last is None or last[0] is not result or last[1] != kept:
        last = bench._decided = (result, kept, decided(result, kept, scope=split(entry.hash)[1]))
    return cast(Verdict, last[2])


def _beside_decisions(bench: Any, entry: Dataset, result: Any) -> Any:
    """A result on every row of the plan, which says where some are left out there."""
    left_out = any(one.state in LEAVE_OUT for one in bench.decisions(entry.hash))
    return replace(result, rows_left_out=True) if left_out else result


def _decided_findings(bench: Any, entry: Dataset, result: Ledger) -> Ledger:
    """A ledger whose findings follow what was decided about their rows."""
    if not bench.decisions(entry.hash):
        return result
    settings = result.settings
    try:
        verdict = bench.verdict(entry.hash, verdict_settings(settings.target))
    except (ColumnMissing, NotEnoughData):  # decisions of an earlier dataset of this name
        return result
    return replace(result, findings=decided_findings(result.findings, verdict, settings.prices))


def _with_names_and_nodes(bench: Any, entry: Dataset, result: Changes) -> Changes:
    """Changes with the names of profiles, and those of the trace's nodes whose newest benchmark runs were flagged."""
    compared = result.compared
    if compared.by == PROFILE:
        names = bench.profile_names(split(entry.hash)[0])
        compared = replace(compared, parts=tuple(replace(one, name=name_of(one.name, names)) for one in compared.parts))
    return replace(result, compared=compared, degraded=bench.degraded_nodes(bench.benchmarks_of(split(entry.hash)[0])))


def _refuse_short(bench: Any, entry: Dataset, settings: ChangesSettings) -> None:
    """Refuse a trace without two full periods, by what is known of its starts."""
    told = {one.column.name: one for one in bench.column_profiles(entry.hash, CLOCK) if one.missing_share < 1}
    if "start_time_s" in told:
        last_s = max(one.maximum for one in told.values())
        refuse_short(told["start_time_s"].minimum, last_s, settings.since, utc_offset_s(entry.format))


class MemoryQuestions(ProfileQuestions):
    """The questions of the Memory page and of `workprof memory`."""

    assessment = ask(questions.ASSESS, frames=_every_row)
    fact_points = ask(questions.FACT)
    bins = ask(questions.BINS, frames=_every_run_of(questions.BINS))
    improvement = ask(questions.CURVE, frames=_every_run_of(questions.CURVE))
    profile_bins = ask(questions.PROFILE_BINS, frames=_with_profiles)
    profile_improvement = ask(questions.PROFILE_CURVE, frames=_with_profiles)
    bin_models = ask(questions.TRAIN, frames=_of_task)
    bin_tables = ask(questions.TABLES, frames=_of_task)
    replay = ask(questions.REPLAY, resolve=_earlier_by_hash, frames=_with_earlier, dress=_beside_decisions)
    why_size = ask(questions.WHY, frames=_every_run_of(questions.WHY))
    verdict = ask(questions.VERDICT, frames=_every_run_of(questions.VERDICT), dress=_decided)
    rollup = ask(questions.ROLLUP, frames=_every_run_of(questions.ROLLUP))
    schedule = ask(
        questions.SCHEDULE,
        resolve=_machine_named,
        frames=_every_run_of(questions.SCHEDULE),
        dress=_beside_decisions,
    )
    ledger = ask(questions.LEDGER, resolve=_rows_named, fit=_fit_of_rows, frames=_with_verdict, dress=_decided_findings)
    ledger_runs = ask(questions.LEDGER_RUNS, resolve=_rows_named, fit=_fit_of_rows, frames=_with_verdict)

    chargeback = ask(questions.CHARGEBACK, frames=_every_run_of(questions.CHARGEBACK))
    demand = ask(questions.DEMAND, resolve=_over_time_named, fit=_fit_of_rows, frames=_with_rows(questions.DEMAND))
    over_time = ask(
        questions.OVER_TIME, resolve=_over_time_named, fit=_fit_of_rows, frames=_with_rows(questions.OVER_TIME)
    )
    over_time_runs = ask(
        questions.OVER_TIME_RUNS,
        resolve=_over_time_named,
        fit=_fit_of_rows,
        frames=_with_rows(questions.OVER_TIME_RUNS),
    )

    def policy_sizes(self, dataset: str, settings: ReplaySettings, progress: Progress = silent) -> SizeList:
        """The sizes that one policy gives the next run of every task; see `workprof.memory.size_lists`."""
        entry = self._jobs_of(dataset)
        request = _earlier_by_hash(self, entry, settings)
        return policy_sizes(_with_earlier(self, entry, request)(), request, progress)

    def bin_sizes(self, dataset: str, settings: BinSettings, cap_bytes: float | None = None) -> SizeList:
        """Bins as named sizes, and the one of every task; see `workprof.memory.size_lists`."""
        entry = self._jobs_of(dataset)
        return bin_sizes(_whole(self, entry, questions.BINS.columns(settings))(), settings, cap_bytes)

    changes = ask(
        questions.CHANGES,
        resolve=_over_time_named,
        fit=_fit_of_rows,
        frames=_with_rows(questions.CHANGES),
        dress=_with_names_and_nodes,
        refuse=_refuse_short,
    )

    def realised(self, dataset: str, since: str = "", progress: Progress = silent) -> RealisedSaving:
        """What advice saved in fact, against the requests of before.

        Args:
            dataset: name or hash, of a whole dataset or of one narrowed by columns.
            since: a year, month, week, day or moment: the verdict on the runs before it is the advice. '' = accepted
                rows are, each from its decision on.
            progress: told where the verdict is computed first.

        Raises SettingsError where nothing was accepted and no moment is given, or it cannot be read.
        """
        entry = self._jobs_of(dataset)
        scope = of_dataset(entry.hash)
        if scope.period:
            raise SettingsError(f"saved in fact is of all times; leave the period {scope.period} out and give --since")
        times = [one.maximum for one in self.column_profiles(entry.hash, CLOCK)]
        has_dates = any(map(dated, times))
        if since:
            low = bounds(f"{since}{TO}", dates=has_dates, utc_offset_s=utc_offset_s(entry.format))[0] or 0.0
            until = f"{TO}{clock_text(low, utc_offset_s(entry.format), dates=has_dates)}"
            before = self.verdict(narrowed(entry.hash, Scope(scope.of, until)), None, progress)
            advice, told = verdict_advice(before.memory.rows, low), f"the verdict on runs before {since}"
        else:
            advice, told = accepted_advice(self.decisions(entry.hash)), ACCEPTED_ROWS
            if not advice or not has_dates:
                why = "this trace's clock shows no dates" if advice else "no change of a request of memory is accepted"
                raise SettingsError(f"{why}; give --since: the verdict on the runs before is the advice then")
        jobs = self.frames_of(entry, questions.VERDICT.columns(VerdictSettings()), every=True)()["jobs"]
        return realised_of(jobs, advice, told)

    _decided: tuple[Verdict, tuple[Decision, ...], Verdict] | None = None

    def decide(  # noqa: PLR0913  by name
        self,
        dataset: str,
        rows: str | Sequence[str],
        state: str | None = None,
        *,
        note: str | None = None,
        by: str = "",
        every: bool = False,
        settings: VerdictSettings | None = None,
        progress: Progress = silent,
    ) -> tuple[Decision, ...]:
        """Keep what was decided about rows of the verdict, and return it.

        Args:
            dataset: name or hash.
            rows: their keys ('user=ann,task_name=train,request=4.2'), or parts of one that fit one row.
            state: 'accepted', 'declined', 'never touch' or 'noted'; None leaves it as it was.
            note: None leaves it as it was.
            by: who decides; '' = the account that runs this process.
            every: parts of a key mean all rows that they fit.
            settings: of the verdict whose rows are meant.
            progress: told where the verdict is computed first.

        Raises SettingsError where no row fits, several do, or nothing is decided.
        """
        entry = self._jobs_of(dataset)
        self._store.refuse(DECIDE)
        verdict = self.verdict(entry.hash, settings, progress)
        named = (rows,) if isinstance(rows, str) else rows
        found = [each for text in named for each in rows_named(verdict, text, every=every)]
        result = decisions_on(found, state, note, by or whoami())
        self._store.save_decisions(entry.name, {one.row_key: one for one in result})
        return result

    def decisions(self, dataset: str) -> tuple[Decision, ...]:
        """What was decided about the requests of a dataset, or of an earlier one of its name."""
        return self._store.decisions(self.dataset(dataset).name, Decision)[0]

    def restore_decisions(self, dataset: str, before: Mapping[str, Decision | None]) -> None:
        """Put decisions back as they were, by the keys of their rows; None forgets one."""
        self._store.save_decisions(self._jobs_of(dataset).name, before)

    def forget_decisions(self, dataset: str, rows: str | Sequence[str], *, every: bool = False) -> tuple[Decision, ...]:
        """Forget the decisions on rows, also on those that are not there, and return what they were.

        Args:
            dataset: name or hash.
            rows: their keys, or parts of one that fit one decision.
            every: parts of a key mean all decisions that they fit.

        Raises SettingsError where none fits, or several do.
        """
        known = {one.row_key: one for one in self.decisions(dataset)}
        named = (rows,) if isinstance(rows, str) else rows
        result = tuple(known[key] for text in named for key in keys_named(tuple(known), text, every=every))
        self.restore_decisions(dataset, {one.row_key: None for one in result})
        return result

    def save_scenario(self, dataset: str, scenario: Scenario) -> Scenario:
        """Keep a scenario under its name and return it with its time."""
        entry = self._jobs_of(dataset)
        if scenario.dataset_hash != entry.hash:
            raise SettingsError(f"scenario {scenario.name!r} is of another dataset than {entry.name}; make it again")
        saved = replace(scenario, created=datetime.now(UTC).isoformat(timespec="seconds"))
        self._store.save_scenario(entry.hash, saved.name, saved.created, saved)
        return saved

    def scenarios(self, dataset: str) -> tuple[Scenario, ...]:
        """The kept scenarios of a dataset, the newest first."""
        return self._store.scenarios(self._jobs_of(dataset).hash, Scenario)

    def remove_scenario(self, dataset: str, name: str) -> None:
        """Forget a scenario."""
        self._store.remove_scenario(self._jobs_of(dataset).hash, name)

    def compare_scenarios(self, dataset: str, names: Sequence[str]) -> Comparison:
        """Up to four kept scenarios side by side.

        Raises SettingsError for a name that is not kept, none, or more than four.
        """
        scenarios = {one.name: one for one in self.scenarios(dataset)}
        unknown = [name for name in names if name not in scenarios]
        if unknown:
            raise SettingsError(f"there is no scenario {unknown[0]!r}; choose from {', '.join(scenarios) or 'none'}")
        return compare(tuple(scenarios[name] for name in names))
