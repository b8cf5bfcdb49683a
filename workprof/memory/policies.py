"""Sizing policies: ours, the published ones, oracles; one interface."""

from __future__ import annotations

import math
import warnings
from bisect import insort
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.units import DAY_S
from workprof.memory.bin_search import best_edges, needs_of
from workprof.memory.retry import RetrySettings, Sizes, only

if TYPE_CHECKING:
    from workprof.memory.conditional import Outlook


@settings
class SizingSettings:
    """What the policy `workprof` assumes: priors, fitted to no table, checked at half and twice their size."""

    price_runs: Annotated[
        float,
        Setting(
            "Cost of a failure for workprof beyond what its attempt holds; 0 = waste alone.",
            unit="mean runs",
            least=0,
            most=1e6,
            flag="--failure-cost",
            also=("--price",),
            key="memory_price_runs",
            label="Cost per failure",
        ),
    ] = 0.05
    by_input: Annotated[
        bool,
        Setting(
            "Runs with a like input count more, and sizes are carried along the input; else the task alone counts.",
            key="memory_by_input",
            label="Size by input",
        ),
    ] = True
    by_labels: Annotated[
        bool,
        Setting(
            "In the order of submission, runs of the same user, group, workload and request count more, those of other "
            "tasks a little; else the task alone counts.",
            key="memory_by_labels",
            label="Size by all that is known at submission",
        ),
    ] = True
    quorum: Annotated[
        float,
        Setting(
            "Share of the votes of all predictors that must hold a size for enough.",
            unit="share",
            above=0,
            most=1,
            key="memory_quorum",
        ),
    ] = 0.7
    sharpness: Annotated[
        float, Setting("How fast a predictor that did worse loses its vote.", least=0, key="memory_sharpness")
    ] = 4.0
    lift: Annotated[
        float,
        Setting("Size after a failure over the largest use seen, at least.", unit="times", least=1, key="memory_lift"),
    ] = 1.05
    unseen_runs: Annotated[
        float,
        Setting(
            "Runs above all seen ones that are expected next to those; 1/2 is Jeffreys' prior.",
            unit="runs",
            above=0,
            key="memory_unseen_runs",
        ),
    ] = 0.25
    jump_share: Annotated[
        float,
        Setting(
            "Share of the unseen runs that jump instead of continuing the tail.",
            unit="share",
            least=0,
            most=1,
            key="memory_jump_share",
        ),
    ] = 0.1
    jump_scale: Annotated[float, Setting("Mean logarithm of a jump.", above=0, key="memory_jump_scale")] = 0.05
    least_scale: Annotated[
        float, Setting("Smallest mean logarithm of the tail's steps.", above=0, key="memory_least_scale")
    ] = 0.001
    chance: Annotated[
        float,
        Setting(
            "Largest estimated chance of a failure where a size is above every past one; 1 = no limit.",
            unit="share",
            above=0,
            most=1,
            key="memory_chance",
            label="Chance of failure",
        ),
    ] = 1.0
    cautious: Annotated[
        bool,
        Setting(
            "Not above KRR's size (1.15 x the largest use seen), except where that costs next to nothing; not below "
            "what a run with a like input has used; only predictors count that failed no more past runs than KRR.",
            key="memory_cautious",
            label="No more failures than KRR",
        ),
    ] = False


POLICY_WORDS = {
    "workprof": "workprof",
    "workprof_task": "workprof, task alone",
    "workprof_cautious": "workprof, cautious",
    "preset": "current request",
    "p95": "p95",
    "krr": "KRR rule",
    "vpa": "VPA rule",
    "tovar": "Tovar PPM",
    "witt_lr": "Witt-LR",
    "ponder": "Ponder",
    "site_rule": "site rule",
    "linear_offset": "line + offset",
    "thesis_bins": "thesis bins",
    "thesis_bins_svm": "thesis bins, SVM",
    "quantile_ensemble": "quantile ensemble",
    "min_waste": "min waste",
    "local_min_waste": "local min waste",
    "oracle_bins": "oracle, bins",
    "oracle_bins_free": "oracle, bins, free top",
    "oracle_exact": "oracle, exact",
}
"""Policy -> its name on pages and in text."""

DEFAULT = SizingSettings()

