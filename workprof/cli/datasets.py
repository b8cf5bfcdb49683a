"""Commands on datasets: ingest, datasets, rename, remove, export, sample."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from workprof.cli.console import Home, Json, announce_home, emit, opened, progress_line, table, warn
from workprof.core.errors import SettingsError
from workprof.core.shares import in_words
from workprof.core.units import parse_size
from workprof.formats import NAMES
from workprof.store.outputs import SUFFIX, checked_output
from workprof.store.reports import FieldSource, IngestOptions, IngestReport, lines_lost

SUFFIXES = (".parquet", ".csv", SUFFIX)
EXPORTED = f"FILE.parquet or FILE.csv (rows), FILE{SUFFIX} (columns)."


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (ingest, datasets, rename, remove, export, sample):
        app.command()(command)


def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files, or a folder of them; - for stdin.", show_default=False)],
    trace_format: Annotated[str, typer.Option("--format", help=f"auto, or one of {', '.join(NAMES)}.")] = "auto",
    name: Annotated[str, typer.Option("--name", help="Name of the dataset (default: from the file).")] = "",
    mapping: Annotated[Path | None, typer.Option("--map", help='JSON {FIELD: {"from": COLUMN, "unit": UNIT}}')] = None,
    join: Annotated[str, typer.Option("--join", help="Raw tables: corrected (worker_name) or faithful.")] = "corrected",
    grain: Annotated[str, typer.Option("--grain", help="Raw tables: instance, task or job.")] = "instance",
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
    """Load a trace: stage, validate, commit."""
    options = IngestOptions(
        format=trace_format,
        name=name,
        mapping=read_mapping(mapping),
        join=join,
        grain=grain,
        delimiter=delimiter,
        encoding=encoding,
        decimal=decimal,
        duplicates=duplicates,
        accept_loss=accept_loss,
        sheet=sheet,
        machine_memory_bytes=parse_size(machine_memory, bare="GB") if machine_memory else 0.0,
        machine_cores=machine_cores,
    )
    from workprof.inputs import piped  # noqa: PLC0415  `workprof --version` stays quick

    progress = progress_line()
    with opened(home) as workbench, piped(paths, workbench.settings.home, progress) as files:
        report = workbench.ingest(files, options, progress)
    if report.already_loaded:
        warn(f"already loaded as {report.dataset!r}; nothing was read again")
    if report.lost:
        warn(f"{lines_lost(report.lost)} in {report.dataset!r}: in no row and not among the rejected ones")
    emit(report, as_json, lambda: _as_text(report))


def datasets(home: Home = None, as_json: Json = False) -> None:
    """List what is loaded."""
    with opened(home) as workbench:
        found = workbench.datasets()
        announce_home(workbench.settings.home)
    keys = ("name", "hash", "kind", "format", "rows", "created")
    rows = [{("dataset" if key == "name" else key): getattr(entry, key) for key in keys} for entry in found]
    emit(rows, as_json, lambda: table([{**row, "hash": str(row["hash"])[:8]} for row in rows]))


def rename(
    dataset: Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.")],
    name: Annotated[str, typer.Argument(help="New name.")],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Give a dataset another name."""
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.rename(dataset, name)
    answer = {"dataset": entry.name, "hash": entry.hash, "rows": entry.rows, "seconds": time.perf_counter() - started}
    emit(answer, as_json, lambda: f"{dataset} is now {entry.name}")


def remove(
    dataset: Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.")],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Remove a dataset and every result computed from it."""
    started = time.perf_counter()
    with opened(home) as workbench:
        entry = workbench.dataset(dataset)
        if not yes and not _confirmed(f"remove {entry.name} ({entry.rows:,} rows) and its results?"):
            raise SettingsError(f"{entry.name} was not removed; answer y at a terminal, or give --yes")
        workbench.remove(entry.hash)
    answer = {"dataset": entry.name, "hash": entry.hash, "rows": entry.rows, "seconds": time.perf_counter() - started}
    emit(answer, as_json, lambda: f"removed {entry.name} ({entry.rows:,} rows)")


def export(
    dataset: Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.")],
    output: Annotated[Path, typer.Option("-o", "--output", help=EXPORTED, show_default=False)],
    home: Home = None,
    as_json: Json = False,
) -> None:
    """Write a dataset as Parquet or CSV, or what its columns mean as JSON."""
    checked_output(output, SUFFIXES)
    started = time.perf_counter()
    with opened(home) as workbench:
        rows = workbench.export(dataset, output)
    answer = {"file": str(output), "rows": rows, "seconds": time.perf_counter() - started}
    what = "the schema" if output.name.lower().endswith(SUFFIX) else f"{rows:,} rows"
    emit(answer, as_json, lambda: f"wrote {what} to {output}")


def sample(
    dataset: Annotated[str, typer.Argument(help="Name, or 8 characters of the hash.")],
    by: Annotated[str, typer.Option("--by", help="Column whose shares are kept.", show_default=False)],
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
    emit(report, as_json, lambda: f"{report.dataset}: {report.rows:,} rows\n{table(strata)}")


def read_mapping(path: Path | None) -> dict[str, FieldSource]:
    """Return field -> source of a --map file.

    Raises:
        SettingsError: when the file is not that kind of JSON.
    """
    if path is None:
        return {}
    shape = '{"duration_s": {"from": "runtime", "unit": "ms"}}'
    if path.exists() and not path.is_file():  # reading a pipe or a device may never end
        raise SettingsError(f"--map {path} is no regular file; write JSON such as {shape}")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"--map {path} cannot be read ({error}); write JSON such as {shape}") from error
    entries = document.items() if isinstance(document, dict) else ()
    wrong = [field for field, entry in entries if not (isinstance(entry, dict) and isinstance(entry.get("from"), str))]
    if not entries or wrong:
        what = f"field {wrong[0]!r} has no column" if wrong else "there is no field in it"
        raise SettingsError(f"--map {path}: {what}; write JSON such as {shape}")
    return {field: FieldSource(entry["from"], str(entry.get("unit", ""))) for field, entry in entries}


def _confirmed(question: str) -> bool:
    """Return the answer of whoever sits at the terminal; no where nobody does."""
    return sys.stdin.isatty() and typer.confirm(question, err=True)


def _as_text(report: IngestReport) -> str:
    name = f"{report.dataset} ({report.hash[:8]}), {report.format}"
    lost = f", {lines_lost(report.lost)}" if report.lost else ""
    lines = [f"{name}: {report.rows:,} rows, {report.rejected:,} rejected{lost}"]
    if report.rejects_file:
        lines.append(f"rejected rows: {report.rejects_file}")
    if report.joins:
        lines += ["", table([vars(step) | {"fan_out": f"{step.fan_out:.3f}"} for step in report.joins])]
    if report.machine_shares:
        lines += ["", in_words(report.machine_shares)]
    found = [check for check in report.checks if check.count]
    if found:
        lines += ["", table([vars(check) for check in found])]
    return "\n".join(lines)
