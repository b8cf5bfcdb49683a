"""What a size costs when it is tried: attempts, failures and GB·h of every run. The one simulator of every policy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from workprof.core.arrays import Bools, Floats, Ints
from workprof.core.errors import SettingsError
from workprof.core.fields import Setting, settings
from workprof.core.units import GB, MIB, gb

RULES = ("published", "next_edge", "double", "max_seen", "more", "request_x_attempt")
"""How a failed run is lifted; 'published' = as each policy's source says."""

BEYOND = ("double", "more", "node", "request_x_attempt")
"""What comes after the last step that a policy names."""

MORE_FACTOR, MORE_BYTES = 1.2, 100.0 * MIB
"""VPA's bump after an out-of-memory kill: the greater of the two."""

NODE_BYTES = 128.0 * GB
"""Size of a node in the published harness."""


@settings
class RetrySettings:
    """How failed attempts are lifted and charged."""

    rule: Annotated[
        str,
        Setting(
            "What follows a failed attempt.",
            choices={
                "published": "as each policy's source says",
                "next_edge": "the next bin",
                "double": "twice the size",
                "max_seen": "the largest use seen",
                "more": "+ 20 % or 100 MiB",
                "request_x_attempt": "the request times the attempt",
            },
            shown={
                "published": "As published",
                "next_edge": "Next bin",
                "double": "Double",
                "max_seen": "Largest use",
                "more": "Add 20 %",
                "request_x_attempt": "Request x attempt",
            },
            flag="--retry",
            key="memory_retry",
            label="After a failure",
        ),
    ] = "published"
    time_to_failure: Annotated[
        float,
        Setting(
            "Share of its run time after which a too small attempt dies; the published harness has 1.",
            unit="share",
            least=0,
            most=1,
            key="memory_tau",
            label="Fails after",
        ),
    ] = 1.0
    cap_bytes: Annotated[
        float | None,
        Setting("Largest size there is: a node's memory.", unit="bytes", above=0, key="memory_cap", empty="no limit"),
    ] = None
    max_retries: Annotated[
        int,
        Setting(
            "Attempts after the first; a run that fails them all is given up.",
            least=0,
            most=1000,
            key="memory_retries",
            label="Retries at most",
        ),
    ] = 50
    node_bytes: Annotated[
        float, Setting("Size where a rule requests a whole node.", unit="bytes", above=0, key="memory_node")
    ] = NODE_BYTES
    floor_bytes: Annotated[
        float,
        Setting(
            "Smallest size requested: a straight line can go below zero, and doubling zero never ends.",
            unit="bytes",
            above=0,
            key="memory_retry_floor",
            label="Smallest request",
        ),
    ] = float(MIB)

    def __post_init__(self) -> None:
        if self.cap_bytes is not None and not self.cap_bytes >= self.floor_bytes:
            cap, least = gb(self.cap_bytes / GB), gb(self.floor_bytes / GB)
            raise SettingsError(f"cap is {cap}; give at least the smallest request, {least}")


@dataclass(frozen=True)
class Demand:
    """What the runs need."""

    used_bytes: Floats  # (n,) above 0
    hours: Floats  # (n,) full run times

    def part(self, first: int, last: int) -> Demand:
        """The runs from one place up to another."""
        return Demand(self.used_bytes[first:last], self.hours[first:last])


@dataclass(frozen=True)
class Sizes:
    """What a policy asks for."""

    first_bytes: Floats  # (n,) first allocations
    steps_bytes: Floats  # (n, n_steps) sizes to lift to; the smallest above the failed size is next; NaN = none
    beyond: str = "double"  # what follows where no step is left, one of `BEYOND`
    sized_from: NDArray[np.str_] | None = None  # (n,) words for what each size rests on; None = the known runs

    def __post_init__(self) -> None:
        if self.beyond not in BEYOND:
            raise SettingsError(f"beyond is {self.beyond!r}; choose from {', '.join(BEYOND)}")


@dataclass(frozen=True)
class Outcome:
    """What every run cost."""

    first_bytes: Floats  # (n,) sizes of the first attempts
    failures: Ints  # (n,) failed attempts
    charged_gb_h: Floats  # (n,) all attempts
    wasted_gb_h: Floats  # (n,) charged and not used; all of it where the run never finished
    final_bytes: Floats  # (n,) size of the attempt that finished, NaN where none did
    n_never_fit: int  # runs that failed at the cap
    n_given_up: int  # runs that failed the last retry below it

    def and_then(self, later: Outcome) -> Outcome:
        """What these runs cost, then those of another outcome."""
        return Outcome(
            first_bytes=np.concatenate([self.first_bytes, later.first_bytes]),
            failures=np.concatenate([self.failures, later.failures]),
            charged_gb_h=np.concatenate([self.charged_gb_h, later.charged_gb_h]),
            wasted_gb_h=np.concatenate([self.wasted_gb_h, later.wasted_gb_h]),
            final_bytes=np.concatenate([self.final_bytes, later.final_bytes]),
            n_never_fit=self.n_never_fit + later.n_never_fit,
            n_given_up=self.n_given_up + later.n_given_up,
        )