CAUTIOUS = SizingSettings(price_runs=300.0, by_labels=False, unseen_runs=0.5, chance=0.001, cautious=True)
"""Failures of KRR at most, with less waste: a failure costs 300 mean runs, its chance is at most one in a thousand."""


FROM_PEERS, FROM_HISTORY, FROM_REQUEST, FROM_NODE, FROM_USE = "peers", "history", "request", "node", "true use"
"""What a run was sized from: known runs of the trace, of earlier traces, its request, a whole node, its own use."""


REFIT_EACH = 1000
"""Up to so many known runs a policy whose fit looks at all of them is fitted anew for every run."""

REFIT_GROWTH = 0.02
"""Beyond, it is fitted anew whenever the known runs have grown by this share."""


@dataclass(frozen=True)
class Sequence:
    """The runs of one task in the order in which they become known, and the moments at which runs are sized."""

    task: str
    used_bytes: Floats  # (n,) what they used
    hours: Floats  # (n,) run times
    requested_bytes: Floats  # (n,) what was requested; NaN where nothing was
    inputs: Floats  # (n,) size of the input, all 0 where a replay has none
    n_known: int  # runs that are known when the first one is sized
    # the unit of prices, bytes x hours of the mean run of all tasks: (n_sized,) of those known when each is sized, 0
    # where none is; or one number for all
    mean_run_byte_h: Floats | float
    seed: int = 0  # for policies that draw
    # `sized` and `known_at`; without them each run after the first `n_known` is sized from all before it
    schedule: tuple[Ints, Ints] | None = None
    n_history: int = 0  # the first of the runs that come from earlier traces
    # (n,) when they began, NaN where it is not known; empty = no clock
    started_s: Floats = field(default_factory=lambda: np.empty(0))
    ended_s: Floats = field(default_factory=lambda: np.empty(0))  # (n,) when they were over
    # what is known at submission -> (n,) codes, -1 = missing; see `Runs`
    labels: Mapping[str, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.used_bytes)

    @cached_property
    def sized(self) -> Ints:
        """(n_sized,) places of the runs to be sized, in order of their start."""
        return np.arange(self.n_known, len(self)) if self.schedule is None else self.schedule[0]

    @cached_property
    def known_at(self) -> Ints:
        """(n_sized,) number of leading runs that are known when each is sized, never falling."""
        return np.arange(self.n_known, len(self)) if self.schedule is None else self.schedule[1]

    @property
    def n_sized(self) -> int:
        """Runs to be sized."""
        return len(self.sized)

    @property
    def max_seen_bytes(self) -> Floats:
        """(n_sized,) largest use known before each run; NaN where none is."""
        largest = np.maximum.accumulate(self.used_bytes)
        return np.where(self.known_at > 0, largest[self.known_at - 1], np.nan)

    @property
    def mean_runs(self) -> Floats:
        """(n_sized,) bytes x hours of the mean run that is known when each is sized."""
        return np.broadcast_to(self.mean_run_byte_h, self.n_sized)

    def after(self, fewest: int) -> Sequence:
        """The same without the runs to be sized that come when fewer than so many are known."""
        return self.turns(int(np.searchsorted(self.known_at, fewest)))

    def turns(self, first: int, last: int | None = None) -> Sequence:
        """The same with some of the runs to be sized, in their order."""
        sized, known_at = self.sized[first:last], self.known_at[first:last]
        return replace(
            self,
            n_known=int(known_at[0]) if len(known_at) else len(self),
            schedule=(sized, known_at),
            mean_run_byte_h=self.mean_runs[first:last],
        )


class Policy(Protocol):
    """A way to size runs. A size may depend on the runs known by then, and on its own run's request and input only.

    A policy with an attribute `fewest_known` sizes the runs before which so many are known; without it, those that the
    replay's `cold_runs` asks for. Runs before that start at their request.
    """

    name: str

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """Sizes for the (n_sized,) runs."""
        ...


def refits(runs: Sequence) -> Ints:
    """The numbers of known runs at which a policy is fitted: every one, later whenever they grew by 2 %."""
    points, wanted = [], 0
    for n in np.unique(runs.known_at).tolist():
        if n >= wanted:
            points.append(n)
            wanted = n + 1 if n < REFIT_EACH else max(n + 1, int(n * (1 + REFIT_GROWTH)))
    return np.array(points, dtype=np.int64)


