"""The figures of *What to request* in docs/results.md: `python -m tests.docs.what_to_request` prints the tables."""

from tests.memory.naive_plain_rule import judge
from tests.memory.traces import NAMES, bundled, pai, trace
from workprof.memory.compared import compared
from workprof.memory.origins import SUBMISSION, TABLE
from workprof.memory.replay_settings import ReplaySettings
from workprof.memory.verdict import VerdictSettings, verdict_of

TRACES = {"PAI": pai, **{name: lambda name=name: trace(name) for name in NAMES}, "bundled sample": bundled}
RULES = ((5, 1.25), (10, 1.5))


def cell(saved_share, kills):
    return f"{100 * saved_share:.1f} %, {kills:,}"


def plain_rule_row(name):
    """Return the row of a trace: runs judged, then saving and kills at four origins and at submission, by rule."""
    found = [judge(TRACES[name](), n, times, table=table) for n, times in RULES for table in (True, False)]
    return " | ".join((f"| {name}", f"{found[0].runs:,}", *(cell(one.saved_share, one.kills) for one in found))) + " |"


ACCEPTED = (0.0, 0.001, 0.01, 0.05)


def verdict_row(name):
    """Return the row of the verdict: saving and kills at its default, also at submission, then of its curve."""
    jobs = TRACES[name]()
    told = {one: verdict_of({"jobs": jobs}, VerdictSettings(applied=one)).memory for one in (TABLE, SUBMISSION)}
    curve = {one.acceptable_share: one for one in told[TABLE].curve}
    found = [told[TABLE].judged, told[SUBMISSION].judged, *(curve[one] for one in ACCEPTED)]
    return " | ".join((f"| {name}", *(cell(one.saved_share, one.kills) for one in found))) + " |"


ENSEMBLE = ("quantile_ensemble", "workprof", "p95", "witt_lr", "ponder", "krr")


def ensemble_row(name):
    """Return the row of the quantile ensemble beside other policies and the verdict, on the verdict's judged runs."""
    found = compared({"jobs": TRACES[name]()}, ReplaySettings(ENSEMBLE))
    lines = {one.applied or one.name: one for one in found.lines}
    cells = (cell(lines[one].saved_share, lines[one].kills) for one in (*ENSEMBLE, TABLE))
    return " | ".join((f"| {name}", f"{found.n_runs:,}", *cells)) + " |"


if __name__ == "__main__":
    for row in (plain_rule_row, verdict_row, ensemble_row):
        for one in TRACES:
            print(row(one), flush=True)
