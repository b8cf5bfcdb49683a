"""The quick preset with sampled silhouettes against the reference loop."""

from tests.benchmarks.measure import Measured
from tests.benchmarks.sweeps import measure


def run() -> Measured:
    return measure("quick", "sampled")