def held_until_next(values: Floats, points: Ints, runs: Sequence) -> Floats:
    """(n_sized, ...) values of the latest fit for every run."""
    result: Floats = values[np.searchsorted(points, runs.known_at, side="right") - 1]
    return result


class Preset:
    """The requested size of each run; doubled after a failure. One without takes the most common request so far.

    Source: the harness of Sizey. The table holds finished attempts only, so a preset never fails in it: killed
    attempts are absent, and a retried run stands there with its raised request.
    """

    name = "preset"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The requests; a whole node where none is known."""
        sizes, words = requests_of(runs, retry)
        return replace(only(sizes), sized_from=words)


def requests_of(runs: Sequence, retry: RetrySettings) -> tuple[Floats, NDArray[np.str_]]:
    """(n_sized,) requests of the runs to be sized, a whole node where none is known, and which it is."""
    requests = requests_so_far(runs)
    known = np.isfinite(requests)
    return np.where(known, requests, retry.node_bytes), np.where(known, FROM_REQUEST, FROM_NODE)


def requests_so_far(runs: Sequence) -> Floats:
    """(n_sized,) requests; a run without one takes the most common one of its task by then, NaN before any."""
    requested, own = runs.requested_bytes, runs.requested_bytes[runs.sized]
    if np.isfinite(own).all():
        return own
    never_sized = np.ones(len(runs), dtype=bool)
    never_sized[runs.sized] = False
    counts: Counter[float] = Counter()
    most, upto, result = math.nan, 0, own.copy()
    for i, (place, n) in enumerate(zip(runs.sized.tolist(), runs.known_at.tolist(), strict=True)):
        told = requested[upto:n][never_sized[upto:n]].tolist()  # the others were told when they were sized
        upto = n
        for one in (*told, float(requested[place])):
            if math.isfinite(one):
                counts[one] += 1
                if math.isnan(most) or (-counts[one], one) < (-counts[most], most):
                    most = one
        if not math.isfinite(result[i]):
            result[i] = most
    return result


PERCENTILE_HEADROOM = 1.15
"""VPA and KRR both add 15 %."""


class Percentile95:
    """The 95th percentile of the known uses, linear between order statistics; doubled after a failure.

    Source: Witt et al., as in the published harness of Sizey; seed 1996 gives its figures exactly.
    """

    name = "p95"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The percentiles."""
        return only(rolling_quantile(runs, 0.95))


class Vpa:
    """1.15 x the 90th percentile of the known uses, without decay; the greater of +20 % and +100 MiB after a failure.

    Source: VPA's recommender as in the harness of Sizey; the recommender's half-life of 24 h is left out, since the
    histories have no clock.
    """

    name = "vpa"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        return only(PERCENTILE_HEADROOM * rolling_quantile(runs, 0.90), beyond="more")


class Krr:
    """1.15 x the largest known use; doubled after a failure.

    Source: KRR's strategy as in the harness of Sizey.
    """

    name = "krr"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        return only(PERCENTILE_HEADROOM * runs.max_seen_bytes)


def rolling_quantile(runs: Sequence, share: float) -> Floats:
    """(n_sized,) quantiles of all uses known before each run, as numpy's linear method; they stay sorted."""
    used = runs.used_bytes.tolist()
    n_known, ordered = runs.n_known, sorted(used[: runs.n_known])
    result = np.empty(runs.n_sized)
    for i, n in enumerate(runs.known_at.tolist()):
        for one in used[n_known:n]:
            insort(ordered, one)
        n_known = n
        place = share * (len(ordered) - 1)
        below = int(place)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        part = place - below
        result[i] = low + (high - low) * part if part < 0.5 else high - (high - low) * (1 - part)
    return result


