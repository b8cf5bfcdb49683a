"""Sizes of memory that grow over a run: what they save and kill beside one size, and the sizes of the next run."""

from dataclasses import replace

from workprof.core.answer import Answer, Figure, Table
from workprof.core.table import Column
from workprof.core.units import format_share, number, saved
from workprof.core.words import counted
from workprof.phases.growing import FEWEST_KNOWN, Growing, GrowingRow

NOT_YET = "No sizes that grow are learned with these settings yet."


def _steps(row: GrowingRow) -> str:
    """'110 from 0 s, 1,100 from 54 s'."""
    return ", ".join(f"{number(size)} from {number(at)} s" for at, size in zip(row.starts_s, row.sizes, strict=True))


SAVED = Column("saved_share", heading="Saved", unit="share", help="Of what one size holds, killed attempts included.")
JUDGED = Column("n_judged", heading="Judged runs", unit="runs", help="Each is sized from the runs before it.")
ROWS = (
    Column("workload", lambda one: one.workload or "(no workload)", "Workload", pinned=True),
    SAVED,
    Column("kills", heading="Kills", unit="count", help="Attempts that held more than their size at a moment."),
    Column("flat_kills", heading="Kills, one size", unit="count", help="Likewise, with one size throughout."),
    JUDGED,
    Column("n_runs", heading="Runs", unit="runs"),
    Column("flat_size", heading="One size", form="%,.4g", help="Of the next run, in the counter's unit."),
    Column("grows", _steps, "Sizes that grow", help="Of the next run, in the counter's unit."),
    Column("starts_s", lambda one: one.starts_s.tolist(), shown=False),
    Column("sizes", lambda one: one.sizes.tolist(), shown=False),
)


def _kills(result: Growing) -> tuple[int, int]:
    return sum(row.kills for row in result.rows), sum(row.flat_kills for row in result.rows)


def growing_sentence(result: Growing) -> str:
    """What growing saves, and the kills of both ways."""
    kills, flat = _kills(result)
    change = saved(result.saved_share)
    return f"Sizes that grow hold {change} than one size. They kill {kills}; one size kills {flat}."


def growing_note(result: Growing) -> str:
    """What the sizes rest on."""
    judged = counted(sum(row.n_judged for row in result.rows), "judged run")
    few = f" {counted(result.n_few, 'run')} of workloads with too few." if result.n_few else ""
    return f"{result.counter}, {judged}; each needs {counted(FEWEST_KNOWN, 'earlier run')} of its workload.{few}"


def growing_shown(workload: str) -> str:
    """What the figure draws."""
    name = workload or "no workload"
    return f"The most that known runs of {name} held by each moment, sizes that grow, and one size."


def growing_answer(result: Growing) -> Answer:
    """Sizes that grow beside one size, the workloads that save most first."""
    rows = sorted(result.rows, key=lambda one: -one.saved_share)
    own = format_share(result.settings.headroom, 0), format_share(result.settings.lead, 0)
    how = f"{own[0]} are kept free above the known runs; a size rises {own[1]} of its time earlier."
    after = "A killed run starts anew with the next larger size throughout."
    judged = replace(JUDGED, value=lambda one: sum(row.n_judged for row in one.rows))
    return Answer(
        growing_sentence(result),
        (Figure(SAVED, result), Figure(judged, result)),
        (Table("workloads", "Workloads", ROWS, rows),),
        (growing_note(result), how, after),
        {name: getattr(result, name) for name in ("counter", "step_s", "charged", "flat_charged")},
    )
