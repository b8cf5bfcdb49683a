"""Profiles of runs in Parquet files beside the trace that was clustered: file by file, here or on a Dask cluster.

A trace that is too large for one machine is sampled where it is (`workprof pull`), the sample is clustered, and every
run of the trace is assigned: who assigns a file reads it, and writes what is found as a file of the same name.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from workprof.core.arrays import Floats, Ints
from workprof.core.errors import ColumnMissing, NoRows, SettingsError, TraceError
from workprof.core.parallel import each
from workprof.core.progress import Progress, silent
from workprof.core.records import digest, to_json
from workprof.core.shown import Shown
from workprof.core.units import format_count, format_share
from workprof.profiles.assign import Assigner, make_quick_assigner
from workprof.profiles.features import FittedTransform, apply_transform
from workprof.profiles.fit import ProfileFit
from workprof.profiles.tree import cut_with_fall

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

SUFFIX = ".parquet"
ROWS_AT_ONCE = 65_536
MARK = b"workprof"
"""Of what a file was made, in its footer: where it is the same, the file is not made again."""
NEITHER = ("_", ".")
"""First letters of what engines leave in a folder of Parquet files that is none of its parts."""


@dataclass(frozen=True)
class FileAssigner:
    """A clustering in the form that takes the rows of a file; `file_assigner` makes it."""

    assigner: Assigner
    transform: FittedTransform  # of the clustering; its features are the columns that are read
    least: Floats  # (n_profiles + 1,) membership strength below which a row is an outlier; the last one is theirs
    names: tuple[str, ...]  # of the profiles, by label; the last one is that of the outliers
    key: str  # of all that the profile of a row depends on, and of the names

    def assign(self, numbers: Floats) -> tuple[Ints, Floats]:
        """Return (n,) profiles, -1 = outlier, and (n,) membership strengths 0-1, of (n, n_features) numbers."""
        labels, strength = self.assigner.assign(apply_transform(self.transform, numbers))
        weak = (labels >= 0) & (strength < self.least[labels])
        return np.where(weak, -1, labels), np.where(weak, 0.0, strength)


def file_assigner(fit: ProfileFit, jobs: pd.DataFrame, names: Sequence[str]) -> FileAssigner:
    """Return a clustering in the form that takes the rows of files.

    A row has the profile that `hdbscan.approximate_predict` would give, but for core distances, in which the row itself
    does not count, as in the clustering. Where the clustering is of a sample of its trace, a profile ends where it does
    among all runs of the trace: a row that belongs to it less than every run that was assigned is an outlier.

    Args:
        fit: the clustering.
        jobs: the table that was clustered, as in `fit_profiles`.
        names: of the profiles, by label; the last one is that of the outliers.

    Raises:
        SettingsError: for OPTICS, which assigns nothing, or when the table has other rows than the fit.
    """
    prepared, tree = fit.grown_again(jobs)
    settings, transform = fit.settings, prepared.transform
    _, fall = cut_with_fall(tree, settings.min_cluster_size, settings.method, settings.epsilon)
    assigner, least = make_quick_assigner(prepared.points, tree, fall), np.zeros(len(names))
    if fit.sample_rows:
        assigned = fit.labels >= 0
        assigned[prepared.rows] = False
        least[:-1] = np.inf
        np.minimum.at(least, fit.labels[assigned], fit.probabilities[assigned])
        least[np.isinf(least)] = 0.0
    what = [assigner.key(), to_json(transform), least.tolist(), list(names)]
    return FileAssigner(assigner, transform, least, tuple(names), digest(json.dumps(what)))


Columns = Mapping[str, Sequence[tuple[str, float]]]
"""Feature -> names that its column may have in a file, the first that is there counts, and the factor to the feature's
unit."""


@dataclass(frozen=True)
class PartFile:
    """One file to assign, and where its profiles go."""

    source: str
    target: str
    n_rows: int
    columns: tuple[tuple[str, float], ...]  # of the features, in their order, and the factor to each feature's unit


@dataclass(frozen=True)
class FileProfiles:
    """How many rows of a file have each profile."""

    runs: tuple[int, ...]  # by label; the last number is that of the outliers
    without_values: int  # rows that lack all features
    reused: bool  # the file of these profiles was there


@dataclass(frozen=True, repr=False)
class AssignedFiles(Shown):
    """What was written beside the files of a trace: rows in the order of each file."""

    folder: str
    files: int
    reused: int
    """Files that an earlier call with the same clustering had assigned."""
    rows: int
    names: tuple[str, ...]  # of the profiles, by label; the last one is that of the outliers
    runs: Ints  # (n_profiles + 1,) rows of each
    without_values: int  # rows that lack all features: they have no profile
    notes: tuple[str, ...]
    seconds: float


def list_files(paths: Sequence[Path], output: Path, columns: Columns) -> tuple[PartFile, ...]:
    """Return the Parquet files that paths name, with the rows of each; nothing but their footers is read.

    Args:
        paths: files, or folders of which every file below that ends in .parquet counts; names that begin with '_' or
            '.' do not, as engines use them for what is no part.
        output: folder that the profiles go to, under the names below the folder given, or the file's own.
        columns: of the features, of which every file must have each, as numbers.

    Raises:
        SettingsError: for a path that is not there or no Parquet, or when a file would be written over one of them or
            over another.
        NoRows: when there is no file, or none has a row.
        ColumnMissing: when a file lacks a feature.
        TraceError: for a broken file, or a feature that holds no numbers.
    """
    targets: dict[Path, Path] = {}
    for path in paths:
        for source, target in _below(path, output):
            if target in targets:
                raise SettingsError(
                    f"{source} and {targets[target]} would both be written to {target}; give them one by one, each "
                    "with a folder of its own"
                )
            targets[target] = source
    sources = {source.resolve() for source in targets.values()}
    for target, source in targets.items():
        if target.resolve() in sources:
            raise SettingsError(f"{target} is one of the files to assign; give another folder than that of {source}")
    files = tuple(_part_of(source, target, columns) for target, source in targets.items())
    if not sum(one.n_rows for one in files):
        raise NoRows(f"there is no run in {', '.join(map(str, paths))}; give Parquet files, or folders of them")
    return files


def _below(path: Path, output: Path) -> list[tuple[Path, Path]]:
    """Return the files that a path names, and where their profiles go."""
    if path.is_dir():
        inside = [one.relative_to(path) for one in sorted(path.rglob(f"*{SUFFIX}")) if one.is_file()]
        parts = [one for one in inside if not any(name.startswith(NEITHER) for name in one.parts)]
        own = output.resolve()  # may be a folder of it, with what an earlier call wrote
        if own != path.resolve():
            parts = [one for one in parts if own not in (path / one).resolve().parents]
        return [(path / one, output / one) for one in parts]
    if not path.is_file():
        raise SettingsError(f"there is no file or folder {path}; give Parquet files, or folders of them")
    if path.suffix.lower() != SUFFIX:
        raise SettingsError(f"{path} does not end in {SUFFIX}; write the runs as Parquet (`workprof export` does)")
    return [(path, output / path.name)]


def _part_of(source: Path, target: Path, columns: Columns) -> PartFile:
    import pyarrow as pa  # noqa: PLC0415  heavy

    schema, footer = _footer(source)
    there = {
        feature: next((one for one in names if one[0] in schema.names), None) for feature, names in columns.items()
    }
    if absent := [" or ".join(name for name, _ in columns[feature]) for feature, one in there.items() if one is None]:
        raise ColumnMissing(
            f"{source} has no column {', no '.join(absent)}, of which the profiles are made; its columns are "
            f"{', '.join(schema.names)}"
        )
    chosen = tuple(one for one in there.values() if one is not None)
    kinds = pa.types
    for name, _ in chosen:
        kind = schema.field(name).type
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_decimal(kind) or kinds.is_boolean(kind)):
            raise TraceError(f"{source}: column {name} is {kind}, no number; write it as numbers")
    return PartFile(str(source.resolve()), str(target.resolve()), int(footer.num_rows), chosen)


def _footer(path: Path) -> tuple[pa.Schema, pq.FileMetaData]:
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata
    except FileNotFoundError as error:
        raise TraceError(f"{path} is not there where it is to be read; every worker must see the files") from error
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise TraceError(f"{path}: broken Parquet file ({error}); write it again") from error


def assign_files(
    whole: FileAssigner, files: Sequence[PartFile], output: Path, progress: Progress = silent
) -> AssignedFiles:
    """Write the profile, its name and the membership strength of every row of every file, and return how many they are.

    The files written have the rows of theirs in the same order: profile (int32; -1 = outlier, null where all features
    are missing), name and strength. Each is there whole or not at all, and one that the same clustering made of the
    same file is left as it is, so that a call which was cancelled or killed goes on where it was. On a cluster the
    workers read and write the files, which must lie where all of them see them.

    Args:
        whole: of the clustering.
        files: as `list_files` gives them.
        output: the folder.
        progress: told each file; what it raises ends the work after the running files.

    Raises:
        TraceError: when a file cannot be read where it is assigned.
        SettingsError: when a file cannot be written.
    """
    started, rows, done = time.perf_counter(), sum(one.n_rows for one in files), 0
    for folder in {Path(one.target).parent for one in files}:
        folder.mkdir(parents=True, exist_ok=True)
    progress(0.0, "Assigning the runs of the files")
    found = []
    for part, one in zip(files, each(assign_file, whole, files), strict=True):
        found.append(one)
        done += part.n_rows
        progress(done / rows, f"{format_count(done)} of {format_count(rows)} runs assigned")
    without = sum(one.without_values for one in found)
    missing = (
        f"{format_count(without)} of {format_count(rows)} runs ({format_share(without / rows)}) lack every feature"
    )
    return AssignedFiles(
        folder=str(output),
        files=len(files),
        reused=sum(one.reused for one in found),
        rows=rows,
        names=whole.names,
        runs=np.sum([one.runs for one in found], axis=0, dtype=np.int64),
        without_values=without,
        notes=(f"{missing} and have no profile.",) if without else (),
        seconds=time.perf_counter() - started,
    )


def assign_file(whole: FileAssigner, part: PartFile) -> FileProfiles:
    """Assign one file, or find that it was; on any machine the same."""
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    source, target = Path(part.source), Path(part.target)
    _footer(source)
    about = source.stat()
    mark = {"clustering": whole.key, "bytes": about.st_size, "modified_ns": about.st_mtime_ns}
    there = _mark_of(target)
    if there is not None and mark.items() <= there.items():
        return FileProfiles(tuple(there["runs"]), there["without_values"], reused=True)
    aside = target.with_name(f".{uuid.uuid4().hex[:12]}.part")
    schema = pa.schema([("profile", pa.int32()), ("name", pa.dictionary(pa.int32(), pa.string())), ("strength", "f8")])
    runs, without = np.zeros(len(whole.names), dtype=np.int64), 0
    try:
        with pq.ParquetWriter(aside, schema) as writer:
            for numbers in _numbers(source, part.columns):
                valued = ~np.isnan(numbers).all(axis=1)
                labels, strength = np.full(len(numbers), -1, dtype=np.int64), np.zeros(len(numbers))
                labels[valued], strength[valued] = whole.assign(numbers[valued])
                runs += np.bincount(labels[valued] % len(runs), minlength=len(runs))  # -1 is the last
                without += int((~valued).sum())
                codes = pa.array((labels % len(runs)).astype(np.int32), mask=~valued)
                columns = [
                    pa.array(labels.astype(np.int32), mask=~valued),
                    pa.DictionaryArray.from_arrays(codes, list(whole.names)),
                    pa.array(strength, mask=~valued),
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))
            result = FileProfiles(tuple(runs.tolist()), without, reused=False)
            writer.add_key_value_metadata({MARK: json.dumps(mark | {"runs": result.runs, "without_values": without})})
        aside.replace(target)
    except OSError as error:
        raise SettingsError(f"{target} cannot be written from {source} ({error}); give another folder") from error
    finally:
        aside.unlink(missing_ok=True)
    return result


def _mark_of(path: Path) -> Mapping[str, Any] | None:
    """Return of what a file of profiles was made; None where there is none, or a broken one."""
    try:
        mark = (_footer(path)[1].metadata or {}).get(MARK)
    except TraceError:
        return None
    return None if mark is None else dict(json.loads(mark))


def _numbers(path: Path, columns: Sequence[tuple[str, float]]) -> Iterator[Floats]:
    """Yield (n, n_features) numbers of a batch of rows in the features' units; NaN = missing or infinite."""
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=[name for name, _ in columns]):
                as_read = [batch.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False) for name, _ in columns]
                values = np.column_stack(as_read) * [scale for _, scale in columns]
                values[~np.isfinite(values)] = np.nan
                yield values
    except (pa.ArrowException, OSError) as error:
        raise TraceError(f"{path}: broken Parquet file ({error}); write it again") from error
