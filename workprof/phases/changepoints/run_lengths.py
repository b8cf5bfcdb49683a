"""The state of the recursion over run lengths: what is known after the samples so far.

Source:
    Adams & MacKay, Bayesian online changepoint detection, equations 1-4 as CWD uses them; the same prior as Fearnhead's
    exact segmentation (Statistics and Computing 16, 2006). Ours works on evidences of whole stretches instead of
    one-step predictives: the same numbers, one logarithm each, and the segmentation comes from the same sweep.
"""

from __future__ import annotations

import math

import numpy as np

from workprof.arrays import Floats, Ints
from workprof.phases.changepoints.prior import Prior
from workprof.phases.kernels.run_lengths import Belief, Odds, Stretches, Trail, advance

_ROOM = 256

_DIP = 3.0
"""How far a counter's new phase falls behind at first, as a logarithm, before a step of a tenth of the noise shows."""


def belief_of(prior: Prior, longest: int, n_counters: int) -> Belief:
    """Return the prior as the compiled loops take it, with the evidence of all lengths up to `longest`.

    Source:
        The log evidence of a stretch under a Normal-Inverse-Gamma prior, without the term in its own scale.
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
        self.odds = _odds(prior, n_counters)
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
        """Return the run lengths in the running (n,) and their log probabilities (n,), run length 0 first."""
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
            self._stretches = _wider(self._stretches, max(2 * room, filled + n_new))
        longest = self.n_samples + n_new
        if longest > len(self._trail.run):
            longer = _blank(2 * longest)
            for before, after in zip(self._trail, longer, strict=True):
                after[: self.n_samples] = before[: self.n_samples]
            self._trail = longer
        if longest >= len(self._belief.evidence):
            self._belief = belief_of(self.prior, 2 * longest, self.n_counters)


def _odds(prior: Prior, n_counters: int) -> Odds:
    """Return the logarithms; a change of many counters falls behind by the sum of their dips before it shows."""
    hazard = 1 / prior.hazard_samples
    change = math.log(hazard)
    prune = change + math.log(prior.prune) - _DIP * (n_counters - 1) if prior.prune > 0 else -math.inf
    return Odds(change, math.log1p(-hazard), prune)


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
        found=np.zeros(room),
        scratch_bits=np.zeros((2, room), np.int64),
        filled=np.zeros(1, np.int64),
        ahead=np.zeros(2),
    )


def _wider(old: Stretches, room: int) -> Stretches:
    new = _empty(old.mean.shape[0], room)
    for before, after in zip(old[:-2], new[:-2], strict=True):
        after[..., : before.shape[-1]] = before
    new.filled[:], new.ahead[:] = old.filled, old.ahead
    return new


def _blank(room: int) -> Trail:
    run, run_or_change, last = (np.zeros(room, np.int64) for _ in range(3))
    return Trail(run, run_or_change, last, np.zeros(room), np.zeros(room))


def _part(trail: Trail, first: int, end: int) -> Trail:
    run, run_or_change, last = (line[first:end] for line in trail[:3])
    evidence, score = (line[first:end] for line in trail[3:])
    return Trail(run, run_or_change, last, evidence, score)
