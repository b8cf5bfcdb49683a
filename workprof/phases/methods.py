"""The phases of one run by every method side by side, and how far they agree with the Bayesian search."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.progress import Progress, silent
from workprof.core.shown import Shown
from workprof.core.text import near
from workprof.phases.changepoints import METHOD_WORDS, change_points
from workprof.phases.fingerprints import fit_normaliser, normalised
from workprof.phases.library import LibrarySettings
from workprof.phases.runs import find_run, runs_of
from workprof.phases.timeline import OneRun, movement, smoothed

if TYPE_CHECKING:
    import pandas as pd

REFERENCE = "bcpd"
METHODS = (REFERENCE, *(name for name in METHOD_WORDS if name != REFERENCE))


@settings
class MethodsSettings:
    """One run by every method; its counters are searched as the settings of the library say, but for the method."""

    run: OneRun = ""
    counter: Annotated[
        str,
        Setting(
            "Counter that is drawn.",
            key="phases_methods_counter",
            label="Counter drawn",
            empty="the one that moves most",
        ),
    ] = ""
    margin: Annotated[
        int,
        Setting("Changes so close count as the same.", unit="samples", least=1, key="phases_methods_margin"),
    ] = 2
    library: LibrarySettings = field(default_factory=LibrarySettings)


@dataclass(frozen=True)
class MethodLine:
    """One method beside the Bayesian search; means over the counters in which a change can be looked for."""

    method: str
    changes: float  # of a counter
    precision: float  # share of its changes that the Bayesian search has, too; NaN where neither has any
    recall: float  # share of the changes of the Bayesian search that it has, too; likewise
    rand_index: float  # 0-1, of both divisions of the samples; 1 = the same phases
    hausdorff_s: float  # the largest distance of a change from the nearest one of the other; NaN without any of both
    seconds: float  # of the search


@dataclass(frozen=True, repr=False)
class Methods(Shown):
    """The phases of one run by every method."""

    workload: str  # its label, '' where unknown
    run: str  # its name
    step_s: float  # of the grid
    counter: str  # that is drawn
    recorded: Floats  # (T,) its values as recorded, NaN = missing
    changes: dict[str, Ints]  # method -> (n,) changes of the counter that is drawn, in samples
    agreement: dict[str, Floats]  # method -> (T,) share of the counters with a change within one sample
    lines: tuple[MethodLine, ...]  # the Bayesian search first
    n_counters: int  # that were compared
    margin: int  # samples
    seconds: float  # it took


def methods(frames: Mapping[str, pd.DataFrame], settings: MethodsSettings, progress: Progress = silent) -> Methods:
    """The phases of one run of 'samples' by every method.

    Raises SettingsError when there is no such run or counter.

    Source: `ruptures.metrics` (precision_recall, randindex, hausdorff), counter by counter.
    """
    started = time.perf_counter()
    runs, fingerprints = runs_of(frames["samples"], settings.library.counters), settings.library.fingerprints
    run = runs.runs[find_run(runs, settings.run)]
    normaliser = fit_normaliser(runs.runs, runs.counters, fingerprints)
    series = normalised(run, normaliser, fingerprints)
    names = normaliser.counters
    if settings.counter and settings.counter not in names:
        raise SettingsError(f"counter is {settings.counter!r}, which is none here{near(settings.counter, names)}")
    found = {}
    for place, method in enumerate(METHODS):
        progress(place / len(METHODS), f"change points by {METHOD_WORDS[method]}")
        found[method] = change_points(series.for_phases, replace(fingerprints.change_points, method=method))
    usable = np.flatnonzero(~found[REFERENCE].flags)
    drawn = names.index(settings.counter) if settings.counter else _moving_most(series.for_statistics)
    lines = []
    for method, points in found.items():
        pairs = [(found[REFERENCE].boundaries_of(at), points.boundaries_of(at)) for at in usable.tolist()]
        scores = np.array([agreement(*pair, points.n_samples, settings.margin) for pair in pairs]).reshape(-1, 4)
        n_changes = np.mean([len(own) for _, own in pairs]) if pairs else 0.0
        precision, recall, rand, apart = (_mean(column) for column in scores.T)
        lines.append(MethodLine(method, float(n_changes), precision, recall, rand, apart * runs.step_s, points.seconds))
    return Methods(
        workload=run.workload,
        run=run.run,
        step_s=runs.step_s,
        counter=names[drawn],
        recorded=run.values[normaliser.kept][drawn],
        changes={method: points.boundaries_of(drawn) for method, points in found.items()},
        agreement={method: points.agreement for method, points in found.items()},
        lines=tuple(lines),
        n_counters=len(usable),
        margin=settings.margin,
        seconds=time.perf_counter() - started,
    )


def agreement(reference: Ints, changes: Ints, n_samples: int, margin: int) -> tuple[float, float, float, float]:
    """Precision, recall, Rand index and Hausdorff distance (samples) of changes beside those of a reference.

    Precision and recall are NaN where neither has a change, 0 where one has none; the distance is NaN in both cases.
    """
    from ruptures.metrics import hausdorff, precision_recall, randindex  # noqa: PLC0415  heavy

    ours, theirs = [*reference.tolist(), n_samples], [*changes.tolist(), n_samples]
    rand = float(randindex(ours, theirs))
    if not len(reference) or not len(changes):
        share = 0.0 if len(reference) or len(changes) else float("nan")
        return share, share, rand, float("nan")
    precision, recall = precision_recall(ours, theirs, margin=margin)
    return float(precision), float(recall), rand, float(hausdorff(ours, theirs))


def _moving_most(series: Floats) -> int:
    return int(movement(smoothed(series)).argmax())


def _mean(values: Floats) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")
