"""`import workprof` in a fresh process against `import pandas` in another, the median of five each."""

from tests.benchmarks.measure import Measured, Side, beside, median, run_side

CODE = """
import time
started = time.perf_counter()
import {name}
seconds, told = time.perf_counter() - started, {{}}
"""


def typical(name: str) -> Side:
    sides = [run_side(CODE.format(name=name)) for _ in range(5)]
    middle = median([side.seconds for side in sides])
    return next(side for side in sides if side.seconds == middle)


def run() -> Measured:
    theirs, ours = typical("pandas"), typical("workprof")
    return beside(
        ours,
        theirs,
        "import pandas; 0.5 s is the bar",
    )
