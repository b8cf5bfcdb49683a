"""Records that a line break or a delimiter inside of a free text took apart, where a tool quotes nothing.

A record is put together again where the number of its columns, and the shapes of those that are no free texts, leave
one way to do it; else its lines are rejected.
"""

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from workprof.formats.declare import NUMBER, Format
from workprof.formats.fields import FIELDS

MOST_LINES = 100
"""A text of more lines is taken for lines that are cut off."""

MOST_WAYS = 1000
NUMBERS = re.compile(r"[+-]?[\d.].*")
"""Numbers, sizes, clocks and dates begin so."""

UNCLEAR = (
    "not as many values as headings: a free text may hold the delimiter; write it anew with another one, such as "
    "sacct --delimiter='^'"
)

Split = Callable[[str], list[str]]


@dataclass
class Whole:
    """A record that was put together, or a line that is none: then `cells` is None."""

    line: int
    cells: list[str] | None
    text: str = ""


@dataclass
class Rejoined:
    """The records of a text, one after another, and how many were put together."""

    names: Sequence[str]  # of the columns
    split: Split  # makes cells of a line
    known: Format  # the format: its free texts, shapes and types
    delimiter: str
    broken: int = 0
    joined: int = 0
    _held: list[tuple[int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Look up which columns are free texts, and the shape of the others."""
        self._free = [at for at, name in enumerate(self.names) if name in self.known.free_texts]
        shapes = {name: re.compile(shape) for name, shape in self.known.shapes}
        typed = {column.name for column in self.known.columns if column.type == NUMBER}
        typed |= {rule.source for rule in self.known.rules if FIELDS[rule.field].type == NUMBER}
        self._shapes = [shapes.get(name, NUMBERS if name in typed else None) for name in self.names]

    def records(self, lines: Iterator[tuple[int, str]]) -> Iterator[Whole]:
        """Yield the records of numbered lines; blank lines inside of a broken record belong to it."""
        wanted = len(self.names)
        before: Whole | None = None
        source = iter(lines)
        while (begun := self._next(source)) is not None:
            number, text = begun
            cells = self.split(text)
            if len(cells) == wanted:
                record = Whole(number, cells)
            elif len(cells) > wanted:
                record = Whole(number, self._merged(cells), text)
                self.joined += record.cells is not None
            else:
                record = self._continued(number, text, source)
                last = before.cells if before is not None and self._free[-1:] == [wanted - 1] else None
                if record.cells is None and len(cells) == 1 and last is not None:
                    self.broken += "\n" not in last[-1]  # a record that was whole without this line of its last column
                    last[-1] += f"\n{text}"
                    continue
            if before is not None:
                yield before
            before = record
        if before is not None:
            yield before

    def _next(self, source: Iterator[tuple[int, str]]) -> tuple[int, str] | None:
        return self._held.pop(0) if self._held else next(source, None)

    def _continued(self, number: int, text: str, source: Iterator[tuple[int, str]]) -> Whole:
        """The record that goes on in further lines; those are given back where it does not come out."""
        taken: list[tuple[int, str]] = []
        whole = text
        while len(taken) < MOST_LINES and (more := self._next(source)) is not None:
            taken.append(more)
            if len(self.split(more[1])) >= len(self.names) and self._fits(self.split(more[1])):
                break
            whole = f"{whole}\n{more[1]}"
            cells = self.split(whole)
            if len(cells) < len(self.names):
                continue
            # a further line may still belong to the last column, so that the first way that fits is taken
            result = cells if len(cells) == len(self.names) and self._sound(cells) else self._merged(cells)
            if result is not None:
                self.broken += 1
                return Whole(number, result)
        self._held[:0] = taken
        return Whole(number, None, text)

    def _merged(self, cells: Sequence[str]) -> list[str] | None:
        """The cells with the delimiters of free texts inside of them, None where that is not sure."""
        extra = len(cells) - len(self.names)
        found: list[list[str]] = []
        ways = itertools.combinations_with_replacement(self._free, extra)
        for way in itertools.islice(ways, MOST_WAYS):
            result, at = [], 0
            for column in range(len(self.names)):
                width = 1 + way.count(column)
                result.append(self.delimiter.join(cells[at : at + width]))
                at += width
            if self._sound(result) and result not in found:
                found.append(result)
                if len(found) > 1:
                    return None
        return found[0] if found else None

    def _sound(self, cells: Sequence[str]) -> bool:
        """Tell whether line breaks stand in free texts alone, and the other cells are what their columns say."""
        return self._fits(cells) and all("\n" not in cell or at in self._free for at, cell in enumerate(cells))

    def _fits(self, cells: Sequence[str]) -> bool:
        nulls = self.known.nulls
        return all(
            shape is None or cell.strip() in nulls or shape.fullmatch(cell.strip()) is not None
            for shape, cell in zip(self._shapes, cells, strict=False)
        )
