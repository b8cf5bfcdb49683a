"""The changes of one counter, or of several that share them: the recursion over run lengths, and which changes stay.

A change is the 0-based number of the first sample of the new phase.

Source:
    Adams & MacKay, Bayesian online changepoint detection, equations 1-4 as CWD uses them; the same prior as Fearnhead's
    exact segmentation (Statistics and Computing 16, 2006). Ours works on evidences of whole stretches instead of
    one-step predictives: the same numbers, one logarithm each, and the segmentation comes from the same sweep.
    CWD reads its recursion off without saying how. `path` is consistent: every change belongs to one explanation of
    the whole series. `drop` is what an observer sees as it happens: early changes that later samples refute are in it,
    and the same change may come twice. `exact` is the most probable segmentation under the same prior; the recursion
    only sums what this takes the largest of.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from workprof.core.arrays import Bools, Floats, Ints
from workprof.phases.changepoints import ChangePointSettings, Prior, prior_of
from workprof.phases.kernels import Belief, Odds, Stretches, Trail, advance

_PIECE = 256
"""Samples between two words to `report`."""


@dataclass(frozen=True)
class Segmentation:
    """The changes of counters that share them."""

    changes: Ints  # (n,) rising
    n_merged: int  # phases that were too short, or a change that no longer paid once they had joined a neighbour
    n_weakest: int  # changes left out because there were too many
    # of the series in standard units; NaN with the methods of ruptures and where nothing was looked for
    log_evidence: float = math.nan


ONE_PHASE = Segmentation(np.zeros(0, np.int64), 0, 0)
"""Of counters in which no change can be looked for."""


def search_changes(
    values: Floats, settings: ChangePointSettings, n_samples: int, report: Callable[[float], None]
) -> Segmentation:
    """The changes of counters that share them, of finite values (n_counters, T) in standard units.

    `n_samples`, the length of the run, sets the hazard; it is longer than T where samples are missing.
    """
    prior = prior_of(settings, n_samples, float(np.mean(values**2)))
    belief = belief_of(prior, values.shape[1], len(values))
    if settings.method in FOREIGN:
        changes, log_evidence = ruptures_changes(values, settings), math.nan
    else:
        run_lengths, length = RunLengths(prior, len(values), belief), values.shape[1]
        for first in range(0, length, _PIECE):
            run_lengths.take(values[:, first : first + _PIECE])
            report(min(1.0, (first + _PIECE) / length))
        changes = changes_of(run_lengths.trail, settings.chosen_readout)
        log_evidence = float(run_lengths.trail.evidence[-1])
    segmentation = merged_changes(
        changes,
        Evidence(values, belief, -math.log(prior.hazard_samples)),
        min_samples=settings.min_samples,
        max_phases=settings.max_phases,
        must_pay=settings.mode == "corrected",
    )
    return replace(segmentation, log_evidence=log_evidence)


def changes_of(trail: Trail, readout: str) -> Ints:
    """The changes (n,) that 'path', 'exact' or 'drop' reads, in the order of time."""
    if readout == "drop":
        return _drops(trail.run_or_change)
    return _steps_back(trail.run if readout == "path" else trail.last)


def _steps_back(lengths: Ints) -> Ints:
    """Where the stretches begin when each sample knows the length of the one that ends with it."""
    changes, end = [], len(lengths)
    while end > 0:
        end -= int(lengths[end - 1])
        if end > 0:
            changes.append(end)
    return np.array(changes[::-1], dtype=np.int64)


def _drops(run_lengths: Ints) -> Ints:
    """T - r_t of every t at which the most probable run length did not grow."""
    seen = np.concatenate([np.zeros(1, np.int64), run_lengths])
    falls = np.flatnonzero(seen[1:] <= seen[:-1]) + 1
    changes = falls - seen[falls]
    result: Ints = changes[(changes > 0) & (changes < len(run_lengths))]
    return result


_ROOM = 256
_DIP = 3.0
"""How far a counter's new phase falls behind at first, as a logarithm, before a step of a tenth of the noise shows."""


