"""The answer to a question: a sentence, up to four figures, tables and notes, and one renderer for each face."""

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from workprof.core.records import to_json as plain_json
from workprof.core.table import MISSING, Column, csv_bytes, frame, is_missing
from workprof.core.text import visible
from workprof.core.words import markdown_text

MOST_FIGURES = 4
MOST_ROWS = 30
"""Rows of a table in a shell; documents and files have all of them."""
LONGEST_TEXT = 10_000
BROKEN_FROM = 12
"""Characters of a word that a narrow shell may break rather than leave out a column."""


@dataclass(frozen=True)
class Figure:
    """A number of a headline row: what it is stands in its column, once for all faces."""

    column: Column
    record: Any  # that the column reads
    detail: str = ""  # a second line
    help: str = ""  # in place of the column's, where it depends on the answer
    lacking: str = "no data"  # where there is no value: why, in two words

    @property
    def label(self) -> str:
        """What it is."""
        return self.column.words

    @property
    def value(self) -> str:
        """With its unit; what it lacks where there is none."""
        return self.column.text(self.record) or self.lacking

    @property
    def meaning(self) -> str:
        """What it means."""
        return self.help or self.column.help


@dataclass(frozen=True)
class Table:
    """Rows under declared columns."""

    name: str  # its key in the document and the end of its file's name
    title: str  # a heading above it
    columns: tuple[Column, ...]
    rows: Sequence[Any]

    @cached_property
    def held(self) -> tuple[Column, ...]:
        """The columns that are shown: an optional one needs a row with a value."""
        return tuple(one for one in self.columns if one.shown and (not one.optional or self._has(one)))

    def _has(self, column: Column) -> bool:
        return any(not is_missing(end.of(row)) for row in self.rows for end in column.ends())

    def frame(self) -> pd.DataFrame:
        """Numbers in one unit a column, both ends of intervals, under the names in files."""
        return frame(self.held, self.rows)

    @property
    def seen(self) -> tuple[Column, ...]:
        """The columns that people see; files have those aside, too."""
        return tuple(one for one in self.held if not one.aside)

    def shown(self) -> pd.DataFrame:
        """As a page shows it: numbers as they are, texts and intervals ('low to high') under the lower end's name."""
        return pd.DataFrame(
            {
                column.name: [column.cell(row) if column.to or column.said else column.of(row) for row in self.rows]
                for column in self.seen
            }
        )

    def documents(self) -> list[dict[str, Any]]:
        """One object a row: every declared name, absent values as null, former names beside the new."""
        return [documents_of(self.columns, row) for row in self.rows]

    def csv(self, *, mark: bool = False) -> bytes:
        """As a file for spreadsheets; `mark` = with a byte order mark."""
        return csv_bytes(self.frame(), mark=mark)


def documents_of(columns: Iterable[Column], record: Any) -> dict[str, Any]:
    """The values of a record by their names in documents; former names beside the new."""
    result: dict[str, Any] = {}
    for end in (end for column in columns for end in column.ends()):
        value = plain_json(end.of(record))
        result |= dict.fromkeys((end.name, *end.also), value)
    return result


@dataclass(frozen=True)
class Answer:
    """What is said of a record, whoever asks."""

    sentence: str  # at most 20 words: the figure that matters, and one for scale
    figures: tuple[Figure, ...] = ()
    tables: tuple[Table, ...] = ()
    notes: tuple[str, ...] = ()  # what limits it; a shell prints them on stderr
    document: Mapping[str, Any] = field(default_factory=dict)  # further keys of its JSON; they take precedence

    def __post_init__(self) -> None:
        if len(self.figures) > MOST_FIGURES:
            raise ValueError(f"{len(self.figures)} figures; an answer has at most {MOST_FIGURES}")

    def table(self, name: str = "") -> Table:
        """A table by name; '' = the first. Raises KeyError for a name that there is not."""
        return next(one for one in self.tables if name in ("", one.name)) if self.tables else _no_table(name)

    def _repr_markdown_(self) -> str:
        return to_markdown(self)


def _no_table(name: str) -> Table:
    raise KeyError(f"no table {name!r}")


