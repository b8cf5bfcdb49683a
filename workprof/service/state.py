"""What a running service holds: the open home, the model of each dataset that is asked about, and finished runs."""

import contextlib
import logging
import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import pandas as pd

from workprof.answers.feedback import observed_answer
from workprof.core.alerts import Checked
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, WorkprofError
from workprof.core.roles import OBSERVE, Actor, Role, act_as, whoami
from workprof.core.scope import Scope, of_dataset, split
from workprof.formats.fields import FIELDS
from workprof.memory.decided import decided
from workprof.memory.decisions import Decision
from workprof.memory.resources import KEY_COLUMNS
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_sizes import Found, Sizes
from workprof.service.jobs import BadFields, FieldProblem, FieldReader, Job
from workprof.service.observations import Journal, Run, place_of
from workprof.service.prediction import Learned, Model, learned_of, load_model
from workprof.store.audit import Audit
from workprof.watch.numbers import checked
from workprof.workbench import JOBS, Workbench
from workprof.workbench.feedback import counts_of, with_finished_told

LOG = logging.getLogger(__name__)
Made = TypeVar("Made")
FOLD_EVERY_S, CHECK_EVERY_S, NOTE_EVERY_S = 2.0, 60.0, 60.0
DOOR = "service"
AGAIN_AFTER_S = 30.0
CATALOGUE_S = 0.2
"""How long a name means the same dataset without a look at the catalogue."""
MOST_NAMES = 100
LONGEST_NAME = 1_000
"""Characters of a dataset with its scope."""
NAMED = f"a name, or 8 characters of a hash, in at most {LONGEST_NAME:,} characters"
MOST_AT_ONCE, MOST_MAKING, MOST_HELD = 2, 16, 16
"""Models that are made at once, that may wait for that, and that stay in memory."""
LOAD_S, FIRST_S = 2.0, 20.0
"""How long a kept result takes to load, and one of whose kind none was computed here yet."""
FORECASTER, SIZES = "forecaster", "sizes"


class NotReady(Exception):
    """What is needed is still being made."""

    def __init__(self, words: str, wait_s: float) -> None:
        super().__init__(words)
        self.wait_s = wait_s  # until it is worth another try


@dataclass(frozen=True)
class Sized:
    """The verdict on a dataset, its rows of memory by their keys, and what reads the jobs that ask for them."""

    learned: Learned
    verdict: Verdict
    sizes: Sizes
    reader: FieldReader

    @property
    def dataset(self) -> str:
        """The name of the dataset."""
        return self.learned.dataset

    @cached_property
    def scope(self) -> Scope:
        """What the dataset was narrowed to."""
        return of_dataset(self.dataset)

    def find(self, job: Job, request: float | None) -> Found:
        """The row of a job; none of one that says it is not of the scope, as a job of another partition."""
        if any(job.get(name, values[0]) not in values for name, values in self.scope.of):
            return Found(None, request, f"only runs of {self.scope.words} were judged")
        return self.sizes.find(job, request)


