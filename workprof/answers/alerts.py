"""Alerts and what a look at them found: in words and tables; the numbers with short names."""

import math
from collections.abc import Sequence

from workprof.answers.changes import KILLS_PER_DAY, SAVED_IN_FACT, UNUSED
from workprof.answers.node_history import EXCLUDED_NOW, RERUN_NOW
from workprof.answers.verdict import SAVED
from workprof.core.alerts import Alert, Checked
from workprof.core.answer import Answer, Table
from workprof.core.table import Column
from workprof.core.units import number
from workprof.core.words import counted, listed

NUMBERS = {
    one.name: one
    for one in (
        KILLS_PER_DAY,
        UNUSED,
        Column("worse_rows", unit="count", heading="Rows that got worse", help="Since the week before."),
        Column("drifted", unit="count", heading="Drifted quantities", help="Since the week before: duration, memory."),
        Column(
            "appeared", unit="count", heading="Rows that appeared", help="Profiles, else tasks, since the week before."
        ),
        Column(
            "vanished", unit="count", heading="Rows that vanished", help="Profiles, else tasks, since the week before."
        ),
        SAVED_IN_FACT,
        SAVED,
        Column("degraded_nodes", unit="count", heading="Degraded nodes", help="When last looked for."),
        Column("degraded_probability", form="%.2f", heading="Probability", help="The largest of a node's newest run."),
        EXCLUDED_NOW,
        RERUN_NOW,
        Column("drifting_targets", unit="count", heading="Drifting forecasts", help="Profiles and targets that drift."),
        Column("age_h", unit="h", heading="Age of the newest run"),
        Column("failed_refreshes", unit="count", heading="Failed refreshes", help="In turn, of the dataset's source."),
    )
}
"""By the name that an alert gives; those of `changes` are of the last full week."""

ALERTS = (
    Column("alert", "name", "Alert", pinned=True),
    Column("when", heading="Fires when"),
    Column("dataset", heading="Dataset"),
)
CHECKED = (
    Column("alert", "alert.name", "Alert", pinned=True),
    Column("state", heading="State"),
    Column("value", lambda one: None if math.isnan(one.value) else one.value, "Value", form="%,.4g"),
    Column("when", "alert.when", "Fires when"),
    Column("dataset", "alert.dataset", "Dataset"),
    Column("problem", lambda one: one.problem or None, "Why not", optional=True),
)


def alerts_answer(alerts: Sequence[Alert], unseen: Alert | None = None) -> Answer:
    """Every alert; `unseen` is one of a path in an answer that is not computed yet."""
    sentence = f"{counted(len(alerts), 'alert')}; `workprof check` looks at all." if alerts else (
        "There is no alert yet; `workprof alert add NAME --when 'kills_per_day > 5' --dataset NAME` adds one."
    )  # fmt: skip
    notes = () if unseen is None else (
        f"{unseen.number} is not computed yet: whether there is such a number, `workprof check {unseen.name}` tells.",
    )  # fmt: skip
    return Answer(sentence, tables=(Table("alerts", "Alerts", ALERTS, alerts),), notes=notes)


def alert_words(one: Checked) -> str:
    """'kills: kills_per_day is 7, and fires when > 5'."""
    if one.problem:
        return f"{one.alert.name} could not be computed: {one.problem}"
    return f"{one.alert.name}: {one.alert.number} of {one.alert.dataset} is {number(one.value)} ({one.alert.when})"


def checked_answer(found: Sequence[Checked]) -> Answer:
    """What fired, and what could not be computed."""
    fired, unknown = [one for one in found if one.fired], [one for one in found if one.problem]
    if not found:
        sentence = "There is no alert to check."
    elif fired:
        sentence = (
            f"{len(fired):,} of {counted(len(found), 'alert')} fired: {listed([one.alert.name for one in fired])}."
        )
    else:
        sentence = f"No alert fired, of {len(found):,}."
    if unknown:
        sentence += f" {counted(len(unknown), 'alert')} could not be computed."
    document = {"fired": len(fired), "not_computed": len(unknown)}
    return Answer(sentence, tables=(Table("alerts", "Alerts", CHECKED, found),), document=document)
