"""The paper preset with exact silhouettes against the reference loop."""

from tests.benchmarks.measure import Measured
from tests.benchmarks.sweeps import measure


def run() -> Measured:
    return measure("paper", "exact")