def belief_of(prior: Prior, longest: int, n_counters: int) -> Belief:
    """The prior as the compiled loops take it, with the evidence of all lengths up to `longest`.

    Source: The log evidence of a stretch under a Normal-Inverse-Gamma prior, without the term in its own scale.
    """
    n = np.arange(longest + 1, dtype=np.float64)
    kappa, alpha = prior.kappa0 + n, prior.alpha0 + n / 2
    log_gamma = np.array([math.lgamma(a) for a in alpha])
    one = log_gamma - log_gamma[0] + prior.alpha0 * math.log(prior.beta0)
    one += 0.5 * np.log(prior.kappa0 / kappa) - n / 2 * math.log(2 * math.pi)
    stay = math.log1p(-1 / prior.hazard_samples)
    return Belief(float(prior.kappa0), float(prior.alpha0), float(prior.beta0), n_counters * one + (n - 1) * stay)


class RunLengths:
    """Run lengths of one series, or of several counters that share them; takes samples in any number of pieces."""

    def __init__(self, prior: Prior, n_counters: int, belief: Belief | None = None) -> None:
        """Start before the first sample; `belief` saves working it out again for every series of one length."""
        self.prior = prior
        self.n_counters = n_counters
        self.n_samples = 0
        hazard = 1 / prior.hazard_samples
        change, prune = math.log(hazard), -math.inf
        if prior.prune > 0:  # a change of many counters falls behind by the sum of their dips before it shows
            prune = change + math.log(prior.prune) - _DIP * (n_counters - 1)
        self.odds = Odds(change, math.log1p(-hazard), prune)
        self._belief = belief_of(prior, _ROOM, n_counters) if belief is None else belief
        self._stretches = _empty(n_counters, _ROOM)
        self._trail = _blank(_ROOM)

    def take(self, values: Floats) -> Trail:
        """Take the next samples (n_counters, n_new), finite and less the prior mean; return what is kept of them."""
        n_new = values.shape[1]
        self._make_room(n_new)
        part = _part(self._trail, self.n_samples, self.n_samples + n_new)
        advance(np.ascontiguousarray(values), self._belief, self.odds, self._stretches, part)
        self.n_samples += n_new
        return part

    @property
    def trail(self) -> Trail:
        """What is kept of all samples so far."""
        return _part(self._trail, 0, self.n_samples)

    def posterior(self) -> tuple[Ints, Floats]:
        """The run lengths in the running (n,) and their log probabilities (n,), run length 0 first."""
        if self.n_samples == 0:
            return np.zeros(1, np.int64), np.zeros(1)
        m = int(self._stretches.filled[0])
        evidence = self._stretches.ahead[0] - self.odds.change
        mass = self._stretches.mass[:m][::-1] - evidence + self.odds.stay
        lengths = np.concatenate([np.zeros(1, np.int64), self._stretches.length[:m][::-1]])
        return lengths, np.concatenate([[self.odds.change], mass])

    def _make_room(self, n_new: int) -> None:
        filled, room = int(self._stretches.filled[0]), len(self._stretches.length)
        if filled + n_new > room:
            old, wider = self._stretches, _empty(self.n_counters, max(2 * room, filled + n_new))
            for before, after in zip(old[:-2], wider[:-2], strict=True):
                after[..., : before.shape[-1]] = before
            wider.filled[:], wider.ahead[:] = old.filled, old.ahead
            self._stretches = wider
        longest = self.n_samples + n_new
        if longest > len(self._trail.run):
            longer = _blank(2 * longest)
            for before, after in zip(self._trail, longer, strict=True):
                after[: self.n_samples] = before[: self.n_samples]
            self._trail = longer
        if longest >= len(self._belief.evidence):
            self._belief = belief_of(self.prior, 2 * longest, self.n_counters)


def _empty(n_counters: int, room: int) -> Stretches:
    return Stretches(
        length=np.zeros(room, np.int64),
        kappa=np.zeros(room),
        mean=np.zeros((n_counters, room)),
        beta=np.zeros((n_counters, room)),
        mass_before=np.zeros(room),
        best_before=np.zeros(room),
        mass=np.zeros(room),
        score=np.zeros(room),
        logs=np.zeros(room),
        log_evidence=np.zeros(room),
        scratch_bits=np.zeros((2, room), np.int64),
        filled=np.zeros(1, np.int64),
        ahead=np.zeros(2),
    )


