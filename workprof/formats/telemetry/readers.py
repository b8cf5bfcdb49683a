"""The reader of each telemetry format."""

from collections.abc import Callable, Mapping
from pathlib import Path

from workprof.formats.measured import TELEMETRY, WIDE
from workprof.formats.telemetry.own import read_own
from workprof.formats.telemetry.perf_stat import read_perf_stat
from workprof.formats.telemetry.perfspect import read_perfspect
from workprof.formats.telemetry.prometheus import read_prometheus
from workprof.formats.telemetry.psrecord import read_psrecord
from workprof.formats.telemetry.sadf import read_sadf
from workprof.formats.telemetry.samples import Samples
from workprof.formats.telemetry.wide import read_wide

READERS: dict[str, Callable[[Path, str], Samples]] = {
    "perfspect": read_perfspect,
    "perf-stat": read_perf_stat,
    "sadf": read_sadf,
    "prometheus": read_prometheus,
    "psrecord": read_psrecord,
}
"""Readers of files that say everything themselves."""


def samples_of(
    path: Path, format_name: str, mapping: Mapping[str, str], origin: str, outcomes: Path | None, unit: str
) -> Samples:
    """The samples of a file of a known format; mapping and unit are of a wide one."""
    if format_name == TELEMETRY:
        return read_own(path, origin, outcomes)
    if format_name == WIDE:
        return read_wide(path, mapping, origin, unit)
    return READERS[format_name](path, origin)
