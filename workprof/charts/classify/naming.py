"""What profiles are called in the figures of the classifier, and which definitions these follow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from workprof.charts.text import plotly_text
from workprof.forecasts.predictions import NO_PROFILE

PUBLISHED = (
    "Published definitions: every value its own column, XGBoost's defaults, trained on the rows with a profile; it "
    "never abstains."
)


@dataclass(frozen=True)
class Naming:
    """The words of one classifier.

    Attributes:
        names: profile -> name; a profile without one is 'P7'.
        mode: 'corrected' or 'faithful'.
    """

    names: Mapping[int, str] = field(default_factory=dict)
    mode: str = "corrected"

    def name(self, profile: int) -> str:
        """Return what a class is called; -1 is 'No profile'."""
        return "No profile" if profile == NO_PROFILE else self.names.get(profile) or f"P{profile}"

    def shown(self, profile: int, longest: int = 28) -> str:
        """Return the same for a figure."""
        return plotly_text(self.name(profile), longest)

    def note(self, text: str) -> str:
        """Return a chart's note, with the flag of the published definitions where they hold."""
        return f"{text} {PUBLISHED}" if self.mode == "faithful" else text
