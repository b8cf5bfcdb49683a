"""Slurm accounting as `sacct` prints it on a screen: columns of a fixed width under a line of dashes, long values cut.

The same reader takes dumps with an unusual delimiter (`--delimiter='^'`), tables made of a screen's cut ids, and those
with commas whose lists hold commas of their own without quotes: resources ('cpu=4,mem=16G'), nodes ('n[1,3]'), arrays
('12_[1,5]'); and those without a heading whose columns their cells tell.

Source: Slurm's manual page of sacct (`--format`, `--parsable`, `--delimiter`).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from workprof.core.errors import TraceError
from workprof.core.units import MIB
from workprof.formats import slurm, slurm_bare
from workprof.formats.declare import Given, Read, Reader, Remark, Unreadable

COLUMNS = tuple(column.name for column in slurm.COLUMNS)
LONGEST_LINE_BYTES = MIB
LOOKED_AT_LINES = 1000

USUAL = (",", "\t", ";", "|")
"""Delimiters of any table; with them a dump is read as one."""

_DASHES = re.compile(r"^-+(?: +-+)+\s*$")
_HEADING = r"[A-Za-z]\w*(?:%-?\d+)?"
_DELIMITED = re.compile(rf"^{_HEADING}([^\w\s%\"'.:-]{{1,8}}){_HEADING}(?:\1{_HEADING})*(?:\1)?\s*$")
_CUT = re.compile(rb"\s*\d[\d_]*\+\s*$")
_RESOURCE = re.compile(r"^[A-Za-z][\w/:.\-]*=[^,=]*$")

Cut = Callable[[bytes], list[str] | None]
"""Returns the cells of a line, None where it has too few or too many."""


@dataclass(frozen=True)
class Layout:
    """How a dump's lines become cells."""

    names: tuple[str, ...]  # the headings as sacct spells them
    cut: Cut  # of a line; `widths` of the columns where they are fixed
    widths: tuple[int, ...] = ()
    lines: int = 1  # that the headings take


def layout(lines: Sequence[bytes]) -> Layout | None:
    """Return the layout that a dump's first lines, no blank ones, tell; None where they are of another kind."""
    if not lines:
        return None
    first = lines[0].decode(errors="replace").removeprefix("\ufeff")
    if len(lines) > 1 and _DASHES.match(lines[1].decode(errors="replace")):
        spans = [match.span() for match in re.finditer(rb"-+", lines[1])]
        headings = [_whole(_cell(lines[0].removeprefix(b"\xef\xbb\xbf"), span), span[1] - span[0]) for span in spans]
        names = slurm.headings(headings)
        widths = tuple(end - start for start, end in spans)
        return None if names is None else Layout(names, lambda line: [_cell(line, s) for s in spans], widths, 2)
    match = _DELIMITED.match(first)
    if match is None:
        return _without_heading(lines)
    delimiter = match.group(1)
    headings = first.strip().split(delimiter)
    ends = headings[-1] == ""
    names = slurm.headings(headings[:-1] if ends else headings)
    if names is None:
        return None
    if delimiter not in USUAL or _has_cut_ids(lines[1:], delimiter, names):
        return Layout(names, lambda line: _split(line, delimiter, len(names), ends))
    if delimiter == "," and _has_bare_commas(lines, names, ends):
        return Layout(names, lambda line: _joined(line, names, ends))
    return None


def _without_heading(lines: Sequence[bytes]) -> Layout | None:
    """The layout of a dump without a heading, None where a column or the time that a job ran is not known."""
    texts = [line.decode(errors="replace").removeprefix("\ufeff") for line in lines]
    delimiter = next((each for each in slurm_bare.DELIMITERS if slurm_bare.is_sacct([texts[0].split(each)])), "")
    names = slurm_bare.names_of(slurm_bare.rows_of(texts, delimiter)) if delimiter else ()
    if "Elapsed" not in names or slurm_bare.DOUBTFUL in names:
        return None
    ends = texts[0].count(delimiter) == len(names)
    return Layout(names, lambda line: _split(line, delimiter, len(names), ends), lines=0)


def without_heading(head: str) -> tuple[str, ...]:
    """What the columns of a dump without a heading are taken for, () of any other text."""
    lines = head.splitlines()[: LOOKED_AT_LINES if head.endswith("\n") else -1]
    known = _without_heading([line.encode() for line in lines if line.strip()] or [b""])
    return known.names if known else ()


