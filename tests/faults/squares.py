"""A step that is a fit in small, for jobs whose children start quickly."""

import subprocess
import sys
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from workprof.core.records import Made
from workprof.core.step import Step

VALUES = 50_000
STEP = Step("test.squares", 1, "tests.faults.squares:squares")
ROOT_STEP = Step("test.roots", 1, STEP.target)


@dataclass(frozen=True)
class Asked:
    seed: int
    seconds: float = 0.3


@dataclass(frozen=True)
class Squares:
    seed: int
    values: NDArray[np.float64]
    seconds: float


@dataclass(frozen=True)
class Roots:
    values: NDArray[np.float64]


def squares(frames, settings: Asked, progress) -> Made:
    """A fit in small: it takes a while, tells how far it is, and leaves a result and a by-product with arrays.

    Like a fit on many cores it starts a process of its own, which names the job's folder so that it can be found.
    """
    subprocess.Popen(["sh", "-c", "sleep 600; :", sys.argv[-1]])
    end = time.monotonic() + settings.seconds
    while time.monotonic() < end:
        progress(0.5, "squaring")
        time.sleep(0.02)
    values = np.random.default_rng(settings.seed).normal(size=VALUES) + float(frames["jobs"]["x"].sum())
    return Made(Squares(settings.seed, values**2, settings.seconds), {ROOT_STEP.name: Roots(np.sqrt(np.abs(values)))})
