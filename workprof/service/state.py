"""What a running service holds: the open home, the model of each dataset that is asked about, and finished runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from workprof.answers.feedback import observed_answer
from workprof.core.answer import to_json as answer_json
from workprof.core.errors import ColumnMissing, NoRows, NotEnoughData, WorkprofError
from workprof.formats import rules_of
from workprof.formats.fields import FIELDS, TEXT_FIELDS
from workprof.memory.decided import decided
from workprof.memory.decisions import Decision
from workprof.memory.resources import KEY_COLUMNS
from workprof.memory.verdict import Verdict
from workprof.memory.verdict_sizes import Sizes
from workprof.service.jobs import FieldReader
from workprof.service.observations import Journal
from workprof.service.prediction import Model, load_model
from workprof.workbench import JOBS, Workbench

LOG = logging.getLogger(__name__)
Made = TypeVar("Made")
FOLD_EVERY_S = 2.0
AGAIN_AFTER_S = 30.0
CATALOGUE_S = 0.2
"""How long a name means the same dataset without a look at the catalogue."""
MOST_NAMES = 100


class NotReady(Exception):
    """What is needed is still being made."""


@dataclass(frozen=True)
class Sized:
    """The verdict on a dataset, its rows of memory by their keys, and what reads the jobs that ask for them."""

    dataset: str
    verdict: Verdict
    sizes: Sizes
    reader: FieldReader


class Held:
    """Values that are made once by name, each in a thread of its own; whoever asks meanwhile is told so."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._made: dict[Any, Any] = {}
        self._running: set[Any] = set()
        self._failed: dict[Any, tuple[WorkprofError, float]] = {}

    def get(self, key: Any, make: Callable[[], Made]) -> Made:
        """The value of a key.

        Raises:
            NotReady: while it is made.
            WorkprofError: when it could not be made; it is tried again after half a minute.
        """
        result: Made | None = self._made.get(key)
        if result is not None:
            return result
        with self._guard:
            error, when = self._failed.get(key, (None, 0.0))
            if error is not None and time.monotonic() - when < AGAIN_AFTER_S:
                raise error
            if key not in self._running:
                self._running.add(key)
                threading.Thread(target=self._make, args=(key, make), daemon=True, name=f"make {key}").start()
        raise NotReady(f"{' of '.join(map(str, key))} is being made; ask again in some seconds")

    def _make(self, key: Any, make: Callable[[], Any]) -> None:
        try:
            made = make()
            with self._guard:
                self._made[key] = made
                self._failed.pop(key, None)
        except WorkprofError as error:
            with self._guard:
                self._failed[key] = (error, time.monotonic())
        except Exception:
            LOG.exception("%s could not be made", key)
            with self._guard:
                self._failed[key] = (WorkprofError(f"{key[0]} could not be made; the log says why"), time.monotonic())
        finally:
            with self._guard:
                self._running.discard(key)