class LinearOffset:
    """The least-squares line of use on input + the offset of least replayed charge among the line's own errors.

    After a failure the largest use seen, then doubled. Source: ours.
    """

    name = "linear_offset"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes; a line that falls below the smallest use seen is followed down to half of that."""
        points = refits(runs)
        fits = held_until_next(np.array([_fit(runs, int(n)) for n in points]), points, runs)
        line = fits[:, 0] + fits[:, 1] * runs.inputs[runs.sized]
        return Sizes(np.maximum(line, fits[:, 2] / 2), runs.max_seen_bytes[:, None])


def _fit(runs: Sequence, n: int) -> tuple[float, float, float]:
    """Intercept with the offset, slope, and smallest use of the first n runs."""
    x, used, hours = runs.inputs[:n], runs.used_bytes[:n], runs.hours[:n]
    away = x - x.mean()
    spread = float(away @ away)
    slope = float(away @ used) / spread if spread > 0 else 0.0
    intercept = float(used.mean()) - slope * float(x.mean())
    errors = used - intercept - slope * x
    order = np.argsort(errors)
    tail = hours.sum() - np.cumsum(hours[order])
    cost = errors[order] * hours.sum() + used.max() * tail
    return intercept + float(errors[order][cost.argmin()]), slope, float(used.min())


MARGIN, LIFT = 1.02, 1.05


class MinWaste:
    """Of the known uses x 1.02, the one of least c x sum of hours + 1.05 x largest use x hours of the runs above c.

    After a failure 1.05 x the largest use, then doubled. Source: ours, without an input.
    """

    name = "min_waste"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        points = refits(runs)
        first = held_until_next(np.array([_cheapest(runs, int(n)) for n in points]), points, runs)
        return Sizes(first, LIFT * runs.max_seen_bytes[:, None])


class LocalMinWaste:
    """The same with every run weighted by its hours x a Gaussian of its distance in log(1 + input).

    The width reaches the k-th nearest run, k = min(n, max(8, 0.15 n)); beyond three widths runs are left out; the
    largest use is that of the whole history. Of more than 400 known runs the latest 400 are looked at.

    Source: ours.
    """

    name = "local_min_waste"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        from workprof.memory.sizing_kernels import local_sizes  # noqa: PLC0415  numba

        logs = np.log1p(np.maximum(runs.inputs, 0.0))
        rows = np.array([runs.used_bytes, runs.hours, logs])
        first = local_sizes(rows, runs.sized, runs.known_at, MARGIN, LIFT)
        return Sizes(first, LIFT * runs.max_seen_bytes[:, None])


def _cheapest(runs: Sequence, n: int) -> float:
    order = np.argsort(runs.used_bytes[:n])
    used, hours = runs.used_bytes[:n][order], runs.hours[:n][order]
    sizes, up_to = MARGIN * used, np.cumsum(hours)
    covered = up_to[np.searchsorted(used, sizes, side="right") - 1]
    return float(sizes[(sizes * up_to[-1] + LIFT * used[-1] * (up_to[-1] - covered)).argmin()])


class Tovar:
    """Over the known uses a: the least of a x mean hours + a_max x mean over all runs of the hours where use > a.

    After a failure the largest use, then a whole node.

    Source: Tovar et al., equation 1 (waste mode), as in the harness of Sizey. Of equal costs the largest size is taken.
    """

    name = "tovar"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        points = refits(runs)
        first = held_until_next(np.array([least_waste(runs, int(n)) for n in points]), points, runs)
        return Sizes(first, runs.max_seen_bytes[:, None], beyond="node")


def least_waste(runs: Sequence, n: int) -> float:
    """The size of the first n runs."""
    order = np.argsort(runs.used_bytes[:n], kind="stable")
    used, hours = runs.used_bytes[:n][order], runs.hours[:n][order]
    distinct, first = np.unique(used, return_index=True)
    up_to = np.concatenate(([0.0], np.cumsum(hours)))
    above = up_to[-1] - up_to[np.append(first[1:], n)]
    cost = (distinct * up_to[-1] + used[-1] * above) / n
    return float(distinct[::-1][cost[::-1].argmin()])


class WittLr:
    """The least-squares line of use on input x (1 + s); s = spread of the line's past relative errors, 0 at first.

    Source: Witt et al., as in the harness of Sizey (STD: the population standard deviation of (used - predicted) /
    used). Isolated: the errors belong to one task, which the harness shares between tasks and variants by mistake. A
    line below zero is floored by the simulator, and such a run is lifted to the largest use seen; others are doubled.
    """

    name = "witt_lr"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes; running sums, so that a run costs the same however many are known.

        The error of a prediction is known when its run is.
        """
        inputs, used, line = runs.inputs.tolist(), runs.used_bytes.tolist(), _Line()
        first, negative = np.empty(runs.n_sized), np.zeros(runs.n_sized, dtype=bool)
        predictions: dict[int, float] = {}
        n_known = n_errors = 0
        mean = squares = 0.0
        for i, (place, n) in enumerate(zip(runs.sized.tolist(), runs.known_at.tolist(), strict=True)):
            for known in range(n_known, n):
                if known in predictions:
                    error = (used[known] - predictions.pop(known)) / used[known]
                    n_errors += 1
                    step = error - mean
                    mean += step / n_errors
                    squares += step * (error - mean)
                line.add(inputs[known], used[known])
            n_known = n
            predicted = predictions[place] = line.at(inputs[place])
            spread = math.sqrt(squares / n_errors) if n_errors else 0.0
            first[i], negative[i] = predicted * (1 + spread), predicted < 0
        steps = np.where(negative, runs.max_seen_bytes, np.nan)
        return Sizes(first, steps[:, None])


