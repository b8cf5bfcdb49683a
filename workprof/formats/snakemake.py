"""Snakemake's benchmark files: one line per run of a job, in a file per job, a folder of them, or a table of all.

`s` is the run time; `max_rss` and the other sizes that are called MB are divided by 1024 twice, `mem_mb` of the
resources is a thousand thousands. 'NA' stands where a job ended before the first look at it, '-' where the system does
not tell. Only jobs that ended well have a file. Before there was a `cpu_time`, `mean_load` was the percent of a core.

The extended format writes wildcards, params, resources and sizes as Python prints a dict: such a text is searched for
a key and a plain number or text, it is never evaluated.

Source: Snakemake's documentation of benchmarks and of standard resources.
"""

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from workprof.formats.declare import (
    NUMBER,
    TEXT,
    Finding,
    Format,
    Given,
    Made,
    Read,
    Reader,
    Remark,
    Rule,
    SourceColumn,
    Unreadable,
)

MEASURED = ("s", "max_rss", "max_vms", "max_uss", "max_pss", "io_in", "io_out", "mean_load", "cpu_time")
REQUESTED = ("threads", "_cores", "mem_mb", "mem_mib", "disk_mb", "runtime", "gpu", "nvidia_gpu", "input_size_mb")
TEXTS = ("job", "rule_name", "sample", "jobid", "wildcards", "params", "resources", "further")
COLUMNS = (*TEXTS, "repeat", *MEASURED, *REQUESTED)
SHOWN = ("h:m:s", *COLUMNS)
"""Columns of a file that need no place among the further ones; 'h:m:s' says `s` again."""

SIGNATURE = frozenset({"s", "h:m:s", "max_rss"})
DELIMITERS = ("\t", ",", ";")
NOTHING = ("", "-", "NA")
ENDINGS = frozenset(
    {"gz", "zst", "txt", "tsv", "csv", "tab", "jsonl", "json", "log", "benchmark", "benchmarks", "bench", "bmk"}
)
LONGEST_LINE = 1 << 20
AMOUNT = r"[0-9][\w. ]*"
"""A resource may be a text ('8 GB'), or '<TBD>' where it was not known when the job was benchmarked."""


RULES = {"rule": "rule_name", "process": "rule_name"}
"""Names that tables of all benchmarks give the columns that they add."""


def _recognises(text: str, name: str) -> bool:
    first = text.lstrip().partition("\n")[0].strip()
    if first.startswith("{"):
        keys = _object(first)
        return keys is not None and keys.keys() >= SIGNATURE
    return _cells(first)[1] >= SIGNATURE


def _cells(header: str) -> tuple[str, set[str]]:
    """The delimiter of a first line, and its names."""
    delimiter = max(DELIMITERS, key=header.count)
    return delimiter, {cell.strip().strip('"') for cell in header.split(delimiter)}


def _object(line: str) -> dict[str, object] | None:
    """The object of a line, None where it holds none."""
    try:
        result = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return result if isinstance(result, dict) else None


def _read(sources: Sequence[Given]) -> Iterator[Read | Unreadable | Remark]:
    unmeasured = 0
    for given in sources:
        repeat = 0
        for one in _lines(given):
            if isinstance(one, Unreadable):
                where = f"{given.name}: " if len(sources) > 1 else ""
                yield replace(one, reason=where + one.reason)
                continue
            line, row = one
            repeat += 1
            unmeasured += row.get("max_rss", "") == "NA"
            yield Read(line, _cells_of(row, given.name, repeat))
    if unmeasured:
        text = f"{unmeasured:,} rows say NA: the job ended before Snakemake looked at it, its use is not known"
        yield Remark("not measured", unmeasured, text)


def _lines(given: Given) -> Iterator[tuple[int, dict[str, str]] | Unreadable]:
    """Yield line and cells by column of every run of a file."""
    names: list[str] = []
    delimiter, quoted = "\t", False
    for number, line in given.lines():
        if not line.strip():
            continue
        if len(line) > LONGEST_LINE:
            yield Unreadable(number, "", line[:500], f"longer than {LONGEST_LINE:,} characters")
        elif not names and line.lstrip().startswith("{"):
            values = _object(line)
            if values is None:
                yield Unreadable(number, "", line, "not a JSON object")
            else:
                yield number, {key: _text(value) for key, value in values.items()}
        elif not names:
            delimiter = _cells(line)[0]
            quoted = delimiter != "\t" or '"' in line
            names = [cell.strip() for cell in _split(line, delimiter, quoted)]
        else:
            cells = _split(line, delimiter, quoted)
            if len(cells) != len(names):
                yield Unreadable(number, "", line, f"{len(cells)} cells; the header has {len(names)}")
            elif [cell.strip() for cell in cells] != names:  # files that were put together with their headers
                yield number, {name: cell.strip() for name, cell in zip(names, cells, strict=True)}


def _split(line: str, delimiter: str, quoted: bool) -> list[str]:
    """The cells of a line; Snakemake itself puts nothing in quotes, and writes some in texts."""
    return next(csv.reader([line], delimiter=delimiter), []) if quoted else line.split(delimiter)


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)


