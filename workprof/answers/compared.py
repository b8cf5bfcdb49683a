"""The verdict among the policies, in words and as a table."""

from __future__ import annotations

from workprof.answers.verdict import applied_words, kills_words
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import format_share
from workprof.core.words import counted
from workprof.memory.origins import TABLE
from workprof.memory.policies import POLICY_WORDS
from workprof.memory.policy_figures import REQUESTS, VERDICT, Compared, ComparedLine

SIZED_AT = "sizes are fixed at submission"
HINDSIGHT = "in hindsight: nothing that can be had"


def line_name(line: ComparedLine) -> str:
    """Return what a line is called: 'verdict, table', or the policy in words."""
    return f"{VERDICT}, {line.applied}" if line.name == VERDICT else POLICY_WORDS.get(line.name, line.name)


def _how(line: ComparedLine) -> str:
    if line.hindsight:
        return HINDSIGHT
    if line.name == REQUESTS:
        return "today"
    return applied_words(line.applied) if line.name == VERDICT else SIZED_AT


COMPARED: tuple[Column, ...] = (
    Column("name", line_name, heading="Sized by", pinned=True),
    Column("saved_share", heading="Saved", unit="share", help="Of the booked GB·h, killed attempts charged."),
    Column("kills", heading="Kills", unit="count", help="Sizes below both request and use."),
    Column("wasted_gb_h", heading="Unused", unit="GB·h", help="Charged and not used."),
    Column("charged_gb_h", heading="Charged", unit="GB·h"),
    Column("n_sized", heading="Sized runs", unit="count", help="Runs with another size than their request."),
    Column("how", _how, heading="How"),
)


def compared_answer(found: Compared) -> Answer:
    """Return a line for the verdict under both ways to apply it, and one for each policy."""
    return Answer(compared_sentence(found), (), (Table("compared", "", COMPARED, found.lines),))


def compared_sentence(found: Compared) -> str:
    """Return what the verdict saves, and the policy that saves most with no more kills."""
    ours = next(line for line in found.lines if line.applied == TABLE)  # as Plan says it
    others = [line for line in found.lines if not line.hindsight and line.name not in (VERDICT, REQUESTS)]
    fit = [line for line in others if line.kills <= ours.kills and line.saved_share > 0]
    words = f"On {counted(found.n_runs, 'later run')} the verdict saves {format_share(ours.saved_share)} "
    words += f"with {kills_words(ours.kills)}"
    if not fit:
        return f"{words}; no policy saves with as few."
    best = max(fit, key=lambda line: line.saved_share)
    return f"{words}; with no more, {line_name(best)} saves {format_share(best.saved_share)}."