def _blank(room: int) -> Trail:
    run, run_or_change, last = (np.zeros(room, np.int64) for _ in range(3))
    return Trail(run, run_or_change, last, np.zeros(room), np.zeros(room))


def _part(trail: Trail, first: int, end: int) -> Trail:
    run, run_or_change, last = (line[first:end] for line in trail[:3])
    evidence, score = (line[first:end] for line in trail[3:])
    return Trail(run, run_or_change, last, evidence, score)


class Evidence:
    """Log evidence of any stretch of a series, and what a change between two of them gains."""

    def __init__(self, values: Floats, belief: Belief, log_odds_of_change: float) -> None:
        """Sum up the series (n_counters, T), which is less the prior mean."""
        self._values = values
        self._belief = belief
        self._log_odds = log_odds_of_change
        self.n_samples = values.shape[1]
        self._sum_up(np.ones(self.n_samples, dtype=bool))

    def without(self, samples: Bools) -> Evidence:
        """The same with the samples (T,) left out of every stretch."""
        result = Evidence(self._values, self._belief, self._log_odds)
        result._sum_up(~samples)
        return result

    def means(self, edges: Ints) -> Floats:
        """The means (n_counters, n_edges - 1) of the stretches between the edges."""
        result: Floats = np.diff(self._sums[:, edges], axis=1) / np.diff(edges)
        return result

    def gains(self, edges: Ints) -> Floats:
        """What each inner edge adds to the log score of the segmentation (n_edges - 2,)."""
        split = self._of(edges[:-2], edges[1:-1]) + self._of(edges[1:-1], edges[2:])
        result: Floats = split + self._log_odds - self._of(edges[:-2], edges[2:])
        return result

    def _sum_up(self, counted: Bools) -> None:
        zero, inner = np.zeros((len(self._values), 1)), np.where(counted, self._values, 0.0)
        self._counts = np.concatenate([[0], np.cumsum(counted)])
        self._sums = np.concatenate([zero, np.cumsum(inner, axis=1)], axis=1)
        self._squares = np.concatenate([zero, np.cumsum(inner**2, axis=1)], axis=1)

    def _of(self, first: Ints, end: Ints) -> Floats:
        n, belief = self._counts[end] - self._counts[first], self._belief
        total = self._sums[:, end] - self._sums[:, first]
        squares = self._squares[:, end] - self._squares[:, first]
        beta = belief.beta0 + 0.5 * np.maximum(squares - total**2 / (belief.kappa0 + n), 0.0)
        result: Floats = belief.evidence[n] - (belief.alpha0 + n / 2) * np.log(beta).sum(axis=0)
        return result


def merged_changes(
    changes: Ints, evidence: Evidence, *, min_samples: int, max_phases: int, must_pay: bool
) -> Segmentation:
    """The changes that stay.

    A phase below `min_samples` joins the neighbour with the closer mean. Where that happened, changes go too that do
    not raise the score of the segmentation of the other samples (`must_pay`): what a lone spike left behind. Of more
    than `max_phases` phases, the change that adds least to the score goes, again and again.
    """
    edges = np.concatenate([[0], np.unique(changes), [evidence.n_samples]]).astype(np.int64)
    n_changes = len(edges) - 2
    short = np.repeat(np.diff(edges) < min_samples, np.diff(edges))
    if short.any():
        edges = _without_short(edges, evidence, min_samples)
    if short.any() and must_pay:
        edges = _without_weak(edges, evidence.without(short), max_changes=n_changes, enough=0.0)
    n_left = len(edges) - 2
    edges = _without_weak(edges, evidence, max_changes=max_phases - 1, enough=-np.inf)
    return Segmentation(edges[1:-1], n_changes - n_left, n_left - (len(edges) - 2))


def _without_short(edges: Ints, evidence: Evidence, min_samples: int) -> Ints:
    while len(edges) > 2:
        lengths = np.diff(edges)
        shortest = int(lengths.argmin())
        if lengths[shortest] >= min_samples:
            break
        means = evidence.means(edges)
        steps = np.sqrt((np.diff(means, axis=1) ** 2).sum(axis=0))  # across each inner edge
        sides = [side for side in (shortest - 1, shortest) if 0 <= side < len(steps)]
        edges = np.delete(edges, min(sides, key=lambda side: steps[side]) + 1)
    return edges


