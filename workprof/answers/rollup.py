"""The judged runs of the verdict before and after, added up."""

from workprof.answers.runs import excluded_words
from workprof.core.answer import Answer, Table
from workprof.core.records import to_json
from workprof.core.table import Column
from workprof.core.units import gb_h
from workprof.core.words import counted
from workprof.memory.rollup import Rollup

ROLLED_UP = "goes with a later release: the judged runs of `memory plan` with every row taken, summed"
ROWS = (
    Column("name", heading="Rows"),
    Column("n_runs", heading="Runs", unit="runs", help="With a request of memory."),
    Column("memory_gb_before", "memory_gb.before", "Memory today", unit="GB", help="Held on average."),
    Column("memory_gb_after", "memory_gb.after", "Memory next", unit="GB", help="Held on average."),
    Column("cores_before", "cores.before", "Cores today", form="%,.3g", help="Held on average.", optional=True),
    Column("cores_after", "cores.after", "Cores next", form="%,.3g", help="Held on average.", optional=True),
    Column("gb_h_before", "memory_gb_h.before", "Today", unit="GB·h"),
    Column("gb_h_after", "memory_gb_h.after", "Next", unit="GB·h"),
    Column("n_failures", heading="Kills", unit="count", help="Of the later runs, at a size below request and use."),
)


def rollup_answer(result: Rollup) -> Answer:
    """What the judged runs hold today and would hold next, the rows that save most first, the total last."""
    total, excluded = result.total, excluded_words(result.left_out)
    untimed = f"{counted(result.n_untimed, 'later run')} without a time: not in what is held on average."
    return Answer(
        f"{counted(total.n_runs, 'later run')} would hold {gb_h(total.memory_gb_h.after)} in place of "
        f"{gb_h(total.memory_gb_h.before)}.",
        tables=(Table("rows", "Judged runs, before and after", ROWS, (*result.rows, total)),),
        notes=(ROLLED_UP, *([f"Excluded: {excluded}."] if excluded else []), *([untimed] * bool(result.n_untimed))),
        document=to_json(result),
    )