def recognises(head: str, name: str) -> bool:
    """Tell whether a text begins such a dump."""
    if head.lstrip()[:1] in ("", "{", "[", "#"):
        return False
    return layout([line.encode() for line in head.splitlines()[:LOOKED_AT_LINES] if line.strip()]) is not None


def read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    """Yield a row for every line of a job or a step.

    Raises TraceError when the first lines are no headings of sacct, or tell no times.
    """
    for given in sources:
        lines = _lines(given)
        held = [next(lines, None) for _ in range(LOOKED_AT_LINES)]
        first = [each for each in held if each is not None]
        known = layout([line for _, line in first])
        if known is None:
            raise TraceError(f"{given.name}: its first lines are no headings of sacct; print it with sacct -P")
        if not {"Elapsed", "ElapsedRaw"} & set(known.names) and not {"Start", "End"} <= set(known.names):
            raise TraceError(
                f"{given.name}: it does not say how long a job ran; ask sacct for it (--format=...,Start,End,Elapsed), "
                f"columns found: {', '.join(known.names)[:500]}"
            )
        yield from _rows(given.name, known, iter(first), lines)
        if not known.lines:
            text = (
                f"columns have no heading; by what stands in them they are {'|'.join(known.names)}: if one of them is "
                f"wrong, write the right names into a first line and load the file again"
            )
            yield Remark("no heading", len(known.names), f"{len(known.names):,} {text}", "warning")


OF_A_JOB = ("User", "UID", "Group", "GID", "Partition", "QOS", "Timelimit", "TimelimitRaw", "Priority", "Eligible")
"""Columns that sacct fills on the line of a job and leaves empty on those of its steps."""

OF_STEPS = ("batch", "extern", "interactive")


class _CutIds:
    """Lines whose ids sacct cut to fit ('15715316_97+'): the ids of jobs stay as cut, steps get that of their job."""

    def __init__(self, known: Layout, name: str) -> None:
        self._name = name
        self._at = known.names.index("JobID")
        self._width = known.widths[self._at] if known.widths else 0
        self._job_name = known.names.index("JobName") if "JobName" in known.names else -1
        self._of_a_job = [at for at, column in enumerate(known.names) if column in OF_A_JOB]
        self._seen: dict[str, int] = {}
        self._job, self._steps = "", 0
        self.lines = 0

    def told(self, number: int, cells: Sequence[str]) -> str:
        """The id of a line; raises TraceError where nothing tells whether it is a job or a step."""
        cut = cells[self._at]
        if not cut.endswith("+") or (self._width and len(cut) != self._width) or "." in cut:
            return cut
        self.lines += 1
        step = cells[self._job_name] if self._job_name >= 0 else ""
        within = bool(self._job) and self._job.split(" #")[0] == cut
        if within and step in OF_STEPS:
            return f"{self._job}.{step}"
        if self._of_a_job and not any(cells[at] for at in self._of_a_job) and within:
            self._steps += 1
            return f"{self._job}.{self._steps - 1}"
        if step in OF_STEPS or (within and not self._of_a_job):
            raise TraceError(
                f"{self._name}: the id in line {number:,} was cut to fit ({cut!r}), and nothing tells whether it is a "
                f"job or a step; print it with sacct -P, or with --format=JobID%30,..."
            )
        self._seen[cut] = self._seen.get(cut, 0) + 1
        self._job, self._steps = cut if self._seen[cut] == 1 else f"{cut} #{self._seen[cut]}", 0
        return self._job

    def remarks(self) -> Iterator[Remark]:
        """Yield what was made of cut ids."""
        if self.lines:
            text = (
                f"{self.lines:,} lines have ids that sacct cut off to fit ('157+'): jobs keep them as cut (the second "
                f"ends in '#2'), steps are known by their names and empty columns; print it with sacct -P"
            )
            yield Remark("cut keys", self.lines, text, "warning")