class State:
    """One service over one open home; every method may be called from any thread."""

    def __init__(self, workbench: Workbench, dataset: str = "") -> None:
        """Take the home; a request that names no dataset means this one, '' = the job trace that was loaded last."""
        self.workbench, self._default = workbench, dataset
        self._held = Held()
        self._journals: dict[str, Journal] = {}
        self._drift: dict[str, Any] = {}
        self._hashes: dict[str, tuple[str, float]] = {}
        self._decided: dict[str, tuple[Sized, tuple[Decision, ...] | None, float]] = {}
        self._guard = threading.Lock()
        self._ended = threading.Event()
        self._folding = threading.Thread(target=self._fold_all, daemon=True, name="feedback")
        self._folding.start()

    def close(self) -> None:
        """Write what waits and let the files go."""
        self._ended.set()
        self._folding.join()
        for journal in self._journals.values():
            journal.close()

    def hash_of(self, dataset: str) -> str:
        """The hash of a dataset of jobs, of the usual one for ''.

        Raises:
            DatasetUnknown: names what there is.
            NotEnoughData: when none is named and there is none.
        """
        name = dataset or self._default
        known, when = self._hashes.get(name, ("", 0.0))
        if known and time.monotonic() - when < CATALOGUE_S:
            return known
        result = self._hash_of(name)
        if len(self._hashes) > MOST_NAMES:
            self._hashes = {}
        self._hashes[name] = (result, time.monotonic())
        return result

    def _hash_of(self, name: str) -> str:
        if name:
            return self.workbench._jobs_of(name).hash
        jobs = [entry for entry in self.workbench.datasets() if entry.kind == JOBS]
        if not jobs:
            raise NotEnoughData("there is no job trace; load one with `workprof ingest FILE`")
        return jobs[0].hash

    def model(self, dataset: str = "") -> Model:
        """The forecaster of a dataset; raises as `Held.get`."""
        chosen = self.hash_of(dataset)
        return self._held.get(("forecaster", chosen), lambda: load_model(self.workbench, chosen))

    def sizes(self, dataset: str = "") -> Sized:
        """The rows of memory of a dataset; raises as `Held.get`."""
        chosen = self.hash_of(dataset)

        def make() -> Sized:
            result, entry = self.workbench.verdict(chosen), self.workbench.dataset(chosen)
            return Sized(entry.name, result, Sizes(result.memory), FieldReader(rules_of(entry.format), KEY_COLUMNS))

        made = self._held.get(("sizes", chosen), make)
        sized, kept, when = self._decided.get(chosen, (made, None, 0.0))
        if time.monotonic() - when >= CATALOGUE_S:  # somebody may have decided about a row
            now = self.workbench.decisions(chosen)
            if now != kept:
                verdict = decided(made.verdict, now)
                sized = replace(made, verdict=verdict, sizes=Sizes(verdict.memory))
            self._decided[chosen] = (sized, now, time.monotonic())
        return sized

    def journal(self, dataset: str = "") -> Journal:
        """The finished runs of a dataset.

        Raises:
            WorkprofError: where WORKPROF_READONLY is set.
            HomeBusy: when another process takes them.
        """
        if self.workbench.settings.readonly:
            raise WorkprofError("WORKPROF_READONLY is set: finished runs cannot be kept here; unset it to observe")
        chosen = self.hash_of(dataset)
        with self._guard:
            if chosen not in self._journals:
                self._journals[chosen] = Journal(self.workbench.settings.home, chosen)
            return self._journals[chosen]

    @property
    def n_observed(self) -> int:
        """Finished runs kept, of every dataset that was asked about."""
        return sum(map(len, list(self._journals.values())))

    def run_reader(self, dataset: str = "") -> FieldReader:
        """What reads finished runs: every field, and every number that the dataset has."""
        chosen = self.hash_of(dataset)
        entry = self.workbench.dataset(chosen)
        own = [column.name for column in self.workbench.columns(chosen) if column.numeric and not column.truth]
        further = [name for name in dict.fromkeys((*FIELDS, *own)) if name not in TEXT_FIELDS]
        return FieldReader(rules_of(entry.format), further)

    def drift(self, dataset: str = "") -> Any:
        """What the finished runs showed at the last look, None before the first."""
        return self._drift.get(self.hash_of(dataset))

    def ready(self) -> str:
        """What the service still waits for; '' = ready."""
        waits = ""
        for what, make in (("predictions", self.model), ("sizes", self.sizes)):  # both are begun
            try:
                make()
            except NotReady as error:
                waits = waits or str(error)
            except WorkprofError as error:
                waits = waits or f"no {what}: {error}"
        return waits

    def _fold_all(self) -> None:
        while not self._ended.wait(FOLD_EVERY_S):
            for chosen, journal in list(self._journals.items()):
                try:
                    self._fold(chosen, journal)
                except WorkprofError as error:
                    self._drift[chosen] = {"waiting": str(error)}
                except Exception:
                    LOG.exception("finished runs were kept and not folded in")
                    self._drift[chosen] = {"waiting": "the log says why the feedback loop did not go on"}

    def _fold(self, chosen: str, journal: Journal) -> None:
        """Fold the next part of the finished runs in."""
        part = journal.part()
        if part is None:
            return
        runs, end = part
        try:
            seen = self.workbench.observe(chosen, runs)
        except (ColumnMissing, NoRows, NotEnoughData) as error:
            self._drift[chosen] = {"not_used": len(runs), "reason": str(error)}
        else:
            self._drift[chosen] = answer_json(observed_answer(seen))
        journal.done(end)