class _Line:
    """A least-squares line that takes points one by one (Welford's sums: no cancellation between large squares)."""

    def __init__(self) -> None:
        self.n = 0
        self.mean_x = self.mean_y = self.spread = self.together = 0.0

    def add(self, x: float, y: float) -> None:
        self.n += 1
        step = x - self.mean_x
        self.mean_x += step / self.n
        self.mean_y += (y - self.mean_y) / self.n
        self.spread += step * (x - self.mean_x)
        self.together += step * (y - self.mean_y)

    def at(self, x: float) -> float:
        slope = self.together / self.spread if self.spread > 0 else 0.0
        return self.mean_y + slope * (x - self.mean_x)


LEAST_CORRELATION = 0.3
UNDER_WEIGHT = 9.0
"""An error below the line weighs as much as so many above it: the line runs near the upper tenth."""
REWEIGHTED = 12


class Ponder:
    """By the pattern of a task's demand: a line on the input that avoids to fall short, else the largest known use.

    Where use and input are correlated (Pearson, 0.3 or more) it is the asymmetric least-squares line, at least the
    smallest known use; else, and where inputs are all alike, the largest known use. Both are raised by the standard
    deviation: of the line's errors, of the uses. After a failure the request, where it is larger, then doubled.

    Source: Lehmann et al., Ponder (arXiv 2408.00047), which learns from finished tasks and chooses between methods by
    the pattern of demand; after its description, the constants are ours.
    """

    name = "ponder"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes."""
        points = refits(runs)
        fits = held_until_next(np.array([_asymmetric_fit(runs, int(n)) for n in points]), points, runs)
        line = fits[:, 0] + fits[:, 1] * runs.inputs[runs.sized]
        return Sizes(np.maximum(line, fits[:, 2]), requests_of(runs, retry)[0][:, None])


def _asymmetric_fit(runs: Sequence, n: int) -> tuple[float, float, float]:
    """Intercept with the spread, slope, and smallest size, from the first n runs."""
    x, used = runs.inputs[:n], runs.used_bytes[:n]
    flat = float(used.max() + used.std()), 0.0, float(used.min())
    if np.ptp(x) == 0 or np.ptp(used) == 0 or np.corrcoef(x, used)[0, 1] < LEAST_CORRELATION:
        return flat
    weights, slope, intercept = np.ones(n), 0.0, 0.0
    for _ in range(REWEIGHTED):
        mean_x, mean_y = np.average(x, weights=weights), np.average(used, weights=weights)
        away = weights * (x - mean_x)
        slope = float(away @ (used - mean_y) / (away @ (x - mean_x)))
        intercept = float(mean_y - slope * mean_x)
        weights = np.where(used > intercept + slope * x, UNDER_WEIGHT, 1.0)
    errors = used - intercept - slope * x
    return intercept + float(errors.std()), slope, float(used.min())


SITE_DAYS, SITE_MARGIN = 14.0, 1.2


class SiteRule:
    """1.2 x the largest use of the task's runs that ended in the last 14 days; doubled after a failure.

    A task with none in that time takes its largest use ever, and so does one whose runs have no clock.

    Source: the rule of thumb that sites with Slurm give their users.
    """

    name = "site_rule"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes; the largest of a window that only moves on, kept in a queue of falling uses."""
        if not len(runs.started_s):
            return only(SITE_MARGIN * runs.max_seen_bytes)
        ended = np.where(
            np.isfinite(runs.ended_s), runs.ended_s, np.where(np.arange(len(runs)) < runs.n_history, -np.inf, np.inf)
        )
        over, used = np.maximum.accumulate(ended).tolist(), runs.used_bytes.tolist()
        earliest = np.nan_to_num(runs.started_s[runs.sized], nan=-np.inf) - SITE_DAYS * DAY_S
        largest: deque[int] = deque()
        result, known = runs.max_seen_bytes, 0
        for i, n in enumerate(runs.known_at.tolist()):
            for place in range(known, n):
                while largest and used[largest[-1]] <= used[place]:
                    largest.pop()
                largest.append(place)
            known = n
            while largest and over[largest[0]] < earliest[i]:
                largest.popleft()
            if largest:
                result[i] = used[largest[0]]
        return only(SITE_MARGIN * result)


