"""Sources and their refreshes: in words."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from workprof.core.answer import Answer, Table
from workprof.core.refreshes import Refresh, SourceStatus
from workprof.core.table import Column
from workprof.core.units import format_duration
from workprof.core.words import counted, listed

NOT_YET = "not yet"


def minute(moment: str | float) -> str:
    """A moment as '2026-01-31 14:05 UTC'; '' for none."""
    if isinstance(moment, str):
        return f"{moment[:16].replace('T', ' ')} UTC" if moment else ""
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M} UTC" if moment else ""


SOURCES = (
    Column("source", "name", "Source", pinned=True),
    Column("kind", aside=True),
    Column("where", heading="Where"),
    Column("runs", "rows", "Runs", unit="count"),
    Column(
        "refreshed",
        lambda one: one.last.started if one.last else None,
        "Last refresh",
        said=lambda one: minute(one.last.started) if one.last else NOT_YET,
    ),
    Column("new", lambda one: one.last.new if one.last else None, "New", unit="count"),
    Column("changed_runs", lambda one: one.last.changed if one.last else None, "Changed", unit="count"),
    Column("rejected", lambda one: one.last.rejected if one.last else None, "Rejected", unit="count"),
    Column("every_s", "every_s", "Every", said=lambda one: format_duration(one.every_s) if one.every_s else "by hand"),
    Column("keep_s", "keep_s", "Keeps", said=lambda one: format_duration(one.keep_s) if one.keep_s else "all"),
    Column("until", lambda one: minute(one.until_s) or None, "Read until"),
    Column(
        "failed",
        lambda one: one.failed.started if one.failed else None,
        "Failed",
        optional=True,
        said=lambda one: minute(one.failed.started) if one.failed else "",
    ),
    Column("error", lambda one: one.failed.error if one.failed else None, "Why", optional=True),
)

REFRESHES = (
    Column("started", heading="Started", said=lambda one: minute(one.started)),
    Column("seconds", heading="Time", unit="s"),
    Column("runs", "rows", "Runs", unit="count", also=("rows",)),
    Column("new", heading="New", unit="count"),
    Column("changed_runs", "changed", "Changed", unit="count", also=("changed",)),
    Column("gone", heading="Gone", unit="count", help="Runs that the source no longer has."),
    Column("expired", heading="Expired", unit="count"),
    Column("rejected", heading="Rejected", unit="count"),
    Column("dataset", heading="Hash", aside=True),
    Column("error", lambda one: one.error or None, "Why it failed", optional=True),
)


def sources_answer(sources: Sequence[SourceStatus]) -> Answer:
    """All sources: when each was refreshed, what came, which failed."""
    failed = [one.name for one in sources if one.failed]
    new = [one.name for one in sources if not (one.last or one.failed)]
    if not sources:
        sentence = "There is no source yet; `workprof source add NAME --from KIND` adds one."
    elif failed:
        sentence = f"{listed(failed)} failed at the last refresh; the rows before it stay."
    elif new:
        sentence = f"{counted(len(sources), 'source')}; not refreshed yet: {listed(new)}."
    else:
        sentence = f"{counted(len(sources), 'source')}; no last refresh failed."
    return Answer(sentence, tables=(Table("sources", "Sources", SOURCES, sources),))


def source_answer(source: SourceStatus, history: Sequence[Refresh]) -> Answer:
    """One source with its history."""
    sentence = refresh_sentence(history[0]) if history else f"{source.name} was not refreshed yet."
    return Answer(
        sentence,
        tables=(Table("source", "Source", SOURCES, [source]), Table("refreshes", "Refreshes", REFRESHES, history)),
    )


def refreshed_answer(refreshes: Sequence[Refresh], warnings: Sequence[str] = ()) -> Answer:
    """What refreshes did, one a source; the document of one alone says at its top what its line says.

    `warnings` are of the rows that are there now.
    """
    alone: dict[str, Any] = {}
    if len(refreshes) == 1:
        (one,) = refreshes
        alone = {name: getattr(one, name) for name in ("rows", "new", "changed", "rejected", "seconds")}
        alone = {"dataset": one.source, "hash": one.dataset} | alone
    columns = (Column("source", heading="Source", pinned=True), *REFRESHES)
    return Answer(
        " ".join(map(refresh_sentence, refreshes)) or "There is no source to refresh.",
        tables=(Table("refreshes", "Refreshes", columns, refreshes),),
        notes=tuple(warnings),
        document=alone,
    )


def refresh_sentence(refresh: Refresh) -> str:
    """What one refresh did."""
    if refresh.error:
        return f"{refresh.source} failed at {minute(refresh.started)}; its rows are as they were: {refresh.error}."
    without = f" It no longer has {listed(refresh.gone_columns)}." if refresh.gone_columns else ""
    if not (refresh.new or refresh.changed or refresh.gone or refresh.expired or refresh.rejected):
        has = f"; it has {counted(refresh.rows, 'run')}" if refresh.rows else ""
        return f"Nothing new came from {refresh.source}{has}.{without}"
    counts = {"changed": refresh.changed, "gone": refresh.gone, "expired": refresh.expired}
    more = "".join(f", {count:,} {what}" for what, count in counts.items() if count)
    lost = f"; {counted(refresh.rejected, 'row')} could not be taken" if refresh.rejected else ""
    return f"{refresh.source} has {counted(refresh.rows, 'run')}: {refresh.new:,} new{more}{lost}.{without}"
