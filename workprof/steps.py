"""A step (`workprof.core.step`) is run here, in a child process.

`main` is the child's side of `workprof.jobs`. The parent wrote the request; the record classes come
from the function's annotations, so nothing in a file decides which class is made.
"""

import datetime as dt
import json
import os
import platform
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

import workprof
from workprof.cache import About, write_entry
from workprof.core.errors import WorkprofError
from workprof.core.long_table import JobTable, LongTable
from workprof.core.parallel import loops_on
from workprof.core.parts import parts_in, parts_of
from workprof.core.progress import Progress, hearing
from workprof.core.records import Made, Packed, canonical_json, digest, pack, unpack
from workprof.core.settings import from_environment
from workprof.core.step import Function, Step
from workprof.store.entries import as_line
from workprof.store.home import FILE, is_full, make_folder, no_room, write_private

REQUEST = "request.json"
ENTRIES = "entries"
REFUSED = "refused"
"""Key of the line by which a child tells why it ends: a pipe has room where a disk has none."""
PASSED = "passed"
"""Key of the line by which it hands over a result that found no room in its folder."""
SO_FAR = "so_far"
"""Key of the line by which it tells what it has found before its end."""
NICENESS = 10


def about(step: Step, key: str, dataset: str, settings: object, seconds: float) -> About:
    """The catalogue line of a finished computation."""
    return About(
        key=key,
        step=step.name,
        dataset=dataset,
        settings=json.loads(canonical_json(settings)),
        versions={"workprof": workprof.__version__, "step": str(step.version), "python": platform.python_version()},
        seconds=seconds,
        created=dt.datetime.now(dt.UTC).isoformat(timespec="milliseconds"),
    )


@dataclass(frozen=True)
class Request:
    """One computation: a step on a dataset with settings, its key, and the catalogue lines of wanted by-products."""

    step: Step
    dataset: str
    settings: object
    key: str
    # step name of a by-product -> its catalogue line; a step may make less than is wanted
    extras: Mapping[str, About] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a step made: the record, its seconds, and the wanted by-products by step name."""

    record: Any
    seconds: float
    extras: dict[str, Any]


def perform(request: Request, frames: Mapping[str, JobTable], progress: Progress, home: Path) -> Outcome:
    """Run a step here and now; its parallel loops go to the cluster that WORKPROF_DASK names, where there is one.

    What it keeps of itself on the way is in the home until it is done, for whoever asks the same after it was killed.
    """
    function = request.step.function()
    started = time.perf_counter()
    parts = parts_of(home, request.key)
    with loops_on(from_environment().dask), parts_in(parts):
        made = function(frames, request.settings, progress)
    shutil.rmtree(parts, ignore_errors=True)
    if not isinstance(made, Made):
        made = Made(made, {})
    seconds = float(getattr(made.record, "seconds", time.perf_counter() - started))
    return Outcome(made.record, seconds, {name: made.extras[name] for name in request.extras if name in made.extras})


def write_request(folder: Path, request: Request, frames: Mapping[str, JobTable]) -> None:
    """Write what the child needs into its folder; of a long table a part at a time is in memory."""
    step = request.step
    document = {
        "step": [step.name, step.version, step.target],
        "settings": pack(request.settings).document,
        "dataset": request.dataset,
        "key": request.key,
        "extras": {name: vars(about) for name, about in request.extras.items()},
        "frames": sorted(name for name, frame in frames.items() if not isinstance(frame, LongTable)),
        "long": {
            name: [table.n_rows, table.columns, table.attrs]
            for name, table in frames.items()
            if isinstance(table, LongTable)
        },
    }
    for name, frame in frames.items():
        place = folder / f"{name}.arrow"
        place.touch(FILE)
        with pa.OSFile(str(place), "wb") as sink:
            if isinstance(frame, LongTable):
                _write_parts(sink, frame)
                continue
            table = pa.Table.from_pandas(frame, preserve_index=False)
            with pa.ipc.new_file(sink, table.schema) as writer:
                writer.write_table(table)
    write_private(folder / REQUEST, json.dumps(document))


def _write_parts(sink: pa.NativeFile, table: LongTable) -> None:
    """A stream of parts, each with texts of its own."""
    writer = None
    for part in table.parts(table.columns):
        batch = pa.RecordBatch.from_arrays([_array(part[name]) for name in table.columns], names=[*table.columns])
        writer = writer or pa.ipc.new_stream(sink, batch.schema)
        writer.write_batch(batch)
    if writer is not None:
        writer.close()


def _array(column: pd.Series) -> pa.Array:
    if column.dtype.name != "category":
        return pa.array(column.to_numpy())
    codes = column.cat.codes.to_numpy().astype(np.int32)
    names = pa.array(column.cat.categories, type=pa.string())
    return pa.DictionaryArray.from_arrays(pa.array(codes, mask=codes < 0), names)


def _read_parts(path: Path, names: Sequence[str]) -> Iterator[pd.DataFrame]:
    with pa.OSFile(str(path), "rb") as source, pa.ipc.open_stream(source) as reader:
        for batch in reader:
            yield batch.select([*names]).to_pandas()


def read_request(folder: Path) -> tuple[Request, dict[str, JobTable]]:
    """What `write_request` wrote; the settings' class comes from the step's annotations."""
    document = json.loads((folder / REQUEST).read_text(encoding="utf-8"))
    step = Step(*document["step"])
    settings: object = unpack(_settings_class(step.function()), Packed(document["settings"], {}))
    extras = {name: About(**about) for name, about in document["extras"].items()}
    frames: dict[str, JobTable] = {name: read_frame(folder / f"{name}.arrow") for name in document["frames"]}
    for name, (n_rows, columns, attrs) in document["long"].items():
        read = partial(_read_parts, folder / f"{name}.arrow")
        frames[name] = LongTable(n_rows, tuple(columns), attrs, read)
    return Request(step, document["dataset"], settings, document["key"], extras), frames


def _settings_class(function: Function) -> type[Any]:
    """The class that a step's `settings` are annotated with; the other annotations may be for checkers only."""
    annotation = function.__annotations__["settings"]
    result: type[Any] = function.__globals__[annotation] if isinstance(annotation, str) else annotation
    return result


