"""The last stop: what there is to take away."""

from __future__ import annotations

from workprof.charts.text import counted
from workprof.charts.tour.stop import TourStop
from workprof.units import format_bytes


def report_stop(n_sections: int, n_charts: int, n_tables: int, page_bytes: int) -> TourStop:
    """Return what the report holds.

    Args:
        n_sections: that could be made.
        n_charts: figures in it.
        n_tables: beside the figures' own.
        page_bytes: size of the HTML file.
    """
    return TourStop(
        headline=f"{counted(n_sections, 'section')} with {counted(n_charts, 'figure')} and "
        f"{counted(n_tables, 'table')} fit into one file of {format_bytes(page_bytes)} that opens without a network.",
        means="Whoever gets the file sees the same numbers as here, with every setting, seed and hash that they "
        "stand on.",
        means_not="It holds the sample, not your trace; what takes minutes (errors of duration estimates, sweeps) is "
        "on the pages and in a report made on the Report page.",
    )