N_BINS = 3
BIN_HEADROOM = 1.05


class ThesisBins:
    """Three edges by the exact search on the initial history, weighted by time, the top at the largest request.

    Inner edges are raised by 5 % (below the top); the class comes from log(1 + input) alone; a failed run goes to the
    next edge, beyond the top it is doubled. Nothing is learnt after the initial history.

    The model is 'trees' or 'svm'.

    Source: the thesis' section 5: boosted trees (40, depth 2) or a balanced SVM (C = 10).
    """

    def __init__(self, model: str = "trees") -> None:
        self.name = "thesis_bins" if model == "trees" else f"thesis_bins_{model}"
        self._model = model

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes of the predicted bins."""
        edges = pinned_edges(runs, retry, N_BINS)
        x = np.log1p(np.maximum(runs.inputs, 0.0))[:, None]
        true = np.searchsorted(edges, runs.used_bytes[: runs.n_known]).clip(max=len(edges) - 1)
        predicted = self._predicted(x, true, runs)
        return Sizes(edges[predicted], np.tile(edges, (runs.n_sized, 1)))

    def _predicted(self, x: Floats, true: Ints, runs: Sequence) -> Ints:
        counts = np.bincount(true)
        alike = np.ptp(x[: runs.n_known]) == 0 and self._model == "trees" and (counts == counts.max()).sum() == 1
        if alike or len(np.unique(true)) == 1:  # trees that have nothing to split by say the most common class
            return np.full(runs.n_sized, counts.argmax())
        model = _trees(runs.seed) if self._model == "trees" else _svm()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one class with a single run is no news here
            result: Ints = model.fit(x[: runs.n_known], true).predict(x[runs.sized])
        return result


def pinned_edges(runs: Sequence, retry: RetrySettings, n_bins: int) -> Floats:
    """The edges of the initial history: top = largest request, or largest use where that is greater."""
    n = runs.n_known
    used = runs.used_bytes[:n]
    requested = runs.requested_bytes[:n]
    top = float(max(np.nanmax(requested) if np.isfinite(requested).any() else retry.node_bytes, used.max()))
    edges = best_edges(needs_of(used, runs.hours[:n], top), n_bins)[-1].edges_bytes
    return np.append(np.minimum(edges[:-1] * BIN_HEADROOM, top), top)


def _trees(seed: int) -> Any:
    from sklearn.ensemble import GradientBoostingClassifier  # noqa: PLC0415  heavy

    return GradientBoostingClassifier(n_estimators=40, max_depth=2, random_state=seed)


def _svm() -> Any:
    from sklearn.pipeline import make_pipeline  # noqa: PLC0415  heavy
    from sklearn.preprocessing import StandardScaler  # noqa: PLC0415  heavy
    from sklearn.svm import SVC  # noqa: PLC0415  heavy

    return make_pipeline(StandardScaler(), SVC(C=10, class_weight="balanced"))


class OracleBins:
    """The smallest of three edges that covers the true use; the edges come from the initial history.

    With `free_top` the top edge is the largest use seen + 5 % instead of the largest request.

    Source: ours; the true use, so a bound and no policy.
    """

    def __init__(self, *, free_top: bool = False) -> None:
        self.name = "oracle_bins_free" if free_top else "oracle_bins"
        self._free_top = free_top

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The sizes of the true bins; a use beyond the top starts at the top and is doubled."""
        if self._free_top:
            needs = needs_of(runs.used_bytes[: runs.n_known], runs.hours[: runs.n_known])
            edges = BIN_HEADROOM * best_edges(needs, N_BINS)[-1].edges_bytes
        else:
            edges = pinned_edges(runs, retry, N_BINS)
        place = np.searchsorted(edges, runs.used_bytes[runs.sized]).clip(max=len(edges) - 1)
        return Sizes(edges[place], np.tile(edges, (runs.n_sized, 1)), sized_from=np.full(runs.n_sized, FROM_USE))


