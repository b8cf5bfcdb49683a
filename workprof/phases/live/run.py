"""A run while it is being recorded: phases so far, and the nearest known workload so far."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.phases.changepoints.online import OnlineDetector, OnlineState
from workprof.phases.fingerprints.given_phases import fingerprint_of_phases
from workprof.phases.fingerprints.normalise import normalised
from workprof.phases.live.library import LiveLibrary
from workprof.phases.matching.detector import Detector
from workprof.phases.matching.matching import Match, match
from workprof.phases.runs import Run

SHOWN_S = 120.0
MOST_MISSED = 600
"""Of a longer gap only so many steps are filled in."""

FEWEST_TO_MATCH = 8


@dataclass(frozen=True)
class LiveView:
    """How a recording stands.

    Attributes:
        counters: that are followed.
        t_s: (T,) times of the last two minutes, as recorded.
        recorded: (n_counters, T) values, NaN = missing.
        changes_s: of each counter, where phases begin so far. Provisional: later samples may refute them.
        recent: (n_counters,) probability of a change within the last 3 samples, 0-1.
        n_ticks: steps so far, missed ones included.
        n_missed: steps without a sample.
        from_s: where following began, as recorded.
        match: the nearest known workload so far; None before there are enough samples.
    """

    counters: tuple[str, ...]
    t_s: Floats
    recorded: Floats
    changes_s: tuple[tuple[float, ...], ...]
    recent: Floats
    n_ticks: int
    n_missed: int
    from_s: float
    match: Match | None


class LiveRun:
    """Takes the samples of one run as they come. In memory only."""

    def __init__(self, known: LiveLibrary, recognise: Detector | None, workload: str, run: str) -> None:
        self._recognise = recognise
        self._known = known
        self._name = (workload, run)
        library = known.library
        self.asked = library.settings.counters
        self._kept = np.flatnonzero(library.fingerprints.normaliser.kept)
        changes = replace(library.settings.fingerprints.change_points, method="bcpd")
        self._detector = OnlineDetector(changes, len(self._kept), known.noise_sd, known.level)
        self._state: OnlineState | None = None
        self._rows: list[Floats] = []
        self._t: list[float] = []
        self._n_missed = 0

    def take(self, t_s: float, values: Floats) -> None:
        """Take one sample: time, and a value for each of `asked`, NaN = missing. Missed steps count as such."""
        step_s = self._known.library.step_s
        missed = max(0, round((t_s - self._t[-1]) / step_s) - 1) if self._t else 0
        for _ in range(min(missed, MOST_MISSED)):
            self._tick(self._t[-1] + step_s, np.full(len(self.asked), math.nan))
            self._n_missed += 1
        self._tick(t_s, values)

    def view(self, before: Match | None = None, *, rematch: bool = True) -> LiveView:
        """Return how the run stands; without `rematch` with the match of before."""
        state = self._state
        n = len(self._kept)
        t, recorded = np.array(self._t), np.array(self._rows).T if self._rows else np.zeros((n, 0))
        changes = [self._detector.changes(i) for i in range(n)]
        last = t > (t[-1] - SHOWN_S) if len(t) else np.zeros(0, bool)
        step_s = self._known.library.step_s
        found = before
        if rematch and len(t) >= FEWEST_TO_MATCH:
            found = self._match(changes)
        return LiveView(
            counters=self._known.library.fingerprints.normaliser.counters,
            t_s=t[last],
            recorded=recorded[:, last],
            changes_s=tuple(tuple(float(t[i] - step_s) for i in own) for own in changes),
            recent=np.zeros(n) if state is None else state.recent,
            n_ticks=len(t),
            n_missed=self._n_missed,
            from_s=float(t[0] - step_s) if len(t) else 0.0,
            match=found,
        )

    def _tick(self, t_s: float, values: Floats) -> None:
        raw = values[self._kept]
        run = Run("", "", values[:, None], 0.0, 0, ())
        library = self._known.library
        scaled = normalised(run, library.fingerprints.normaliser, library.settings.fingerprints).for_phases[:, 0]
        self._state = self._detector.update(np.where(np.isnan(raw), np.nan, scaled))
        self._t.append(t_s)
        self._rows.append(raw)

    def _match(self, changes: list[Ints]) -> Match:
        library = self._known.library
        given = np.full((len(self.asked), len(self._rows)), np.nan)
        given[self._kept] = np.array(self._rows).T
        run = Run(*self._name, given, 0.0, 0, ())
        series = normalised(run, library.fingerprints.normaliser, library.settings.fingerprints)
        flags = np.zeros(len(changes), dtype=bool)
        one = fingerprint_of_phases(run, series, changes, flags, library.settings.fingerprints.distribution)
        return match(library, one, self._recognise)