def _without_weak(edges: Ints, evidence: Evidence, *, max_changes: int, enough: float) -> Ints:
    """The edges less the weakest, one by one, until at most `max_changes` are left and each gains `enough`."""
    gains = evidence.gains(edges)
    while len(gains):
        weakest = int(gains.argmin())
        if len(gains) <= max_changes and gains[weakest] >= enough:
            break
        edges, gains = np.delete(edges, weakest + 1), np.delete(gains, weakest)
        first = max(weakest - 1, 0)
        near = evidence.gains(edges[first : weakest + 3])  # only the changes on either side gain anything else now
        gains[first : first + len(near)] = near
    return edges


SQUARES_PENALTY = 3.5
"""Of 'pelt' and 'binseg', x log T x counters, in noise variances: 1 % of 300 draws of 30 samples of pure noise showed a
change, where the noise was known."""
KERNEL_PENALTY = 0.75
"""Of 'kernel', x log T, in samples; the same draws: about 1 %."""
_GAMMA = 0.5
"""Width of the Gaussian kernel: one noise sd."""


_WIDEST_WINDOW = 40
"""Samples of the sliding window of a long run; of a shorter one a third."""
FOREIGN = ("pelt", "binseg", "window", "kernel")
"""Methods of ruptures."""


def ruptures_changes(values: Floats, settings: ChangePointSettings) -> Ints:
    """The changes (n,) of counters that share them, rising.

    'pelt' is the exact search for the least sum of costs and penalties; with squares it runs as ruptures' kernel search
    with the linear kernel, which is the same cost in compiled code. 'binseg' splits in two again and again, 'window'
    compares both halves of a sliding window, 'kernel' uses the Gaussian kernel, so it also sees changes of the spread.

    `values` are (n_counters, T), finite, in units of their noise.

    Source: ruptures (Truong, Oudre & Vayatis 2020): Pelt, KernelCPD, Binseg, Window and its costs.
    """
    points = np.ascontiguousarray(values.T)
    shortest = max(settings.min_samples, 1)
    if len(points) < 2 * shortest:
        return np.zeros(0, np.int64)
    with warnings.catch_warnings():  # the cost 'normal' tells of the small variance that it adds
        warnings.simplefilter("ignore", UserWarning)
        search = _search(settings, len(points), points.shape[1], shortest)
        ends = search.fit(points).predict(pen=penalty_of(settings, *points.shape))
    return np.array(ends[:-1], dtype=np.int64)


def cost_of(settings: ChangePointSettings) -> str:
    """The cost of a search of ruptures, by its name there."""
    return "rbf" if settings.method == "kernel" else settings.cost or "l2"


def penalty_of(settings: ChangePointSettings, n_samples: int, n_counters: int) -> float:
    """What a change has to pay: as given, else by the rule."""
    cost = cost_of(settings)
    if settings.penalty is not None:
        return settings.penalty
    if settings.rule == "calibrated" and cost == "l2":
        return SQUARES_PENALTY * math.log(n_samples) * n_counters
    if settings.rule == "calibrated" and cost == "rbf":
        return KERNEL_PENALTY * math.log(n_samples)
    covariances = n_counters * (n_counters + 1) // 2 if cost == "normal" else 0
    parameters = n_counters + covariances + 1  # the last one is where the phase begins
    return parameters * (2.0 if settings.rule == "aic" else math.log(n_samples))


def _search(settings: ChangePointSettings, n_samples: int, n_counters: int, shortest: int) -> Any:
    import ruptures  # noqa: PLC0415  heavy

    cost, wide = cost_of(settings), {"gamma": _GAMMA / n_counters}
    if settings.method == "kernel":
        return ruptures.KernelCPD("rbf", min_size=shortest, params=wide)
    if settings.method == "pelt" and cost == "l2":
        return ruptures.KernelCPD("linear", min_size=shortest)
    options: dict[str, Any] = {"model": cost, "min_size": shortest, "jump": 1}
    options |= {"params": wide} if cost == "rbf" else {}
    if settings.method == "window":
        width = max(2, min(_WIDEST_WINDOW, n_samples // 3))
        return ruptures.Window(width=width - width % 2, **options)
    return {"pelt": ruptures.Pelt, "binseg": ruptures.Binseg}[settings.method](**options)