class Held:
    """Values that are made once by name, in threads of their own; whoever asks meanwhile is told so."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._made: OrderedDict[Any, Any] = OrderedDict()
        self._running: dict[Any, tuple[float, float]] = {}  # key -> begin, seconds that it should take
        self._failed: dict[Any, tuple[WorkprofError, float]] = {}
        self._threads = ThreadPoolExecutor(MOST_AT_ONCE, "make")

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def get(self, key: Any, make: Callable[[], Made], usual_s: Callable[[], float]) -> Made:
        """The value of a key; `usual_s` tells how long it should take to make it.

        Raises:
            NotReady: while it is made, or while too many others are.
            WorkprofError: when it could not be made; it is tried again after half a minute.
        """
        result: Made | None = self._made.get(key)
        if result is not None:
            return result
        error, when = self._failed.get(key, (None, 0.0))
        if error is not None and time.monotonic() - when < AGAIN_AFTER_S:
            raise error
        takes_s = 0.0 if key in self._running else usual_s()
        now = time.monotonic()
        with self._guard:
            if key not in self._running:
                if len(self._running) >= MOST_MAKING:
                    wait_s = min(_left_s(*one, now) for one in self._running.values())
                    raise NotReady(f"{MOST_MAKING} other models are being made; ask again later", wait_s)
                self._running[key] = (now, takes_s)
                self._threads.submit(self._make, key, make)
            wait_s = _left_s(*self._running[key], now)
        raise NotReady(f"still being made: {key[0]}; ask again after the seconds of Retry-After", wait_s)

    def drop(self, key: Any) -> None:
        """Let a value go."""
        with self._guard:
            self._made.pop(key, None)

    def _make(self, key: Any, make: Callable[[], Any]) -> None:
        try:
            made = make()
            with self._guard:
                self._made[key] = made
                self._failed.pop(key, None)
                while len(self._made) > MOST_HELD:
                    self._made.popitem(last=False)
        except WorkprofError as error:
            self._fail(key, error)
        except Exception:
            LOG.exception("%s could not be made", key)
            self._fail(key, WorkprofError(f"{key[0]} could not be made; the log says why"))
        finally:
            with self._guard:
                self._running.pop(key, None)

    def _fail(self, key: Any, error: WorkprofError) -> None:
        with self._guard:
            if len(self._failed) >= MOST_NAMES:
                self._failed.clear()
            self._failed[key] = (error, time.monotonic())


def _left_s(begun: float, takes_s: float, now: float) -> float:
    """How much longer something takes: what is left of its time, and some of what it took where that is over."""
    return max(1.0, takes_s - (now - begun), (now - begun) / 4)


class State:
    """One service over one open home; every method may be called from any thread."""

    def __init__(self, workbench: Workbench, dataset: str = "") -> None:
        """Take the home; a request that names no dataset means this one, '' = the job trace that was loaded last."""
        self.workbench, self._default = workbench, dataset
        self._held, self._audit = Held(), Audit(workbench.settings.home)
        self._rests_on = {FORECASTER: (workbench.profiles, workbench.forecaster), SIZES: (workbench.verdict,)}
        # (what, dataset) -> value, when it was looked at, hash of the dataset that it is of
        self._current: dict[tuple[str, str], tuple[Any, float, str]] = {}
        self._journals: dict[str, Journal] = {}
        self._places: dict[str, str] = {}  # hash of a dataset -> that of its journal
        self._drift: dict[str, Any] = {}
        self._hashes: dict[str, tuple[str, float]] = {}
        self._decided: dict[str, tuple[Sized, tuple[Decision, ...]]] = {}
        self.checked: tuple[Checked, ...] = ()  # alerts as they were looked at last
        self._checked_at = -math.inf
        # who handed runs in to which dataset -> how many are not in the audit log yet, and when that was written last
        self._handed_in: dict[tuple[str, Role, str], tuple[int, float]] = {}
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._folding = threading.Thread(target=self._look_after, daemon=True, name="feedback")
        self._folding.start()

    def close(self, within_s: float = 60.0) -> None:
        """Write what waits and let the files go; what the feedback loop is at goes on for so long at most."""
        self._ended.set()
        self._held.close()
        self._folding.join(within_s)
        for journal in self._journals.values():
            journal.close()
        self._note_rest(-math.inf)

    def hash_of(self, dataset: str) -> str:
        """The hash of a dataset of jobs, of the usual one for ''.

        Raises:
            BadFields: for a text that is no name.
            DatasetUnknown: names what there is.
            NotEnoughData: when none is named and there is none.
        """
        self.refuse_long(dataset)
        name = dataset or self._default
        known, when = self._hashes.get(name, ("", 0.0))
        if known and time.monotonic() - when < CATALOGUE_S:
            return known
        result = self._hash_of(name)
        if len(self._hashes) > MOST_NAMES:
            self._hashes = {}
        self._hashes[name] = (result, time.monotonic())
        return result

    def refuse_long(self, dataset: str) -> None:
        """Refuse a text that is longer than the name of any dataset with its scope; raises BadFields."""
        if len(dataset) > LONGEST_NAME:
            raise BadFields([FieldProblem("dataset", dataset, NAMED)])

    def _hash_of(self, name: str) -> str:
        if name:
            return self.workbench._jobs_of(name).hash
        jobs = [entry for entry in self.workbench.datasets() if entry.kind == JOBS]
        if not jobs:
            raise NotEnoughData("there is no job trace; load one with `workprof ingest FILE`")
        return jobs[0].hash

    def at_hand(self, what: str, dataset: str) -> Any:
        """A model, or the sizes, of a dataset where they were looked at just now; else None."""
        value, when, _ = self._current.get((what, dataset), (None, 0.0, ""))
        return value if time.monotonic() - when < CATALOGUE_S else None

    def model(self, dataset: str = "") -> Model:
        """The forecaster of a dataset, the one before while a new import is learned; raises as `Held.get`."""

        def make(chosen: str) -> Model:
            return load_model(self.workbench, chosen, self._reader(chosen))

        return self._of(FORECASTER, dataset, make)

    def sizes(self, dataset: str = "") -> Sized:
        """The rows of memory of a dataset, as people decided by now; raises as `Held.get`."""

        def make(chosen: str) -> Sized:
            result = self.workbench.verdict(chosen)
            learned = learned_of(self.workbench, self.workbench.verdict, chosen)
            return Sized(learned, result, Sizes(result.memory), self._reader(chosen, KEY_COLUMNS))

        def dress(made: Sized, chosen: str) -> Sized:
            now = self.workbench.decisions(chosen)
            sized, kept = self._decided.get(chosen, (made, ()))
            if now != kept or sized.learned is not made.learned:
                verdict = decided(made.verdict, now, scope=split(chosen)[1])
                sized = replace(made, verdict=verdict, sizes=Sizes(verdict.memory))
            if len(self._decided) > MOST_NAMES:
                self._decided = {}
            self._decided[chosen] = (sized, now)
            return sized

        return self._of(SIZES, dataset, make, dress)

    def _of(
        self,
        what: str,
        dataset: str,
        make: Callable[[str], Made],
        dress: Callable[[Made, str], Made] = lambda made, _: made,
    ) -> Made:
        place, chosen = (what, dataset), self.hash_of(dataset)

        def of_one_hash() -> Made:
            made = make(chosen)
            self.workbench.refuse_replaced(chosen)  # its parts may be of before and of after a refresh
            return made

        try:
            made = self._held.get((what, chosen), of_one_hash, lambda: self._usual_s(chosen, self._rests_on[what]))
        except NotReady:
            if place not in self._current:
                raise
            made, _, of = self._current[place]
        else:
            made, of = self._called(dress(made, chosen), self.workbench.dataset(chosen).name), chosen
        former = self._current.get(place, (None, 0.0, of))[2]
        if len(self._current) > MOST_NAMES:
            self._current = {}
        self._current[place] = (made, time.monotonic(), of)
        if former != of and all(one != former for _, _, one in self._current.values()):
            self._held.drop((what, former))
        return made

    @staticmethod
    def _called(made: Any, name: str) -> Any:
        """The same under the name that its dataset has now."""
        return made if made.learned.dataset == name else replace(made, learned=replace(made.learned, dataset=name))

    def _reader(self, chosen: str, further: Sequence[str] = ()) -> FieldReader:
        report = self.workbench.ingest_report(chosen)
        return FieldReader.of_trace(report.format, report.mapping, further)

    def _usual_s(self, chosen: str, questions: Sequence[Any]) -> float:
        """How long the results of some questions should take: as the last ones here, by the number of rows."""
        runs, entries = self.workbench.stored_runs(), self.workbench.datasets()
        rows, own = {one.hash: one.rows for one in entries}, self.workbench.dataset(chosen).rows
        takes_s = LOAD_S
        for question in questions:
            step, key = question.declared.question.step.name, question.key(chosen)
            if all(run.key != key for run in runs):
                past = next((one for one in runs if one.step == step and rows.get(one.dataset_hash)), None)
                takes_s += past.seconds * max(1.0, own / rows[past.dataset_hash]) if past else FIRST_S
        return takes_s

    def journal(self, dataset: str = "") -> Journal:
        """The finished runs of a whole dataset, of whatever part of it they were told; also those of before refreshes.

        Raises:
            WorkprofError: where WORKPROF_READONLY is set, or (NotAllowed) the role is a viewer's.
            HomeBusy: when another process takes them.
        """
        self.workbench.refuse(OBSERVE)
        place, home = self._place(dataset), self.workbench.settings.home
        with self._guard:
            if place not in self._journals:
                self._journals[place] = Journal(home, place)
            return self._journals[place]

    def kept_journal(self, dataset: str = "") -> Journal | None:
        """The same where runs were handed in already, else None; raises as the other."""
        self.workbench.refuse(OBSERVE)
        there = place_of(self.workbench.settings.home, self._place(dataset)).exists()
        return self.journal(dataset) if there else None

    def _place(self, dataset: str) -> str:
        """The hash by which finished runs of a dataset are kept: that of when the first were handed in."""
        chosen = split(self.hash_of(dataset))[0]
        if chosen not in self._places:
            home, hashes = self.workbench.settings.home, (chosen, *self.workbench.former_hashes(chosen))
            kept = next((one for one in hashes if place_of(home, one).exists()), chosen)
            self._places = {chosen: kept} if len(self._places) > MOST_NAMES else self._places | {chosen: kept}
        return self._places[chosen]

    def note(self, who: tuple[str, Role], dataset: str, n_runs: int) -> None:
        """Tell the audit log who handed runs in: at once, and what comes within a minute of that together."""
        with self._guard:
            before, when = self._handed_in.get((*who, dataset), (0, -math.inf))
            self._handed_in[*who, dataset] = (before + n_runs, when)
        self._note_rest(NOTE_EVERY_S)

    def _note_rest(self, older_s: float) -> None:
        now = time.monotonic()
        with self._guard:
            due = {key: n for key, (n, when) in self._handed_in.items() if n and now - when >= older_s}
            old = {key: one for key, one in self._handed_in.items() if one[0] or now - one[1] < NOTE_EVERY_S}
            self._handed_in = old | dict.fromkeys(due, (0, now))
        for (name, role, dataset), n_runs in due.items():
            self._audit.note(OBSERVE.name, f"{dataset}: {n_runs:,}", role, who=name, door=DOOR)

    @property
    def n_observed(self) -> int:
        """Finished runs kept, of every dataset that was asked about."""
        return sum(map(len, list(self._journals.values())))

    def run_reader(self, dataset: str = "") -> FieldReader:
        """What reads finished runs: every field, and every number that the dataset has.

        A column of the trace of which a field is made, as the CPUs of Slurm, is that field.
        """
        chosen = self.hash_of(dataset)
        fields = [name for name in FIELDS if name != "windows"]
        taken = self._reader(chosen, fields).allowed
        columns = [one.name for one in self.workbench.columns(chosen) if one.numeric and not one.truth]
        return self._reader(chosen, (*fields, *(name for name in columns if name not in taken)))

    def not_finished(self, runs: Sequence[Run], dataset: str = "") -> dict[str, int]:
        """Cause -> how many of some runs did not finish for it; the feedback loop leaves them out."""
        told = [one.fields for one in runs if "status" in one.fields]
        report = self.workbench.ingest_report(self.hash_of(dataset))
        return counts_of(with_finished_told(pd.DataFrame(told), report.format)) if told else {}

    def drift(self, dataset: str = "") -> Any:
        """What the finished runs showed at the last look, None before the first."""
        return self._drift.get(self._place(dataset))

    def ready(self) -> tuple[str, float]:
        """What the service still waits for, and s until it should be there; '' = ready."""
        waits, wait_s = "", 0.0
        for what, make in (("predictions", self.model), ("sizes", self.sizes)):  # both are begun
            try:
                make()
            except NotReady as error:
                waits, wait_s = waits or str(error), max(wait_s, error.wait_s)
            except WorkprofError as error:
                waits, wait_s = waits or f"no {what}: {error}", max(wait_s, AGAIN_AFTER_S)
        return waits, wait_s

    def _look_after(self) -> None:
        """Fold finished runs in, and begin with the models of what was imported since, until the service ends."""
        act_as(Actor(whoami(), DOOR))
        self._begin_with_kept()
        while not self._ended.wait(FOLD_EVERY_S):
            for what, dataset in list(self._current):
                with contextlib.suppress(NotReady, WorkprofError):
                    self.model(dataset) if what == FORECASTER else self.sizes(dataset)
            self._check()
            self._note_rest(NOTE_EVERY_S)
            for chosen, journal in list(self._journals.items()):
                try:
                    self._fold(chosen, journal)
                except WorkprofError as error:
                    self._drift[chosen] = {"waiting": str(error)}
                except Exception:
                    LOG.exception("finished runs were kept and not folded in")
                    self._drift[chosen] = {"waiting": "the log says why the feedback loop did not go on"}

    def _begin_with_kept(self) -> None:
        """Load what is kept of the usual dataset, so that who asks first does not wait for it; compute nothing."""
        for made, rests_on in ((self.model, self._rests_on[FORECASTER]), (self.sizes, self._rests_on[SIZES])):
            with contextlib.suppress(NotReady, WorkprofError):
                if self._usual_s(self.hash_of(""), rests_on) <= LOAD_S:
                    made()

    def _check(self) -> None:
        """Look at the alerts once in a while; what rests on a new dataset is computed here."""
        if time.monotonic() - self._checked_at < CHECK_EVERY_S:
            return
        try:
            self.checked = checked(self.workbench, self.workbench.alerts())
        except WorkprofError as error:
            LOG.warning("alerts could not be looked at: %s", error)
        except Exception:
            LOG.exception("alerts could not be looked at")
        self._checked_at = time.monotonic()

    def _fold(self, chosen: str, journal: Journal) -> None:
        """Fold the next part of the finished runs in."""
        part = journal.part()
        if part is None:
            return
        runs, end = part
        act_as(Actor("", DOOR))
        try:
            seen = self.workbench.observe(chosen, runs)
        except (ColumnMissing, NoRows, NotEnoughData) as error:
            self._drift[chosen] = {"not_used": len(runs), "reason": str(error)}
        else:
            self._drift[chosen] = answer_json(observed_answer(seen))
        finally:
            act_as(Actor(whoami(), DOOR))
        journal.done(end)
