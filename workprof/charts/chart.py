"""What every figure function returns: the figure and everything that must stand beside it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from workprof.charts.help.explained import explained


@dataclass(frozen=True)
class Chart:
    """A figure with its words and its numbers.

    Attributes:
        name: stem of every file saved from it.
        figure: the Plotly figure.
        takeaway: what it says, in one sentence.
        alt: what it shows, for those who cannot see it.
        data: the numbers that it draws, one row per mark.
        note: what it rests on (rows, sampling, definitions); '' = nothing to add.
    """

    name: str
    figure: go.Figure
    takeaway: str
    alt: str
    data: pd.DataFrame
    note: str = ""


@dataclass(frozen=True)
class Headline:
    """One figure of a headline row: label, value as text, what it means, and an optional second line."""

    label: str
    value: str
    meaning: str
    detail: str = ""

    @property
    def help(self) -> str:
        """What it means here, and what the glossary says of its label."""
        return explained(self.label, self.meaning)