def _rows(
    name: str, known: Layout, first: Iterator[tuple[int, bytes]], rest: Iterator[tuple[int, bytes]]
) -> Iterator[Read | Unreadable | Remark]:
    heading = [line for _, line in (next(first) for _ in range(known.lines))]
    places = [COLUMNS.index(name) if name in COLUMNS else -1 for name in known.names]
    cut_off = repeated = 0
    cut_ids = _CutIds(known, name)
    for source in (first, rest):
        for number, line in source:
            if line.strip() in (each.strip() for each in heading):
                repeated += 1
                continue
            cells = None if len(line) > LONGEST_LINE_BYTES else known.cut(line)
            if cells is None:
                yield Unreadable(number, "", line.decode(errors="replace")[:500], "not as many values as headings")
                continue
            cut_off += _is_cut(cells, known.widths)
            cells[known.names.index("JobID")] = cut_ids.told(number, cells)
            row: list[str | float | None] = [None] * len(COLUMNS)
            for place, cell in zip(places, cells, strict=True):
                if place >= 0:
                    row[place] = cell
            yield Read(number, row)
    if repeated:
        yield Remark("repeated headings", repeated, f"{repeated:,} lines repeat the headings; they are no jobs")
    yield from cut_ids.remarks()
    if cut_off:
        text = (
            f"{cut_off:,} lines have values that sacct cut off to fit ('batch+'); print it with sacct -P to have them"
        )
        yield Remark("values cut off", cut_off, text, "warning")
    unknown = [name for name in known.names if name not in COLUMNS]
    if unknown:
        text = f"columns that sacct's manual does not know were left out: {', '.join(unknown)[:500]}"
        yield Remark("unknown columns", len(unknown), text)


def _is_cut(cells: Sequence[str], widths: Sequence[int]) -> bool:
    return any(cell.endswith("+") and len(cell.encode()) == width for cell, width in zip(cells, widths, strict=False))


def _lines(given: Given) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank with their numbers; of one that is too long, its beginning."""
    number, begun = 0, False
    while raw := given.stream.readline(LONGEST_LINE_BYTES + 1):
        if not begun:
            number += 1
            if raw.strip():
                yield number, raw.rstrip(b"\r\n") if raw.endswith(b"\n") else raw
        begun = not raw.endswith(b"\n")


def _cell(line: bytes, span: tuple[int, int]) -> str:
    return line[slice(*span)].decode(errors="replace").strip()


def _whole(heading: str, width: int) -> str:
    """A heading that was cut to its column's width as a whole, where only one begins so."""
    if heading in COLUMNS or len(heading) < width:
        return heading
    result = [name for name in COLUMNS if name.startswith(heading.rstrip("+"))]
    return result[0] if len(result) == 1 else heading


def _split(line: bytes, delimiter: str, wanted: int, ends: bool) -> list[str] | None:
    cells = line.decode(errors="replace").split(delimiter)
    if ends and len(cells) == wanted + 1 and not cells[-1].strip():
        cells.pop()
    return cells if len(cells) == wanted else None


def _has_bare_commas(lines: Sequence[bytes], names: Sequence[str], ends: bool) -> bool:
    """Tell whether a line has more commas than the headings, no quotes, and lists that take them all."""
    more = (line for line in lines[1:] if line.count(b",") >= len(names) + ends and b'"' not in line)
    return any(_joined(line, names, ends) is not None for line in more)


def _has_cut_ids(lines: Iterable[bytes], delimiter: str, names: Sequence[str]) -> bool:
    """Tell whether the ids of a table were cut to fit a screen before it became one."""
    at, sign = names.index("JobID"), delimiter.encode()
    return any(b'"' not in line and _CUT.match(line.split(sign)[at]) for line in lines if line.count(sign) >= at)


def _joined(line: bytes, names: Sequence[str], ends: bool) -> list[str] | None:
    """The cells of a line between commas, lists put together again; None where they do not come out."""
    parts = line.decode(errors="replace").split(",")
    if ends and parts and not parts[-1].strip():
        parts.pop()
    cells, at = [], 0
    for name in names:
        if at == len(parts):
            return None
        cell, at = parts[at], at + 1
        if "TRES" in name and _RESOURCE.match(cell):
            keys = {cell.split("=", 1)[0]}
            while at < len(parts) and _RESOURCE.match(parts[at]) and parts[at].split("=", 1)[0] not in keys:
                keys.add(parts[at].split("=", 1)[0])
                cell, at = f"{cell},{parts[at]}", at + 1
        while cell.count("[") > cell.count("]") and at < len(parts):
            cell, at = f"{cell},{parts[at]}", at + 1
        cells.append(cell)
    return cells if at == len(parts) else None


FORMAT = replace(
    slurm.FORMAT,
    name="slurm-print",
    title="Slurm accounting (sacct without -P)",
    signature=(),
    headings=None,
    reader=Reader(recognises, COLUMNS, read),
)
