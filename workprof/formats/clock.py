"""What hour a trace's clock shows: seconds to add to its times so that hour of day and weekday are local."""

from workprof.core.units import HOUR_S

UTC_OFFSETS_S = {"pai-sample": 8 * HOUR_S, "pai-tables": 8 * HOUR_S}
"""The PAI trace's times are shifted by an unknown whole number of weeks; read at UTC+8 they keep hour and weekday
(its README)."""


def utc_offset_s(format_name: str) -> int:
    """Return the seconds to add to a format's times; 0 where they are plain UTC."""
    return UTC_OFFSETS_S.get(format_name, 0)
