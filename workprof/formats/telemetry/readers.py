"""The reader of each telemetry format."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from workprof.formats.telemetry.own import read_own
from workprof.formats.telemetry.samples import Samples


def samples_of(path: Path, format_name: str, mapping: Mapping[str, str], origin: str, outcomes: Path | None) -> Samples:
    """Return the samples of a file of a known format."""
    if format_name == "telemetry":
        return read_own(path, origin, outcomes)
    raise NotImplementedError(format_name)
