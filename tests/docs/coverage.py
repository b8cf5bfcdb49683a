"""How the 90 % intervals in docs/results.md hold: `python -m tests.docs.coverage`, with `PAI` those of one trace."""

import functools
import sys
import tempfile
from pathlib import Path

from tests.docs.best_guess import WORDS, jobs_of
from tests.memory.traces import BUNDLED
from workprof.core.settings import from_environment
from workprof.forecasts.estimate_evaluation import evaluate_estimates
from workprof.forecasts.estimates import TARGETS, EstimateSettings
from workprof.forecasts.questions import LEARNED
from workprof.workbench import Workbench

SAMPLE = "bundled sample"
WITHIN = 0.05
ROWS = tuple((name, split) for name, split in (("PAI", "by_job"), ("PAI", "by_time"), (SAMPLE, "by_time")))


@functools.cache
def sample():
    with tempfile.TemporaryDirectory() as home, Workbench(from_environment().at(Path(home))) as bench:
        dataset = bench.ingest(BUNDLED).dataset
        return bench.frames_of(bench._jobs_of(dataset), LEARNED)()["jobs"]


def share(value):
    return f"{value:.3f}".removeprefix("0")


def cell(coverage, width):
    return f"{share(coverage)}, {width:.3g}x"


def row(name, split, target):
    """Return one row: coverage and width, as trained too where the interval follows, and groups of 200 tested runs."""
    jobs = sample() if name == SAMPLE else jobs_of(name)
    held = evaluate_estimates({"jobs": jobs}, EstimateSettings(target=target, split=split)).interval
    trained = "" if held.fixed_coverage is None else cell(held.fixed_coverage, held.fixed_width_factor)
    groups = [one.coverage for one in held.by_group]
    close = sum(abs(one - held.nominal) <= WITHIN for one in groups)
    told = f"{close} of {len(groups)} ({share(min(groups))} to {share(max(groups))})" if groups else "none"
    cells = [name, WORDS[target], split.replace("_", " "), cell(held.coverage, held.median_width_factor), trained, told]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for one in ROWS:
        if not sys.argv[1:] or one[0] in sys.argv[1:]:
            for target in TARGETS:
                print(row(*one, target), flush=True)
