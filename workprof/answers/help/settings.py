"""Every setting of every declared question: what it is, how it is spelled, and what it may be."""

from collections.abc import Iterable
from dataclasses import MISSING, dataclass
from typing import Any

import pandas as pd

from workprof.core.fields import Leaf, write
from workprof.core.question import Question
from workprof.core.table import Column, frame


@dataclass(frozen=True)
class SettingLine:
    """A setting of a question."""

    question: Question[Any, Any]
    leaf: Leaf

    @property
    def default(self) -> str:
        """As an option has it; '' where it has to be given or is empty."""
        return "" if self.leaf.default is MISSING else write(self.leaf, self.leaf.default)

    @property
    def allowed(self) -> str:
        """Choices, or bounds with their unit; '' = anything of its kind."""
        about = self.leaf.about
        if about.choices:
            return ", ".join(map(str, about.choices))
        low = about.least if about.least is not None else about.above
        bounds = [
            f"{word} {value:,.10g}"
            for word, value in (("from", low), ("to", about.most), ("below", about.below))
            if value is not None and self.leaf.each in (int, float)
        ]
        return " ".join([*bounds, *([about.unit] if about.unit and bounds else [])])


SETTING_COLUMNS = (
    Column("command", lambda line: " ".join(line.question.words), help="Of the shell, after `workprof`.", pinned=True),
    Column("setting", "leaf.label", help="As the page calls it, with the unit of its field.", pinned=True),
    Column("option", "leaf.flag"),
    Column("meaning", "leaf.about.help", width="large"),
    Column("default", help="As an option has it; nothing: it has to be given, or is empty."),
    Column("allowed", help="Choices, or bounds; a share is from 0 to 1.", width="medium"),
    Column("address", lambda line: line.leaf.key(line.question.page), heading="In the address"),
)


def setting_lines(questions: Iterable[Question[Any, Any]], text: str = "") -> tuple[SettingLine, ...]:
    """Return the settings that a command has, by command; those alone in which a text stands, where it is given."""
    named = sorted((one for one in questions if not one.no_command), key=lambda one: one.words)
    lines = [SettingLine(question, leaf) for question in named for leaf in question.leaves]
    seen = {(line.question.words, line.leaf.flag): line for line in reversed(lines)}  # of two questions of a command
    words = text.strip().lower()
    return tuple(
        line
        for line in lines
        if seen[line.question.words, line.leaf.flag] is line
        and words in " ".join([*line.question.words, line.leaf.flag, line.leaf.label, line.leaf.about.help]).lower()
    )


def settings_table(lines: Iterable[SettingLine]) -> pd.DataFrame:
    """Return one line per setting."""
    return frame(SETTING_COLUMNS, lines)
