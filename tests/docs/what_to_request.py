"""The figures of *What to request* in docs/results.md: `python -m tests.docs.what_to_request` prints the plain rule."""

from tests.memory.naive_plain_rule import judge
from tests.memory.traces import NAMES, bundled, pai, trace

TRACES = {"PAI": pai, **{name: lambda name=name: trace(name) for name in NAMES}, "bundled sample": bundled}
RULES = ((5, 1.25), (10, 1.5))


def cell(saved_share, kills):
    return f"{100 * saved_share:.1f} %, {kills:,}"


def plain_rule_row(name):
    """Return the row of a trace: runs judged, then saving and kills at four origins and at submission, by rule."""
    found = [judge(TRACES[name](), n, times, table=table) for n, times in RULES for table in (True, False)]
    return " | ".join((f"| {name}", f"{found[0].runs:,}", *(cell(one.saved_share, one.kills) for one in found))) + " |"


if __name__ == "__main__":
    for one in TRACES:
        print(plain_rule_row(one))
