"""What every command shares: common options, the opened home, JSON or text on stdout, progress on stderr."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import json
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from workprof.cli import files
from workprof.cli.files import STDOUT
from workprof.core.errors import SettingsError
from workprof.core.progress import Progress
from workprof.core.settings import Settings, from_environment
from workprof.core.text import visible

if TYPE_CHECKING:
    from workprof.core.answer import Answer
    from workprof.core.shares import Share

Home = Annotated[
    Path | None,
    typer.Option("--home", help="Folder of database and cache (default: WORKPROF_HOME).", show_default=False),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document on stdout and nothing else there.")]
SCOPED = {
    **{name: name for name in ("user", "group", "partition", "namespace", "workload")},
    **{"task": "task_name", "node_kind": "node_kind"},
}
"""Option of a scope -> the column whose values it takes: each is short for --only, where a command has no such own."""
ONLY = f"Only runs of it, such as user=ann; repeat. Short: --{', --'.join(SCOPED).replace('_', '-')}."
PERIOD = "Only runs that start then: 2026-01, 2026-01-15..2026-02-14. Its ends alone: --since, --until."
Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="NAME=VALUE", help=ONLY, show_default=False),
]
Period = Annotated[
    str | None,
    typer.Option("--period", help=PERIOD, show_default=False),
]


def dataset_names(context: typer.Context, incomplete: str) -> list[str]:
    """The datasets of the home whose names begin so, for a shell; none where the home cannot be read."""
    from workprof.core.errors import WorkprofError  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.store.trace_store import TraceStore  # noqa: PLC0415

    above: Any = context
    while above is not None and not above.params.get("home"):
        above = above.parent
    given = Path(above.params["home"]) if above is not None else None
    with contextlib.suppress(WorkprofError):
        settings = replace(settings_for(given), readonly=True, wait_s=1.0)
        with contextlib.closing(TraceStore(settings)) as store:
            return [one.name for one in store.datasets() if one.name.startswith(incomplete)]
    return []


NAMED = "Name, or 8 characters of the hash."
Dataset = Annotated[str, typer.Argument(help=NAMED, show_default=False, autocompletion=dataset_names)]


def register(
    app: typer.Typer, name: str, title: str, command: Callable[..., None], parameters: Sequence[inspect.Parameter]
) -> None:
    """Add a function as a command with these parameters, whatever its own are."""
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in parameters}
    command.__doc__ = title
    app.command(name=name)(command)


def parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    """Return a parameter of a command; without a default it has to be given."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


OUT = (parameter("home", Home, None), parameter("as_json", Json, False))
"""Last parameters of a command on a home."""


@dataclass
class _Chosen:
    """What was given before a command, or is understood by every command."""

    home: Path | None = None
    wait_s: float | None = None
    file: files.File | None = None


_chosen = _Chosen()


def choose_home(home: Path | None, wait_s: float | None = None) -> None:
    """Remember the home and the time to wait that were given before the command."""
    _chosen.home, _chosen.wait_s, _chosen.file = home, wait_s, None


def choose_file(given: Mapping[str, Any], as_json: bool) -> None:
    """Remember the file that the answer of the command goes to, refused before anything is computed."""
    _chosen.file = files.asked(given, as_json)


def choose_wait(wait_s: float | None) -> float | None:
    """Remember the time to wait that was given after the command, and return it."""
    if wait_s is not None:
        _chosen.wait_s = wait_s
    return wait_s


def settings_for(home: Path | None) -> Settings:
    """Return the settings with the home given after or before the command, else the environment's."""
    settings = from_environment()
    given = home or _chosen.home
    settings = settings.at(given) if given is not None else settings
    return settings if _chosen.wait_s is None else replace(settings, wait_s=_chosen.wait_s)


@contextlib.contextmanager
def opened(home: Path | None, room: str = "whole:Workbench") -> Iterator[Any]:
    """Open the workbench of a home for one command; `room` (module:class) is imported now, with its questions alone."""
    module, _, name = room.partition(":")
    kind = getattr(importlib.import_module(f"workprof.workbench.{module}"), name)
    with kind(settings_for(home)) as workbench:
        yield workbench


