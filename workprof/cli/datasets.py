"""Commands on datasets: ingest, datasets, rename, remove, export, sample."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from workprof.cli.console import (
    Dataset as DatasetName,
    Home,
    Json,
    announce_home,
    emit,
    file_of,
    opened,
    progress_line,
    table,
    warn,
)
from workprof.cli.files import STDOUT
from workprof.core.errors import EntryDamaged, SettingsError
from workprof.core.shares import in_words
from workprof.core.units import parse_size
from workprof.core.words import counted
from workprof.formats import NAMES
from workprof.store.outputs import SUFFIX, checked_output
from workprof.store.reports import (
    Counts,
    Dataset,
    Evidence,
    FieldSource,
    IngestOptions,
    IngestReport,
    Suggestion,
    lines_lost,
)

if TYPE_CHECKING:
    from workprof.workbench import Workbench

JOBS = "jobs"
SUFFIXES = (".parquet", ".csv", SUFFIX)
EXPORTED = f"FILE.parquet or FILE.csv (rows), FILE{SUFFIX} (columns); - is stdout."


MAP_SHAPE = '{"duration_s": {"from": "runtime", "unit": "ms"}}'
MAP_HELP = 'Of a generic file: FILE.json with {FIELD: {"from": COLUMN, "unit": UNIT}}, or a saved name.'


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (ingest, datasets, rename, remove, export, sample):
        app.command()(command)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, or a folder of them; - for stdin.", show_default=False)],
    trace_format: Annotated[str, typer.Option("--format", help=f"auto, or one of {', '.join(NAMES)}.")] = "auto",
    name: Annotated[str, typer.Option("--name", help="Name of the dataset (default: from the file).")] = "",
    mapping: Annotated[str, typer.Option("--map", help=MAP_HELP)] = "",
    look: Annotated[
        bool, typer.Option("--look", help="Show what a generic file's columns become; load nothing.")
    ] = False,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="With --look: the mapping as JSON.")] = None,
    join: Annotated[
        str,
        typer.Option("--join", help="Raw tables: corrected (the default, by worker_name) or faithful (as published)."),
    ] = "corrected",
    aggregation: Annotated[str, typer.Option("--grain", help="Raw tables: instance, task or job.")] = "instance",
    delimiter: Annotated[str, typer.Option("--delimiter", help="Of a generic CSV.")] = "",
    encoding: Annotated[str, typer.Option("--encoding", help="utf-8, utf-16, utf-16-le, utf-16-be or latin-1.")] = "",
    decimal: Annotated[str, typer.Option("--decimal", help="Decimal sign of a generic CSV: . or ,")] = "",
    sheet: Annotated[str, typer.Option("--sheet", help="Of a workbook (default: the first that holds a table).")] = "",
    duplicates: Annotated[str, typer.Option("--duplicates", help="keep (counted) or drop (counted).")] = "keep",
    accept_loss: Annotated[
        bool, typer.Option("--accept-loss", help="Load a text of which lines are in no row; count them.")
    ] = False,
    machine_memory: Annotated[
        str, typer.Option("--machine-memory", help="Of the largest machine, such as 512GB; for traces of shares of it.")
    ] = "",
    machine_cores: Annotated[
        float, typer.Option("--machine-cores", help="Of the largest machine; for traces of shares of it.")
    ] = 0.0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Import a trace: detect its format, validate it, load it."""
    options = IngestOptions(
        format=trace_format,
        name=name,
        join=join,
        aggregation=aggregation,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        duplicates=duplicates,
        accept_loss=accept_loss,
        sheet=sheet,
        machine_memory_bytes=parse_size(machine_memory, bare="GB") if machine_memory else 0.0,
        machine_cores=machine_cores,
    )
    if output is not None and not look:
        raise SettingsError("-o writes the mapping that --look proposes; add --look, or leave it out")
    from workprof.inputs import piped  # noqa: PLC0415  `workprof --version` stays quick

    progress = progress_line()
    with opened(home) as workbench, piped(paths, workbench.settings.home, progress) as files:
        options = replace(options, mapping=given_mapping(workbench, mapping))
        if look:
            _look(workbench, list(files), options, output, as_json)
            return
        report = workbench.ingest(files, options, progress)
        if options.mapping and report.format == "generic":
            for line in _warnings(workbench.suggest(next(iter(files)), options)):
                warn(line)
    if report.already_loaded:
        warn(f"already loaded as {report.dataset!r}; nothing was read again")
    if report.lost:
        warn(f"{lines_lost(report.lost)} in {report.dataset!r}: in no row and not among the rejected ones")
    emit(report, as_json, lambda: _as_text(report))