def _cells_of(row: Mapping[str, str], name: str, repeat: int) -> list[str | float | None]:
    known = {RULES.get(key, key): value for key, value in row.items() if value not in NOTHING}
    path, rule, sample = job_rule_sample(name)
    resources = known.get("resources", "")
    made: dict[str, str | float | None] = {
        "job": path,
        "rule_name": rule,
        "sample": _entry(known.get("wildcards", ""), "sample") or sample,
        "repeat": repeat,
        "input_size_mb": _sum(known.pop("input_size_mb", "")),
        **{
            key: _entry(resources, key, AMOUNT)
            for key in ("_cores", "mem_mb", "mem_mib", "disk_mb", "runtime", "gpu", "nvidia_gpu")
        },
    }
    more = {key: value for key, value in known.items() if key not in SHOWN}
    made["further"] = json.dumps(more) if more else None
    return [known.get(column, made.get(column)) for column in COLUMNS]


def job_rule_sample(name: str) -> tuple[str, str, str | None]:
    """The job, the rule and the sample (None = not told) that the path of a benchmark file says.

    By the conventions of Snakemake's documentation and tutorial: RULE/SAMPLE.tsv, and SAMPLE.RULE.benchmark.txt.
    """
    parts = list(PurePosixPath(name.replace("\\", "/")).parts)
    words = parts[-1].split(".")
    while len(words) > 1 and words[-1].lower() in ENDINGS:
        words.pop()
    job = "/".join((*parts[:-1], ".".join(words)))
    if len(parts) > 1:
        return job, parts[-2], ".".join(words)
    if len(words) > 1:
        return job, words[-1], ".".join(words[:-1])
    return job, words[0], None


def _entry(text: str, key: str, value: str = r"[^'\"]*") -> str | None:
    """The value of a key, in quotes (by the expression) or a plain number, in a dict as Python or JSON writes it."""
    match = re.search(rf"""['"]{key}['"]\s*:\s*(?:'({value})'|"({value})"|([0-9][0-9.eE+-]*)\s*[,}}])""", text)
    return next((group for group in match.groups() if group), None) if match else None


def _sum(text: str) -> str | None:
    """A number, or the sum of a dict's numbers, as a text; None for an empty dict."""
    numbers = re.findall(r"""['"]\s*:\s*([0-9][0-9.eE+-]*)\s*[,}]""", text)
    try:
        return str(sum(float(number) for number in numbers)) if numbers else text.strip("{} ") or None
    except ValueError:
        return text


FORMAT = Format(
    name="snakemake",
    title="Snakemake benchmark files",
    columns=(
        *(SourceColumn(name, TEXT) for name in TEXTS),
        *(SourceColumn(name, NUMBER) for name in ("repeat", *MEASURED, *REQUESTED)),
    ),
    rules=(
        Rule("job_name", "job"),
        Rule("task_name", "rule_name"),
        Rule("duration_s", "s", "s"),
        Rule("requested_cpu_percent", "threads", "cores"),
        Rule("requested_memory_bytes", "mem_mb", "MB"),
        Rule("time_limit_s", "runtime", "min"),
        Rule("requested_gpu_percent", "nvidia_gpu", "cores"),
        Rule("peak_memory_bytes", "max_rss", "MiB"),
        Rule("read_bytes", "io_in", "MiB"),
        Rule("write_bytes", "io_out", "MiB"),
        Rule("input_bytes", "input_size_mb", "MiB"),
    ),
    nulls=("", "-", "NA"),
    made=(
        Made(
            "requested_cpu_percent",
            'coalesce(requested_cpu_percent, 100 * "_cores")',
            needs=("_cores",),
            may=("requested_cpu_percent",),
        ),
        Made(
            "requested_memory_bytes",
            "coalesce(requested_memory_bytes, 1048576 * mem_mib)",
            needs=("mem_mib",),
            may=("requested_memory_bytes",),
        ),
        Made(
            "requested_gpu_percent", "coalesce(requested_gpu_percent, 100 * gpu)", ("gpu",), ("requested_gpu_percent",)
        ),
        Made(
            "cpu_usage_percent",
            "coalesce(100 * nullif(cpu_time, 0) / nullif(duration_s, 0), nullif(mean_load, 0), "
            "CASE WHEN (cpu_time = 0 OR mean_load = 0) "
            "AND NOT coalesce(duration_s > 0 AND peak_memory_bytes > 0, FALSE) THEN 0 END)",
            needs=("duration_s",),
            may=("cpu_time", "mean_load", "peak_memory_bytes"),
        ),
    ),
    findings=(
        Finding(
            "CPU time of zero",
            "warning",
            "cpu_time = 0 AND duration_s > 0 AND cpu_usage_percent IS NULL",
            "runs have a CPU time of 0 beside a duration and other use: it is not known, and counts as missing",
            needs=("cpu_time", "duration_s", "cpu_usage_percent"),
        ),
    ),
    reader=Reader(_recognises, COLUMNS, _read, several=True),
    not_known="The peak is the largest of samples up to half a minute apart: a short peak is missed.",
    rows_version=2,
)
