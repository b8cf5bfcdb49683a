"""What one stop of the tour holds."""

from __future__ import annotations

from dataclasses import dataclass

from workprof.charts.shapes import Chart, Headline


@dataclass(frozen=True)
class TourStop:
    """One stop of the tour, for people who have not seen the page before.

    Attributes:
        headline: what was found: one sentence with a number, its unit and its reserve.
        means: what follows from it.
        means_not: what does not.
        charts: one or two of the page's own.
        figures: of the page's own, a few.
    """

    headline: str
    means: str
    means_not: str
    charts: tuple[Chart, ...] = ()
    figures: tuple[Headline, ...] = ()