class OracleExact:
    """Exactly what each run used: nothing is wasted. The spend that no policy can go below."""

    name = "oracle_exact"

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """The uses."""
        return replace(only(runs.used_bytes[runs.sized]), sized_from=np.full(runs.n_sized, FROM_USE))


KINDS = (0, 1, 2, 3)
"""How past sizes are carried to a run's input: as they were, by a line (times, plus), by a power law."""

SHARES = (0.15, 0.4, 1.0)
"""Share of the past that reaches the width of the weights; 1 = all runs alike."""

MARGINS = (0.0, 0.005, 0.02, 0.05)
"""Candidates are past sizes times 1 + this."""


class Workprof:
    """Sizes of least expected cost: charge of the run, of its retries, and the price of a failure.

    Every combination of `KINDS`, `SHARES` and `MARGINS` is a way of sizing: it weighs the past runs by the nearness of
    their inputs, carries their sizes to the new input, adds what no run has shown yet (a quarter of a run above the
    largest, with a tail as heavy as the largest sizes seen and as uncertain as they are few, one in ten of them a
    jump), and takes the cheapest size. On each past run every way is charged for what it would have chosen without that
    run. The say of a way falls with how surely it did worse than the best, and the smallest size that the quorum holds
    for enough is the first allocation. After a failure: the cheapest past size above it, then the cheapest one for a
    run above all seen (at least 1.05 x the largest), as much again, then doubled.

    The cautious setting takes sizes above all past ones alone, with a limit on the chance of a failure; its ways are
    lines through all runs and the task alone. A size never falls below what a run with a like input has used, nor
    rises above KRR's, except where that costs next to nothing. The cheapest way counts among those that failed no more
    known runs than KRR would have; after a failure it goes where KRR goes.

    The latest 400 runs are looked at; after 400 runs of a task one in 20 is a contest, and a size that
    looks at no input holds between them until a run fails. As long as all inputs are alike, the ways differ in their
    margins alone; the contest begins anew with the first input that differs.

    Source: ours; minimum expected waste with neighbours is `MinWaste`. The tail is Hill's estimator with the predictive
    distribution of exponential steps whose scale is estimated (Lomax); the limit is KRR's strategy, see `Krr`.
    """

    name = "workprof"

    def __init__(self, settings: SizingSettings, name: str = name) -> None:
        self.settings = settings
        self.name = name

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """First, second and largest sizes of the runs to be sized."""
        from workprof.memory.sizing_kernels import Belief, compete  # noqa: PLC0415  numba waits until it is needed

        s = self.settings
        belief = Belief(
            price_runs=s.price_runs,
            run_byte_h=math.nan,  # of each moment
            time_to_failure=retry.time_to_failure,
            lift=s.lift,
            unseen_runs=s.unseen_runs,
            jump_share=s.jump_share,
            jump_scale=s.jump_scale,
            least_scale=s.least_scale,
            sharpness=s.sharpness,
            quorum=s.quorum,
            chance=s.chance,
            cautious=s.cautious,
        )
        first, rows = n_alike(runs), rows_of(runs)
        parts = [(runs.turns(0, first), False), (runs.turns(first), True)]
        result = np.concatenate(
            [
                compete(rows, part.sized, part.known_at, part.mean_runs, ways_of(s, varied=varied), belief)
                for part, varied in parts
                if part.n_sized
            ]
        )
        return Sizes(result[:, 0], result[:, 1:])


