"""Profiles of runs in Parquet files beside the trace that was clustered: file by file, here or on a Dask cluster.

A trace that is too large for one machine is sampled where it is (`workprof pull`), the sample is clustered, and every
run of the trace is assigned: who assigns a file reads it, and writes what is found as a file of the same name.
"""

from __future__ import annotations

import glob
import json
import os
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
from workprof.profiles.features import RARE_MISSING_SHARE, FittedTransform, apply_transform
from workprof.profiles.fit import ProfileFit
from workprof.profiles.tree import SpanningTree, numbered_cut

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq

SUFFIX = ".parquet"
ROWS_AT_ONCE = 65_536
MARK = b"workprof"
"""Of what a file was made, in its footer: where it is the same, the file is not made again."""
OTHER_TREE = (
    "the tree of this clustering has other profiles than the clustering itself, which another version of workprof "
    "made; remove its result on the Runs page and ask again"
)
OTHER_SHARES = 0.25
"""Share of the runs that would have to change their profile for the shares to be the dataset's, above which it is told:
a sample of the files is nearer to them, so they may be other runs, or have other units."""

NEITHER = ("_", ".")
"""First letters of what engines leave in a folder of Parquet files that is none of its parts."""


@dataclass(frozen=True)
class FileAssigner:
    """A clustering in the form that takes the rows of a file; `file_assigner` makes it."""

    assigner: Assigner
    transform: FittedTransform  # of the clustering; its features are the columns that are read
    least: Floats  # (n_profiles + 1,) membership strength below which a row is an outlier; the last one is theirs
    shares: Floats  # (n_profiles + 1,) of the dataset's runs that each profile has
    names: tuple[str, ...]  # of the profiles, by label; the last one is that of the outliers
    key: str  # of all that the profile of a row depends on, and of the names

    def assign(self, numbers: Floats) -> tuple[Ints, Floats]:
        """(n,) profiles, -1 = outlier, and (n,) membership strengths 0-1, of (n, n_features) numbers.

        What is beyond all numbers once it is scaled is an outlier.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            points = apply_transform(self.transform, numbers)
        near = np.isfinite(points).all(axis=1)
        labels, strength = np.full(len(points), -1, dtype=np.int64), np.zeros(len(points))
        labels[near], strength[near] = self.assigner.assign(points[near])
        weak = strength < self.least[labels]
        labels[weak], strength[weak] = -1, 0.0
        return labels, strength


def file_assigner(
    fit: ProfileFit, jobs: pd.DataFrame, names: Sequence[str], tree: SpanningTree | None = None
) -> FileAssigner:
    """A clustering in the form that takes the rows of files.

    A row has the profile that `hdbscan.approximate_predict` would give, but for core distances, in which the row itself
    does not count, as in the clustering. Where the clustering is of a sample of its trace, a profile ends where it does
    among all runs of the trace: a row that belongs to it less than every run that was assigned is an outlier.

    Names are by label, that of the outliers last. Without the tree that the clustering was cut from, it is grown again.

    Raises SettingsError for OPTICS, which assigns nothing, or when the table has other rows than the fit, or the tree
    other profiles.
    """
    prepared, tree = fit.grown_again(jobs, tree)
    transform = prepared.transform
    cut, fall = numbered_cut(tree, fit.settings, prepared.pairs)
    own, in_both = fit.labels[prepared.rows], np.zeros((len(names), len(names)), dtype=np.int64)
    if cut.labels.max(initial=-1) != len(names) - 2:
        raise SettingsError(OTHER_TREE)
    np.add.at(in_both, (cut.labels, own), 1)  # label -1 is the last
    both = in_both[:-1, :-1]
    if (both.diagonal() < both.max(axis=1, initial=0)).any():
        raise SettingsError(OTHER_TREE)
    assigner, least = make_quick_assigner(prepared.points, tree, fall), np.zeros(len(names))
    if fit.sample_rows:
        assigned = fit.labels >= 0
        assigned[prepared.rows] = False
        least[:-1] = np.inf
        np.minimum.at(least, fit.labels[assigned], fit.probabilities[assigned])
        least[np.isinf(least)] = 0.0
    what = [assigner.key(), to_json(transform), least.tolist(), list(names)]
    shares = np.bincount(fit.labels % len(names), minlength=len(names)) / len(fit.labels)
    return FileAssigner(assigner, transform, least, shares, tuple(names), digest(json.dumps(what)))


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
    filled: int  # rows that lack some feature that next to no run of the dataset lacked
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


@dataclass(frozen=True)
class FileList:
    """Files to assign, and how many others the folders hold; what engines leave beside their parts is none of these."""

    files: tuple[PartFile, ...]
    left_out: int


def list_files(paths: Sequence[Path], output: Path, columns: Columns) -> FileList:
    """The Parquet files that paths name, with the rows of each; nothing but their footers is read.

    Of a folder every file below that ends in .parquet counts; names that begin with '_' or '.' do not, as engines use
    them for what is no part. The others are counted. Profiles go to `output` under the names below the folder given, or
    the file's own. Every file must have each feature, as numbers.

    Raises:
        SettingsError: for a path that is not there or no Parquet, for a file that is given twice, or when one would be
            written over another, over one of them, or over a file that `assign_files` did not write.
        NoRows: when there is no file, or none has a row.
        ColumnMissing: when a file lacks a feature.
        TraceError: for a broken file, or a feature that holds no numbers.
    """
    sources: dict[Path, Path] = {}
    targets: dict[Path, Path] = {}
    left_out = 0
    for path in paths:
        found, others = _below(path, output)
        left_out += others
        for source, target in found:
            if source.resolve() in sources:
                raise SettingsError(f"{source} is given twice; give every file or folder once")
            if target in targets:
                raise SettingsError(
                    f"{source} and {targets[target]} would both be written to {target}; give them one by one, each "
                    "with a folder of its own"
                )
            sources[source.resolve()], targets[target] = source, source
    for target, source in targets.items():
        if target.resolve() in sources:
            raise SettingsError(f"{target} is one of the files to assign; give another folder than that of {source}")
        if os.path.lexists(target) and _mark_of(target) is None:
            raise SettingsError(
                f"{target} is there and holds no profiles that this command wrote; give another folder, or remove it"
            )
    files = tuple(_part_of(source, target, columns) for target, source in targets.items())
    if not sum(one.n_rows for one in files):
        raise NoRows(f"there is no run in {', '.join(map(str, paths))}; give Parquet files, or folders of them")
    return FileList(files, left_out)


def _below(path: Path, output: Path) -> tuple[list[tuple[Path, Path]], int]:
    """The files that a path names with where their profiles go, and how many others are in a folder."""
    if path.is_dir():
        own = output.resolve()  # may be a folder inside, with what an earlier call wrote
        within = path.resolve() in own.parents
        inside = [one.relative_to(path) for one in sorted(path.rglob("*")) if one.is_file()]
        inside = [one for one in inside if not any(name.startswith(NEITHER) for name in one.parts)]
        inside = [one for one in inside if not within or own not in (path / one).resolve().parents]
        parts = [one for one in inside if one.suffix.lower() == SUFFIX]
        return [(path / one, output / one) for one in parts], len(inside) - len(parts)
    if not path.is_file():
        raise SettingsError(f"there is no file or folder {path}; give Parquet files, or folders of them")
    if path.suffix.lower() != SUFFIX:
        raise SettingsError(f"{path} does not end in {SUFFIX}; write the runs as Parquet (`workprof export` does)")
    return [(path, output / path.name)], 0


def _part_of(source: Path, target: Path, columns: Columns) -> PartFile:
    import pyarrow as pa  # noqa: PLC0415  heavy

    schema, footer = _footer(source)
    there = {
        feature: next((one for one in names if one[0] in schema.names), None) for feature, names in columns.items()
    }
    if absent := [
        " or ".join(dict.fromkeys(name for name, _ in columns[feature]))
        for feature, one in there.items()
        if one is None
    ]:
        raise ColumnMissing(
            f"{source} has no column {', no '.join(absent)}, of which the profiles are made; its columns are "
            f"{', '.join(schema.names)}. `workprof export` of a dataset writes them under these names"
        )
    chosen = tuple(one for one in there.values() if one is not None)
    kinds = pa.types
    numeric = (kinds.is_integer, kinds.is_floating, kinds.is_decimal, kinds.is_boolean, kinds.is_null)
    for name, _ in chosen:
        if schema.names.count(name) > 1:
            raise TraceError(f"{source} has {schema.names.count(name)} columns {name}; keep one of them")
        kind = schema.field(name).type
        if not any(is_kind(kind) for is_kind in numeric):
            raise TraceError(f"{source}: column {name} is {kind}, no number; write it as numbers")
    if footer.num_rows < 0:
        raise TraceError(f"{source}: broken Parquet file (it tells of {footer.num_rows} rows); write it again")
    return PartFile(str(source.resolve()), str(target.resolve()), int(footer.num_rows), chosen)


def _footer(path: Path) -> tuple[pa.Schema, pq.FileMetaData]:
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    try:
        with pq.ParquetFile(path) as file:
            return file.schema_arrow, file.metadata
    except FileNotFoundError as error:
        raise TraceError(f"{path} is not there where it is to be read; every worker must see the files") from error
    except PermissionError as error:
        raise TraceError(f"{path} may not be read; give yourself, and every worker, the right to") from error
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise TraceError(f"{path}: broken Parquet file ({error}); write it again") from error


def assign_files(whole: FileAssigner, listed: FileList, output: Path, progress: Progress = silent) -> AssignedFiles:
    """Write the profile, its name and the membership strength of every row of every file, and return how many they are.

    The files written have the rows of theirs in the same order: profile (int32; -1 = outlier, null where all features
    are missing), name and strength. Each is there whole or not at all, and one that the same clustering made of the
    same file is left as it is, so that a call which was cancelled or killed goes on where it was. On a cluster the
    workers read and write the files, which must lie where all of them see them.

    What `progress` raises ends the work after the running files.

    Raises:
        TraceError: when a file cannot be read where it is assigned, or holds other numbers of rows than it tells.
        SettingsError: when a file cannot be written, or what a worker wrote is not seen here.
    """
    files = listed.files
    started, rows, done = time.perf_counter(), sum(one.n_rows for one in files), 0
    for folder in {Path(one.target).parent for one in files}:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise SettingsError(f"{folder} cannot be made ({error}); give another folder with -o") from error
    progress(0.0, "Assigning the runs of the files")
    found = []
    for part, one in zip(files, each(assign_file, whole, files), strict=True):
        if not Path(part.target).is_file():
            raise SettingsError(
                f"{part.target} was written where it is not seen from here; give a folder that every worker shares"
            )
        found.append(one)
        done += part.n_rows
        progress(done / rows, f"{format_count(done)} of {format_count(rows)} runs assigned")
    runs = np.array([one.runs for one in found], dtype=np.int64).sum(axis=0)
    without = sum(one.without_values for one in found)
    return AssignedFiles(
        folder=str(output),
        files=len(files),
        reused=sum(one.reused for one in found),
        rows=rows,
        names=whole.names,
        runs=runs,
        without_values=without,
        notes=_notes(whole, listed, runs, (without, sum(one.filled for one in found))),
        seconds=time.perf_counter() - started,
    )


def _notes(whole: FileAssigner, listed: FileList, runs: Ints, lacking_values: tuple[int, int]) -> tuple[str, ...]:
    """`lacking_values`: rows that lack every feature, and those that lack one which hardly any other lacked."""
    notes, assigned, (without, filled) = [], int(runs.sum()), lacking_values
    if listed.left_out:
        notes.append(f"Files that do not end in {SUFFIX} were left out: {format_count(listed.left_out)}.")
    if without:
        rows = assigned + without
        lacking = f"{format_count(without)} of {format_count(rows)} runs ({format_share(without / rows)})"
        notes.append(f"{lacking} lack every feature and have no profile.")
    if filled > RARE_MISSING_SHARE * assigned:
        lacking = f"{format_count(filled)} of {format_count(assigned)} runs ({format_share(filled / assigned)})"
        notes.append(
            f"{lacking} lack a feature that nearly all runs of the dataset have: the dataset's median stands for it. "
            "Their profiles rest on the other features."
        )
    shares = runs / max(1, assigned)
    moved = float(np.abs(shares - whole.shares).sum() / 2)
    if assigned and moved > OTHER_SHARES:
        notes.append(
            f"The profiles' shares are not those of the dataset: {format_share(moved)} of the runs would have to "
            f"change theirs; {format_share(float(shares[-1]))} are outliers, of the dataset's "
            f"{format_share(float(whole.shares[-1]))}. Unless these are other runs than it was drawn from, look at the "
            "units of the files' columns."
        )
    return tuple(notes)


def assign_file(whole: FileAssigner, part: PartFile) -> FileProfiles:
    """Assign one file, or find that it was; on any machine the same."""
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    source, target = Path(part.source), Path(part.target)
    _footer(source)
    about = source.stat()
    mark = {
        "clustering": whole.key,
        "file": part.source,
        "columns": [list(one) for one in part.columns],
        "bytes": about.st_size,
        "times_ns": [about.st_mtime_ns, about.st_ctime_ns],
    }
    there = _mark_of(target)
    known = there is not None and mark.items() <= there.items() and len(there["runs"]) == len(whole.names)
    if there is not None and known and "filled" in there:
        return FileProfiles(tuple(there["runs"]), there["without_values"], there["filled"], reused=True)
    for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
        left.unlink(missing_ok=True)  # of a call that was killed
    aside = target.with_name(f".{target.name}.{uuid.uuid4().hex[:12]}.part")
    schema = pa.schema([("profile", pa.int32()), ("name", pa.dictionary(pa.int32(), pa.string())), ("strength", "f8")])
    runs, without, filled = np.zeros(len(whole.names), dtype=np.int64), 0, 0
    unmarked = [name not in whole.transform.indicators for name in whole.transform.features]
    try:
        with pq.ParquetWriter(aside, schema) as writer:
            for numbers in _numbers(source, part.columns):
                valued = ~np.isnan(numbers).all(axis=1)
                labels, strength = np.full(len(numbers), -1, dtype=np.int64), np.zeros(len(numbers))
                labels[valued], strength[valued] = whole.assign(numbers[valued])
                runs += np.bincount(labels[valued] % len(runs), minlength=len(runs))  # -1 is the last
                without += int((~valued).sum())
                filled += int(np.isnan(numbers[valued][:, unmarked]).any(axis=1).sum())
                codes = pa.array((labels % len(runs)).astype(np.int32), mask=~valued)
                columns = [
                    pa.array(labels.astype(np.int32), mask=~valued),
                    pa.DictionaryArray.from_arrays(codes, list(whole.names)),
                    pa.array(strength, mask=~valued),
                ]
                writer.write_batch(pa.record_batch(columns, schema=schema))
            if int(runs.sum()) + without != part.n_rows:
                raise TraceError(
                    f"{source} holds {int(runs.sum()) + without:,} rows, not the {part.n_rows:,} of its footer; "
                    "write it again, or wait until it is written"
                )
            result = FileProfiles(tuple(runs.tolist()), without, filled, reused=False)
            counts = {"runs": result.runs, "without_values": without, "filled": filled}
            writer.add_key_value_metadata({MARK: json.dumps(mark | counts)})
        aside.replace(target)
    except OSError as error:
        raise SettingsError(
            f"{target} cannot be written ({error}); make room, or give another folder with -o"
        ) from error
    finally:
        aside.unlink(missing_ok=True)
    return result


def _mark_of(path: Path) -> Mapping[str, Any] | None:
    """Of what a file of profiles was made; None where there is none, or a broken one, or another file."""
    try:
        mark = json.loads((_footer(path)[1].metadata or {})[MARK])
    except (TraceError, KeyError, ValueError):
        return None
    return mark if isinstance(mark, dict) and mark.keys() >= {"runs", "without_values"} else None


def _numbers(path: Path, columns: Sequence[tuple[str, float]]) -> Iterator[Floats]:
    """Yield (n, n_features) numbers of a batch of rows in the features' units; NaN = missing or infinite."""
    import pyarrow as pa  # noqa: PLC0415  heavy
    import pyarrow.parquet as pq  # noqa: PLC0415  heavy

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(ROWS_AT_ONCE, columns=[name for name, _ in columns]):
                as_read = [
                    batch.column(name).cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
                    for name, _ in columns
                ]
                with np.errstate(over="ignore"):
                    values = np.column_stack(as_read) * [scale for _, scale in columns]
                values[~np.isfinite(values)] = np.nan
                yield values
    except (pa.ArrowException, OSError) as error:
        raise TraceError(f"{path}: broken Parquet file ({error}); write it again") from error