def to_json(answer: Answer) -> dict[str, Any]:
    """A plain JSON tree: sentence, figures by name, rows of tables, notes, and the further keys of the document."""
    figures = [documents_of([one.column], one.record) for one in answer.figures]
    tables = {one.name: one.documents() for one in answer.tables}
    own: dict[str, Any] = plain_json(answer.document)
    made: dict[str, Any] = {"sentence": answer.sentence}
    for one in figures:
        made |= one
    return made | tables | {"notes": list(answer.notes)} | own


def to_frame(answer: Answer, name: str = "") -> pd.DataFrame:
    """A table by name; '' = the first."""
    return answer.table(name).frame()


def to_csv(answer: Answer, name: str = "", *, mark: bool = False) -> bytes:
    """A table as a file for spreadsheets: by name, '' = the first; `mark` = with a byte order mark."""
    return answer.table(name).csv(mark=mark)


def to_text(answer: Answer, width: int | None = None, most_rows: int = MOST_ROWS) -> str:
    """For a shell, in that many characters (None = no line is broken): sentence, figures, tables; notes are apart."""
    parts = [answer.sentence]
    if answer.figures:
        columns = (Column("figure", "label"), Column("value"), Column("detail", optional=True))
        parts.append(_aligned(Table("", "", columns, answer.figures), width, heading=False))
    for table in answer.tables:
        first = replace(table, rows=table.rows[:most_rows])
        rest = len(table.rows) - len(first.rows)
        more = f"\n... and {rest:,} more: --json has them" if rest else ""
        title = f"{table.title}\n" if len(answer.tables) > 1 and table.title else ""
        parts.append(f"{title}{_aligned(first, width)}{more}")
    return "\n\n".join(parts)


def _aligned(table: Table, width: int | None, *, heading: bool = True) -> str:
    from rich.console import Console  # noqa: PLC0415  `workprof --version` stays quick
    from rich.table import Table as Grid  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    if not table.rows:
        return "(none)"
    cells = [[_line(column.title), *(_line(column.cell(row)) for row in table.rows)] for column in table.seen]
    count = _fitting(cells, width)
    grid = Grid(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=heading)
    for column in table.seen[:count]:
        right = all(isinstance(column.of(row), (int, float, np.number)) for row in table.rows) and column.to is None
        grid.add_column(Text(_line(column.title)), justify="right" if right else "left", overflow="fold")
    for row in list(zip(*cells[:count], strict=True))[1:]:
        grid.add_row(*map(Text, row))
    target = io.StringIO()
    Console(file=target, width=width or LONGEST_TEXT, color_system=None, soft_wrap=False).print(grid)
    aside = ", ".join(column[0] for column in cells[count:])
    return "\n".join(
        [line.rstrip() for line in target.getvalue().splitlines()] + [f"(no room for: {aside})"] * bool(aside)
    )


def _fitting(cells: Sequence[Sequence[str]], width: int | None) -> int:
    """How many columns find room without breaking short words; at least one."""
    least = [2 + min(BROKEN_FROM, max(map(len, " ".join(column).split()), default=0)) for column in cells]
    fitting = [count for count in range(1, len(cells) + 1) if width is None or sum(least[:count]) - 2 <= width]
    return max(fitting, default=1)


def _line(text: str) -> str:
    return visible(text).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def to_markdown(answer: Answer) -> str:
    """For notebooks, notes and mails: the sentence in bold, figures as a list, tables, notes; all texts escaped."""
    parts = [f"**{_marked(answer.sentence)}**"] if answer.sentence else []
    figures = [
        f"- {_marked(one.label)}: **{_marked(one.value)}** {_marked(one.detail)}".rstrip() for one in answer.figures
    ]
    parts += ["\n".join(figures)] if figures else []
    for table in answer.tables:
        head = [_marked(column.title) for column in table.seen]
        rule = ["--:" if column.number else "---" for column in table.seen]
        body = [[_marked(column.cell(row) or MISSING) for column in table.seen] for row in table.rows]
        lines = "\n".join(f"| {' | '.join(cells)} |" for cells in (head, rule, *body))
        parts.append(f"{f'{_marked(table.title)}' if table.title else ''}\n\n{lines}".strip())
    return "\n\n".join(part for part in (*parts, *map(_marked, answer.notes)) if part)


def _marked(text: str) -> str:
    return markdown_text(text, LONGEST_TEXT)
