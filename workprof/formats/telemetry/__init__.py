"""Counters by the second, from every tool that writes them: which tool wrote a text, and its rows.

The store calls these two functions; each format has a file of its own beside this one.
"""

from collections.abc import Mapping
from dataclasses import replace
from os import SEEK_END
from pathlib import Path

from workprof.core.errors import SettingsError
from workprof.formats.measured import TELEMETRY_FORMATS, Measured
from workprof.formats.telemetry.sniffing import sniffed
from workprof.store.reports import Check

__all__ = ["read", "sniffed"]


def read(
    path: Path,
    format_name: str,
    mapping: Mapping[str, str],
    origin: str,
    outcomes: Path | None = None,
    unit: str = "",
) -> Measured:
    """The rows of a plain UTF-8 file.

    The format is one of `workprof.formats.measured.TELEMETRY_FORMATS`; `mapping` is of 'wide': 't', 'run', 'workload'
    -> column, `unit` that of 't' ('' = as its name tells). The origin also names a run that has no name of its own.
    `outcomes` is of a recording of our own: the file beside it that tells how its runs ended (`<stem>.runs.jsonl`).

    Raises:
        TraceError: when the file is none of the format; says what it is instead and what to do.
        SettingsError: when the format's name is not known.
    """
    from workprof.formats.telemetry.readers import samples_of  # noqa: PLC0415  pandas waits until a file is read
    from workprof.formats.telemetry.samples import measured  # noqa: PLC0415  pandas waits until a file is read

    if format_name not in TELEMETRY_FORMATS:
        raise SettingsError(f"format {format_name!r} is not known; use one of {', '.join(TELEMETRY_FORMATS)}")
    result = measured(samples_of(path, format_name, mapping, origin, outcomes, unit), origin)
    return replace(result, checks=(*result.checks, *_unended(path)))


def _unended(path: Path) -> tuple[Check, ...]:
    """The doubt about the last value of a file that is copied while it is written; JSON that is cut is broken."""
    with path.open("rb") as stream:
        stream.seek(-min(1, path.stat().st_size), SEEK_END)
        cut = stream.read() not in (b"", b"\n", b"\r", b"}", b"]")
    text = "the file ends without a line end: its last value may be cut"
    return (Check("no_line_end", "warning", 1, text),) if cut else ()