def read_frame(path: Path) -> pd.DataFrame:
    """A frame from its memory-mapped Arrow file."""
    with pa.memory_map(str(path)) as source:
        frame: pd.DataFrame = pa.ipc.open_file(source).read_all().to_pandas()
    return frame


def run_request(folder: Path, progress: Progress) -> None:
    """Run the step that a folder asks for and leave its entries there, each named by the digest of its key.

    An entry for which there is no room there goes through the output instead.
    """
    request, frames = read_request(folder)
    unfinished = about(request.step, request.key, request.dataset, request.settings, 0.0)
    with hearing(lambda found: _write_line({SO_FAR: as_line(found, unfinished)})):
        outcome = perform(request, frames, progress, folder.parent.parent)
    line = about(request.step, request.key, request.dataset, request.settings, outcome.seconds)
    _leave(folder, outcome.record, line)
    for name, record in outcome.extras.items():
        _leave(folder, record, request.extras[name])


def _leave(folder: Path, record: object, about: About) -> None:
    place = folder / ENTRIES / digest(about.key)
    try:
        make_folder(place.parent)
        write_entry(place, record, about)
    except OSError as error:
        line = as_line(record, about) if is_full(error) else None
        if line is None:
            raise
        shutil.rmtree(place, ignore_errors=True)
        _write_line({PASSED: line})


def main(folder: Path) -> int:
    """Run one request as a child process; 0 = an entry was left, 1 = why not was told on the output."""
    os.nice(NICENESS)
    try:
        run_request(folder, _report_progress)
    except WorkprofError as error:
        _write_line({REFUSED: str(error)})
        return 1
    except OSError as error:
        if not is_full(error):
            raise
        _write_line({REFUSED: str(no_room(folder, "the result could not be handed over"))})
        return 1
    return 0


def _report_progress(fraction: float | None, message: str) -> None:
    _write_line({"fraction": fraction, "message": message})


def _write_line(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)  # noqa: T201  the protocol