def announce_home(home: Path) -> None:
    """Say once on stderr how to close a home that other users of the machine can look into."""
    from workprof.store.home import open_to_others  # noqa: PLC0415  `workprof --version` stays quick

    warning = open_to_others(home)
    if warning:
        warn(f"warning: {warning}")


def emit(result: object, as_json: bool, text: Callable[[], str]) -> None:
    """Print the answer: as JSON, or as text for people; or write its rows to the file that was asked."""
    from workprof.core.records import to_json  # noqa: PLC0415  `workprof --version` stays quick

    to = _chosen.file
    if to is not None:
        told = files.answer_of(to_json(result))
        content = f"{json.dumps(to_json(result), allow_nan=False)}\n".encode() if to.kind == files.JSON else None
        _write(files.content_of(told, to) if content is None else content, files.rows_of(told, to), to, as_json)
        return
    printed = json.dumps(to_json(result), allow_nan=False) if as_json else plain(text())
    with _reader():
        print(printed, flush=True)  # noqa: T201  stdout is the product; what finds no room is told, not lost at the end


@contextlib.contextmanager
def _reader() -> Iterator[None]:
    """Who reads the output may have enough of it, as `| head` has: that is no error."""
    try:
        yield
    except BrokenPipeError:
        leave(0)


def leave(status: int) -> NoReturn:
    """End the process with a status even where the rest of its output cannot be written either."""
    with contextlib.suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(status)


def _write(content: bytes, rows: int, to: files.File, as_json: bool) -> None:
    """Write a file, and say so; on standard output nothing else is said."""
    if to.path == STDOUT:
        emit_file(content)
        return
    from workprof.core.words import counted  # noqa: PLC0415  light until needed
    from workprof.store.outputs import write_whole  # noqa: PLC0415

    write_whole(to.path, content)
    about = {"file": str(to.path), "rows": rows, "seconds": time.perf_counter() - to.started}
    _chosen.file = None
    emit(about, as_json, lambda: f"{counted(rows, 'row')} written to {to.path}")


def emit_answer(answer: Answer, as_json: bool, shares: Sequence[Share] = ()) -> None:
    """Print an answer: its notes on stderr, then its JSON, or its text as wide as the terminal."""
    from workprof.core.answer import to_json, to_text  # noqa: PLC0415  `workprof --version` stays quick

    for note in answer.notes:
        warn(f"note: {note}")
    if filed(answer, shares, as_json):
        return
    emit_of(shares, lambda: to_json(answer), as_json, lambda: to_text(answer, width()))


def filed(answer: Answer, shares: Sequence[Share], as_json: bool) -> bool:
    """Write an answer to the file that was asked, if any; return whether one was."""
    from workprof.core.shares import in_words  # noqa: PLC0415  `workprof --version` stays quick

    to = _chosen.file
    if to is None:
        return False
    if shares:
        warn(f"note: {in_words(shares)}")
    _write(files.content_of(answer, to), files.rows_of(answer, to), to, as_json)
    return True


def emit_file(content: bytes) -> None:
    """Print the content of a file, and nothing else."""
    if content.startswith(PARQUET_MARK):
        if sys.stdout.isatty():
            raise SettingsError("--parquet prints bytes, which no terminal shows; give -o FILE, or a pipe")
        with _reader():
            sys.stdout.flush()
            sys.stdout.buffer.write(content)
            sys.stdout.buffer.flush()
        return
    with _reader():
        print(content.decode(), end="", flush=True)  # noqa: T201  stdout is the product


PARQUET_MARK = b"PAR1"


@contextlib.contextmanager
def file_of(output: Path, suffix: str, as_json: bool) -> Iterator[Path]:
    """The file that a command writes; for `-o -` one aside, which is printed at the end.

    Raises SettingsError where --json is to be printed there, too.
    """
    if output != STDOUT:
        yield output
        return
    if as_json:
        raise SettingsError("-o - prints the file on stdout, where --json prints its answer; leave out one")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"output{suffix}"
        yield path
        emit_file(path.read_bytes())