def datasets(home: Home = None, as_json: Json = False) -> None:
    """List the loaded datasets."""
    with opened(home) as workbench:
        result = workbench.datasets()
        rows = [_line(workbench, entry) for entry in result]
        announce_home(workbench.settings.home)
    emit(rows, as_json, lambda: table([{**row, "hash": str(row["hash"])[:8]} for row in rows]))


def _line(workbench: Workbench, entry: Dataset) -> dict[str, object]:
    """Return an entry with what it holds; null for other kinds than job traces, and where that cannot be read."""
    keys = ("name", "hash", "kind", "format", "rows", "created")
    line = {("dataset" if key == "name" else key): getattr(entry, key) for key in keys}
    counts = None
    if entry.kind == JOBS:
        with contextlib.suppress(EntryDamaged):
            counts = workbench.counts(entry.hash)
    return line | {key: getattr(counts, key, None) for key in ("jobs", "users", "finished", "running", "never_started")}


def rename(
    dataset: DatasetName,
    name: Annotated[str, typer.Argument(help="New name.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Give a dataset another name."""
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.rename(dataset, name)
    result = {"dataset": entry.name, "hash": entry.hash, "rows": entry.rows, "seconds": time.perf_counter() - started}
    emit(result, as_json, lambda: f"{dataset} is now {entry.name}")


def remove(
    dataset: DatasetName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove a dataset and every result computed from it."""
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        if not yes and not _confirmed(f"remove {entry.name} ({counted(entry.rows, 'row')}) and its results?"):
            raise SettingsError(f"{entry.name} was not removed; answer y at a terminal, or give --yes")
        decided = len(workbench.decisions(entry.hash))
        workbench.remove(entry.hash)
    if decided:
        stay = "stays" if decided == 1 else "stay"
        warn(f"note: {counted(decided, 'decision')} on its requests {stay} for the next dataset of this name")
    result = {"dataset": entry.name, "hash": entry.hash, "rows": entry.rows, "seconds": time.perf_counter() - started}
    emit(result, as_json, lambda: f"removed {entry.name} ({counted(entry.rows, 'row')})")


def export(
    dataset: DatasetName,
    output: Annotated[Path, typer.Option("-o", "--output", help=EXPORTED, show_default=False)],
    parquet: Annotated[bool, typer.Option("--parquet", help="With -o -: Parquet in place of CSV.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Export a dataset as Parquet or CSV, or its schema as JSON."""
    if output != STDOUT:
        checked_output(output, SUFFIXES)
    started = time.perf_counter()
    with opened(home) as workbench, file_of(output, ".parquet" if parquet else ".csv", as_json) as path:
        rows = workbench.export(dataset, path)
    if output == STDOUT:
        return
    result = {"file": str(output), "rows": rows, "seconds": time.perf_counter() - started}
    what = "the schema" if output.name.lower().endswith(SUFFIX) else counted(rows, "row")
    emit(result, as_json, lambda: f"wrote {what} to {output}")


def sample(
    dataset: DatasetName,
    by: Annotated[str, typer.Option("--by", help="Column whose shares stay the same.", show_default=False)],
    rows: Annotated[int, typer.Option("--rows", help="Rows of the sample, exactly.", show_default=False)],
    name: Annotated[str, typer.Option("--name", help="Name of the new dataset.", show_default=False)],
    seed: Annotated[int, typer.Option("--seed", help="Of the draw.")] = 0,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Draw a stratified sample (as the paper's Table I) of the finished rows as a dataset of its own."""
    with opened(home) as workbench:
        report = workbench.sample(dataset, by, rows, name, seed)
    strata = [vars(stratum) for stratum in report.strata]
    emit(report, as_json, lambda: f"{report.dataset}: {counted(report.rows, 'row')}\n{table(strata)}")


def given_mapping(workbench: Workbench, given: str) -> dict[str, FieldSource]:
    """Return field -> source of what --map names: a JSON file, or a saved mapping; '' = none.

    Raises SettingsError when it is neither.
    """
    if not given:
        return {}
    path = Path(given)
    if path.suffix.lower() == ".json" or path.exists():
        return read_mapping(path, "--map")
    saved = {one.name: one.mapping for one in workbench.mappings()}
    if given not in saved:
        there = f"saved ones: {', '.join(saved)}" if saved else "none is saved"
        raise SettingsError(f"--map {given}: there is no such file and no mapping of that name ({there})")
    return saved[given]


def read_mapping(path: Path, given_as: str) -> dict[str, FieldSource]:
    """Return field -> source of a file of a mapping; raises SettingsError when the file is not that kind of JSON."""
    from workprof.store.mapping import from_json  # noqa: PLC0415  `workprof --version` stays quick

    if path.exists() and not path.is_file():  # reading a pipe or a device may never end
        raise SettingsError(f"{given_as} {path} is no regular file; write JSON such as {MAP_SHAPE}")
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SettingsError(f"{given_as} {path} cannot be read ({error}); write JSON such as {MAP_SHAPE}") from error
    return from_json(content, f"{given_as} {path}")


def _look(workbench: Workbench, paths: list[Path], options: IngestOptions, output: Path | None, as_json: bool) -> None:
    """Show what a generic file's columns become, and write the mapping."""
    from workprof.store.detect import names_without_heading  # noqa: PLC0415  `workprof --version` stays quick
    from workprof.store.mapping import document  # noqa: PLC0415

    if output is not None:
        checked_output(output, (".json",))
    named = options.format if options.format != "auto" else workbench.detect(paths, options)
    if named != "generic":
        taken = names_without_heading(paths[0], options) if len(paths) == 1 else ()
        bare = f" (without a heading they are {'|'.join(taken)})" if taken else ""
        raise SettingsError(
            f"format {named} knows its columns{bare}, there is no mapping to look at; load it without --look"
        )
    if len(paths) != 1:
        raise SettingsError("--look takes one file")
    result = workbench.suggest(paths[0], options)
    mapped = document(result.mapping)
    if output is not None:
        output.write_text(json.dumps(mapped, indent=2) + "\n", encoding="utf-8")
    content = {
        "file": paths[0].name,
        "rows": result.rows,
        "whole": result.whole,
        "columns": result.columns,
        "mapping": mapped,
        "missing": result.missing,
        "evidence": result.evidence,
        "loads": not result.refusal,
        "refusal": result.refusal,
    }
    emit(content, as_json, lambda: _looked(result, output))


def _looked(result: Suggestion, output: Path | None) -> str:
    rows: list[dict[str, object]] = [
        {
            "field": field,
            "column": one.column,
            "unit": one.unit,
            "because": one.why if one.sure else f"to check: {one.why}",
            "values": ", ".join(raw if raw == becomes else f"{raw} -> {becomes}" for raw, becomes in one.values[:3]),
            "median": one.median,
            "largest": one.highest,
        }
        for field, one in result.evidence.items()
    ]
    whole = f"all {result.rows:,} rows" if result.whole else f"the first {result.rows:,} rows"
    lines = [f"{whole} analysed", "", table(rows)]
    used = {source.column for source in result.mapping.values()}
    rest = [name for name in result.columns if name not in used]
    lines += ["", f"stored under their own names: {', '.join(rest)}"] if rest else []
    lines += _warnings(result)
    lines += [
        f"{one.column}: {one.unread:,} values cannot be read, the first {where(one)}{one.unread_text!r}"
        for one in result.evidence.values()
        if one.unread
    ]
    lines.append(f"needs a mapping: {result.refusal}" if result.refusal else "loads without a mapping")
    if output is not None:
        lines.append(f"wrote the mapping to {output}; load with --map {output}")
    return "\n".join(lines)


def _warnings(result: Suggestion) -> list[str]:
    return [f"{one.column}: {one.warning}" for one in result.evidence.values() if one.warning]


def where(one: Evidence) -> str:
    """Return 'at line 7: ' of the first value that cannot be read."""
    return f"at line {one.unread_line:,}: " if one.unread_line else ""


def _confirmed(question: str) -> bool:
    """Return the answer of whoever sits at the terminal; no where nobody does."""
    return sys.stdin.isatty() and typer.confirm(question, err=True)


def _as_text(report: IngestReport) -> str:
    name = f"{report.dataset} ({report.hash[:8]}), {report.format}"
    lost = f", {lines_lost(report.lost)}" if report.lost else ""
    lines = [f"{name}: {counted(report.rows, 'row')}, {report.rejected:,} rejected{lost}"]
    if report.kind == JOBS:
        counts = Counts(report.rows, 0, report.running, report.never_started, report.jobs, report.users)
        lines.append(f"{counts.held}{f': {counts.unended}' * bool(counts.unended)}")
    if report.rejects_file:
        lines.append(f"rejected rows: {report.rejects_file}")
    if report.joins:
        lines += ["", table([vars(step) | {"fan_out": f"{step.fan_out:.3f}"} for step in report.joins])]
    if report.machine_shares:
        lines += ["", in_words(report.machine_shares)]
    result = [check for check in report.checks if check.count]
    if result:
        lines += ["", table([vars(check) for check in result])]
    if report.mapping:
        taken: list[dict[str, object]] = [
            {"field": key, "column": each["from"], "unit": each.get("unit", "")} for key, each in report.mapping.items()
        ]
        lines += ["", table(taken)]
    return "\n".join(lines)
