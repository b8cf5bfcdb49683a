"""The sections of a report, one file per page, in the order in which they are read."""

from __future__ import annotations

from workprof.report.parts import Kind
from workprof.report.sections.classify import CLASSIFY
from workprof.report.sections.data import DATA
from workprof.report.sections.durations import DURATIONS
from workprof.report.sections.memory import MEMORY
from workprof.report.sections.nodes import DEGRADATION, RANKING
from workprof.report.sections.phases import EVALUATION, TIMELINES
from workprof.report.sections.profiles import PROFILES
from workprof.report.sections.sweep import SWEEP

SECTIONS: tuple[Kind, ...] = (
    DATA,
    PROFILES,
    CLASSIFY,
    SWEEP,
    DURATIONS,
    MEMORY,
    RANKING,
    DEGRADATION,
    TIMELINES,
    EVALUATION,
)
"""To add one: write a file beside these and list it here; page, command and test follow."""