def only(first_bytes: Floats, beyond: str = "double") -> Sizes:
    """Sizes without steps of their own."""
    return Sizes(first_bytes, np.empty((len(first_bytes), 0)), beyond)


def lifted_by(rule: str, own: Sizes, max_seen_bytes: Floats) -> Sizes:
    """A policy's first sizes with the steps of a rule of `RULES`; 'next_edge' keeps edges where there are bins.

    `max_seen_bytes` (n,) is the largest use known before each run, NaN where none was.
    """
    if rule == "published":
        return own
    if rule == "next_edge":
        return replace(own, beyond="double")
    if rule == "max_seen":
        return replace(own, steps_bytes=max_seen_bytes[:, None], beyond="double")
    return replace(only(own.first_bytes, rule), sized_from=own.sized_from)


def try_sizes(demand: Demand, sizes: Sizes, settings: RetrySettings) -> Outcome:
    """What the runs cost when they are started at these sizes and lifted after each failure.

    A failed attempt is charged its size x hours x time to failure, the last one its size x hours. All sums are float64:
    bytes x milliseconds do not fit 64-bit integers.

    Source: the harness of Sizey (time to failure 1). Ours adds the cap, the last retry and the
    floor.
    """
    cap = np.inf if settings.cap_bytes is None else settings.cap_bytes
    used, hours = demand.used_bytes.astype(np.float64), demand.hours.astype(np.float64)
    first = np.clip(sizes.first_bytes.astype(np.float64), settings.floor_bytes, cap)
    size, running = first.copy(), np.ones(len(used), dtype=bool)
    charged, final = np.zeros(len(used)), np.full(len(used), np.nan)
    failures, n_never_fit = np.zeros(len(used), dtype=np.int64), 0
    for attempt in range(1, settings.max_retries + 2):
        done = running & (size >= used)
        charged[done] += size[done] * hours[done]
        final[done] = size[done]
        running &= ~done
        failures[running] += 1
        charged[running] += size[running] * hours[running] * settings.time_to_failure
        stuck = running & (size >= cap)
        n_never_fit += int(stuck.sum())
        running &= ~stuck
        if not running.any():
            break
        size[running] = np.minimum(_next(sizes, settings, _Failed(running, size, first, attempt)), cap)
    needed = np.where(np.isnan(final), 0.0, used * hours)
    return Outcome(first, failures, charged / GB, (charged - needed) / GB, final, n_never_fit, int(running.sum()))


def attempt_sizes(sizes: Sizes, settings: RetrySettings, most: int) -> Floats:
    """(n, most) sizes of the first attempts of runs that are killed in each; the last ones at the cap repeat."""
    cap = np.inf if settings.cap_bytes is None else settings.cap_bytes
    tried = [np.clip(sizes.first_bytes.astype(np.float64), settings.floor_bytes, cap)]
    everyone = np.ones(len(tried[0]), dtype=bool)
    for attempt in range(1, most):
        tried.append(np.minimum(_next(sizes, settings, _Failed(everyone, tried[-1], tried[0], attempt)), cap))
    return np.column_stack(tried)


@dataclass(frozen=True)
class _Failed:
    """The runs that failed their `attempt`-th try: a mask, and sizes of all runs."""

    who: Bools
    size: Floats
    first: Floats
    attempt: int


def _next(sizes: Sizes, settings: RetrySettings, failed: _Failed) -> Floats:
    """The next sizes of the failed runs."""
    size = failed.size[failed.who]
    if sizes.beyond == "more":
        beyond = np.maximum(MORE_FACTOR * size, size + MORE_BYTES)
    elif sizes.beyond == "request_x_attempt":
        beyond = failed.first[failed.who] * (failed.attempt + 1)
    elif sizes.beyond == "node":
        beyond = np.where(size < settings.node_bytes, settings.node_bytes, 2 * size)
    else:
        beyond = 2 * size
    if not sizes.steps_bytes.shape[1]:
        return beyond
    steps = sizes.steps_bytes[failed.who]
    above = np.where(steps > size[:, None], steps, np.inf).min(axis=1)
    return np.where(np.isfinite(above), above, beyond)