class Conditional:
    """Sizes of least expected cost by what is known of a run at submission: its task, labels, request and input.

    The known runs count by what they share with the run, as learned from the runs that had ended by then; see
    `conditional`. A run of whose task nothing is known starts at its request.

    The price is of a failure, in mean runs of those known by then.
    """

    name = "workprof"
    fewest_known = 0

    def __init__(self, price_runs: float, outlooks: Mapping[str, Outlook]) -> None:
        self.price_runs = price_runs
        self.outlooks = outlooks

    def sizes(self, runs: Sequence, retry: RetrySettings) -> Sizes:
        """First sizes and those after failures of the runs to be sized."""
        from workprof.memory.conditional import cheapest_chains  # noqa: PLC0415  numba waits until it is needed

        outlook = self.outlooks[runs.task]
        price = self.price_runs * runs.mean_runs
        chain, _ = cheapest_chains(outlook, price, retry.time_to_failure)
        requests, words = requests_of(runs, retry)
        unknown = outlook.n_own == 0
        known_words = np.where(outlook.n_own > runs.n_history, FROM_PEERS, FROM_HISTORY)
        return Sizes(
            np.where(unknown, requests, chain[:, 0]), chain[:, 1:], sized_from=np.where(unknown, words, known_words)
        )


def rows_of(runs: Sequence) -> Floats:
    """(4, n) sizes, hours, inputs and log inputs, as the kernels take them."""
    inputs = np.maximum(runs.inputs, 0.0)
    return np.array([runs.used_bytes, runs.hours, inputs, np.log1p(inputs)])


def n_alike(runs: Sequence) -> int:
    """How many runs come before the first one whose input, or one that is known by then, differs."""
    x, last = runs.inputs, runs.known_at - 1
    lowest, highest = np.minimum.accumulate(x)[last], np.maximum.accumulate(x)[last]
    varied = (np.minimum(lowest, x[runs.sized]) < np.maximum(highest, x[runs.sized])).tolist()
    return varied.index(True) if True in varied else len(varied)


def ways_of(settings: SizingSettings, *, varied: bool) -> tuple[Floats, Floats, Floats]:
    """Kinds, shares and margins: one way by the task alone, those that differ where inputs do not vary."""
    if not settings.by_input or (settings.cautious and not varied):
        return np.zeros(1), np.ones(1), np.zeros(1)
    if settings.cautious:
        return np.array(KINDS, dtype=np.float64), np.ones(1), np.zeros(1)
    if not varied:
        return np.zeros(1), np.ones(1), np.array(MARGINS)
    return np.array(KINDS, dtype=np.float64), np.array(SHARES), np.array(MARGINS)


def warm_sizing() -> None:
    """Compile (or load from the compiler's cache) the loops, so that no replay's clock runs meanwhile."""
    few = np.arange(1.0, 13.0)
    runs = Sequence("", few, few, few, few, 10, 1.0)
    Workprof(SizingSettings()).sizes(runs, RetrySettings())


def _quantile_ensemble() -> Policy:
    from workprof.memory.quantiles import QuantileEnsemble  # noqa: PLC0415  it imports this module

    return QuantileEnsemble()


BY_TASK, ENSEMBLE = "workprof_task", "quantile_ensemble"
REGISTRY: dict[str, dict[str, Callable[[], Policy]]] = {
    "ours": {
        "workprof": lambda: Workprof(DEFAULT),
        BY_TASK: lambda: Workprof(DEFAULT, BY_TASK),
        "workprof_cautious": lambda: Workprof(CAUTIOUS, "workprof_cautious"),
    },
    "peers": {
        "preset": Preset,
        "p95": Percentile95,
        "krr": Krr,
        "vpa": Vpa,
        "tovar": Tovar,
        "witt_lr": WittLr,
        "ponder": Ponder,
        "site_rule": SiteRule,
        "linear_offset": LinearOffset,
        "thesis_bins": ThesisBins,
        "min_waste": MinWaste,
        "local_min_waste": LocalMinWaste,
    },
    "further": {"thesis_bins_svm": lambda: ThesisBins("svm"), ENSEMBLE: _quantile_ensemble},
    "oracles": {
        "oracle_bins": OracleBins,
        "oracle_bins_free": lambda: OracleBins(free_top=True),
        "oracle_exact": OracleExact,
    },
}
"""Every policy, in the order of tables: ours, those of others, what is replayed when named, bounds (oracle_)."""

OURS, PEERS, FURTHER, ORACLES = (tuple(REGISTRY[kind]) for kind in ("ours", "peers", "further", "oracles"))
POLICIES = OURS + PEERS + FURTHER + ORACLES


def policy_named(name: str) -> Policy:
    """A policy; raises SettingsError for an unknown name."""
    for made in REGISTRY.values():
        if name in made:
            return made[name]()
    raise SettingsError(f"policy is {name!r}; choose from {', '.join(POLICIES)}")