def emit_of(shares: Sequence[Share], made: Callable[[], Any], as_json: bool, text: Callable[[], str]) -> None:
    """Print an answer about a dataset; where its numbers are shares of a machine, that is said with it.

    The document is made where it is wanted. In JSON the shares are its key `machine_shares`, where it is an object; in
    text they are the first lines.
    """
    from workprof.core.shares import in_words  # noqa: PLC0415  `workprof --version` stays quick

    result = made() if as_json or _chosen.file is not None else None
    if shares and isinstance(result, dict):
        result = result | {"machine_shares": shares}
    emit(result, as_json, lambda: f"{in_words(shares)}\n\n{text()}" if shares else text())


def plain(text: str) -> str:
    """Return a text that moves no cursor and turns no line round: other control characters as they are spelled."""
    return visible(text).replace("\r", "\\r")


def warn(message: str) -> None:
    """Print one line on stderr."""
    with contextlib.suppress(BrokenPipeError):  # `2>&1 | head`
        print(plain(message), file=sys.stderr)  # noqa: T201  stderr is where people look


def passing(message: str) -> None:
    """Print one line above the progress on a terminal's stderr, and nothing elsewhere."""
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
        warn(message)


def width() -> int | None:
    """The characters of a line on a terminal; None elsewhere, where no line is broken."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def progress_line() -> Progress:
    """Return a progress that redraws one line on a terminal's stderr and is silent elsewhere."""
    last, started = 0.0, time.monotonic()

    def redraw(fraction: float | None, message: str) -> None:
        nonlocal last
        now = time.monotonic()
        if not sys.stderr.isatty() or (now - last < 0.1 and fraction != 1.0):
            return
        last = now
        share = "      " if fraction is None else f"{fraction * 100:4.0f} %"
        sys.stderr.write(f"\r\033[K{share} {_cell(message)}{time_left(fraction, now - started)}")
        if fraction == 1.0:
            sys.stderr.write("\r\033[K")
        sys.stderr.flush()

    return redraw


SOON_S, LEAST_SHARE = 2.0, 0.02


def time_left(fraction: float | None, elapsed_s: float) -> str:
    """Return ', about 12 s left' at the rate so far, '' in the first seconds and where it cannot be told."""
    if fraction is None or elapsed_s < SOON_S or not LEAST_SHARE <= fraction < 1:
        return ""
    from workprof.core.units import format_duration  # noqa: PLC0415  light until needed

    return f", about {format_duration(elapsed_s * (1 - fraction) / fraction)} left"


def table(rows: list[dict[str, object]]) -> str:
    """Return rows as aligned columns with a header line; '(none)' where there are none."""
    if not rows:
        return "(none)"
    names = list(rows[0])
    cells = [list(map(_cell, names)), *[[_cell(row[name]) for name in names] for row in rows]]
    widths = [max(len(line[i]) for line in cells) for i in range(len(names))]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in cells)
    return "\n".join(line.rstrip() for line in lines)


def plain_text(result: Any) -> str:
    """Return a record for people as it is: a line for each single value, then a table for each list of records."""
    from workprof.core.records import to_json  # noqa: PLC0415  `workprof --version` stays quick

    lines, tables = [], []
    for name, value in to_json(result).items():
        words = name.replace("_", " ")
        if isinstance(value, list) and value and isinstance(value[0], dict):
            tables.append(f"\n{words}\n{table(value)}")
        elif not isinstance(value, dict):
            lines.append(f"{words}: {_cell(value)}")
    return "\n".join([*lines, *tables])


def _cell(value: object) -> str:
    """Return a cell's text on one line, '' for none."""
    return "" if value is None else plain(str(value)).replace("\n", "\\n").replace("\t", "\\t")


def names(text: str) -> tuple[str, ...]:
    """Return the names of a comma-separated option."""
    return tuple(name.strip() for name in text.split(",") if name.strip())
