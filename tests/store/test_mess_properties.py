"""Random faults in random traces of several formats: no total changes by more than 0.5 % without a word."""

import random
from datetime import UTC, datetime

import pandas as pd
import pytest

from tests.store.conftest import alone
from workprof.core.errors import WorkprofError
from workprof.core.settings import Settings
from workprof.core.units import GIB, MIB
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

FIRST = 1_790_000_000
FORMATS = ("generic", "parquet", "json lines", "nextflow", "slurm", "pbs", "sge", "swf")
TOTALS = ("requested_memory_bytes", "peak_memory_bytes")
BAD = ("x", "-5", "1e39", "7 apples")


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with alone(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)) as opened:
        yield opened


def true_rows(rng):
    """Return runs of a few tasks: start, duration, memory requested and used, cores."""
    tasks = [
        (f"task{at}", rng.uniform(300, 9000), 2 ** rng.randint(0, 6) * GIB, rng.choice((1, 2, 4, 8)))
        for at in range(rng.randint(1, 4))
    ]
    rows = []
    for at in range(rng.randint(60, 160)):
        name, lasts, memory, cores = tasks[at % len(tasks)]
        start = FIRST + 600 * at + rng.randint(0, 500)
        used = memory * rng.uniform(0.2, 0.95)
        rows.append({
            "job": f"{name}-{at}", "task": name, "start": start, "lasted": round(lasts * rng.uniform(0.6, 1.6)),
            "requested": memory, "used": int(used) // 1024 * 1024, "cores": cores,
        })  # fmt: skip
    return rows


NAMES = {
    "generic": ("job_name", "task_name", "start_time_s", "end_time_s", "duration_s", "requested_memory_bytes",
                "peak_memory_bytes", "requested_cpu_percent"),
    "nextflow": ("name", "process", "start", "complete", "realtime", "memory", "peak_rss", "cpus"),
    "slurm": ("JobID", "JobName", "Start", "End", "Elapsed", "ReqMem", "MaxRSS", "AllocCPUS"),
}  # fmt: skip
NAMES |= dict.fromkeys(("parquet", "json lines"), NAMES["generic"])
LINES = ("pbs", "sge", "swf")
"""Formats of lines without a heading; their cells are those of the generic one."""
START, END, LASTED, REQUESTED, USED, CORES = range(2, 8)


def moment(seconds):
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def cells_of(kind, row):
    """Return the cells of a run as a format writes it."""
    end = row["start"] + row["lasted"]
    if kind == "nextflow":
        times = [row["start"] * 1000, end * 1000, row["lasted"] * 1000]
        return [row["job"], row["task"], *times, row["requested"], row["used"], row["cores"]]
    if kind == "slurm":
        hours, rest = divmod(row["lasted"], 3600)
        clock = f"{hours:02}:{rest // 60:02}:{rest % 60:02}"
        sizes = [f"{row['requested'] // MIB}M", f"{row['used'] // 1024}K"]
        number = row["job"].rsplit("-", 1)[1]
        return [number, row["task"], moment(row["start"]), moment(end), clock, *sizes, row["cores"]]
    return [
        row["job"],
        row["task"],
        row["start"],
        end,
        row["lasted"],
        row["requested"],
        row["used"],
        row["cores"] * (1 if kind in LINES else 100),
    ]


def faulty(rng, kind, table):
    """Return a table with a fault in some of its rows, and what the fault is."""
    table = [list(cells) for cells in table]
    some = rng.sample(range(len(table)), max(1, int(len(table) * rng.uniform(0.02, 0.4))))
    fault = rng.choice(("unit", "late", "cell"))
    if fault == "late":
        for at in some[:1]:
            later = FIRST + rng.uniform(1, 40) * 365 * 86_400
            table[at][END] = moment(later) if kind == "slurm" else round(later) * (1000 if kind == "nextflow" else 1)
        return table, "late"
    if fault == "cell" and kind not in ("parquet",):
        column, value = rng.choice((LASTED, REQUESTED, USED, CORES)), rng.choice(BAD)
        for at in some:
            table[at][column] = value
        return table, f"cell {column} {value}"
    column = rng.choice((REQUESTED, USED) if kind == "slurm" else (START, LASTED, REQUESTED, USED, CORES))
    times = rng.choice((1024, 1 / 1024, MIB, 1 / MIB) if column in (REQUESTED, USED) else (1000, 1 / 1000))
    if column == START:  # whole rows in the other of s and ms
        times = 1 / 1000 if kind == "nextflow" else 1000
    for at in some:
        for each in (START, END) if column == START else (column,):
            cell = table[at][each]
            table[at][each] = f"{int(cell[:-1]) * times:.6f}{cell[-1]}" if isinstance(cell, str) else cell * times
    return table, f"unit {column} {times}"


def pbs_line(job, task, start, end, lasted, requested, used, cores):
    sizes = [f"{cell / 1024:.6f}".rstrip("0").rstrip(".") + "kb" if not isinstance(cell, str) else cell
             for cell in (requested, used)]  # fmt: skip
    return (
        f"09/22/2026 10:00:00;E;{job}.srv;user=ann jobname={task} start={start} end={end} Exit_status=0 "
        f"Resource_List.mem={sizes[0]} Resource_List.ncpus={cores} resources_used.mem={sizes[1]} "
        f"resources_used.walltime={lasted}"
    )


def sge_line(job, task, start, end, lasted, requested, used, cores):
    each = requested if isinstance(requested, str) else requested / (1 if isinstance(cores, str) else cores)
    each = each if isinstance(each, str) else f"{each:.6f}"
    others = ":".join("0" * 17)
    number = job.rsplit("-", 1)[1]
    return (
        f"all.q:n1:users:ann:{task}:{number}:sge:0:{start}:{start}:{end}:0:0:{lasted}:{others}:lab:d:smp:{cores}:0:9:0:"
        f"0:-l h_vmem={each}:0:NONE:{used}:0:0"
    )


def swf_line(job, task, start, end, lasted, requested, used, cores):
    processors = 1 if isinstance(cores, str) else cores
    sizes = [cell if isinstance(cell, str) else cell / 1024 / processors for cell in (used, requested)]
    number, task = int(job.rsplit("-", 1)[1]) + 1, task.removeprefix("task")
    return f"{number} {start - FIRST} 0 {lasted} {cores} -1 {sizes[0]} {cores} -1 {sizes[1]} 1 1 1 {task} 1 1 -1 -1"


def written(folder, kind, table, name):
    if kind in LINES:
        line_of = {"pbs": pbs_line, "sge": sge_line, "swf": swf_line}[kind]
        head = f"; Version: 2.2\n; UnixStartTime: {FIRST}\n" if kind == "swf" else ""
        path = folder / f"{name}.txt"
        path.write_text(head + "".join(line_of(*cells) + "\n" for cells in table))
        return path
    frame = pd.DataFrame(table, columns=NAMES[kind])
    if kind == "slurm":
        frame["State"] = "COMPLETED"
    if kind == "nextflow":
        frame["status"], frame["exit"], frame["hash"] = "COMPLETED", 0, "ab/cd"
    path = folder / f"{name}.{ {'parquet': 'parquet', 'json lines': 'json'}.get(kind, 'csv') }"
    if kind == "parquet":
        frame.to_parquet(path)
    elif kind == "json lines":
        frame.to_json(path, orient="records", lines=True)
    else:
        frame.to_csv(path, index=False, sep={"slurm": "|", "nextflow": "\t"}.get(kind, ","))
    return path


def totals(rows):
    hours = [sum(row[of] * row["lasted"] for row in rows) for of in ("requested", "used")]
    return [len(rows), *hours, sum(row["lasted"] for row in rows)]


def totals_read(store, report):
    frame = store.frame(report.hash, [*TOTALS, "duration_s"], finished_only=False)
    lasted = frame["duration_s"]
    return [len(frame), *((frame[name] * lasted).sum() for name in TOTALS), lasted.sum()]


def told(report):
    """Return the warnings; that SWF's memory is an average is told of every log."""
    return [check for check in report.checks if check.level != "info" and check.name != "memory is an average"]


def turns(n, own):
    """Return so many first seeds one by one, for `make test`, and the others of n in turns of a hundred."""
    others = (pytest.param(range(at, min(at + 100, n)), marks=pytest.mark.soak) for at in range(own, n, 100))
    return [*(range(at, at + 1) for at in range(own)), *others]


@pytest.mark.parametrize("seeds", turns(400, len(FORMATS)), ids=str)
def test_sound_traces_are_read_as_they_stand_and_nothing_is_told(store, tmp_path, seeds):
    for seed in seeds:
        rows, kind = true_rows(random.Random(seed)), FORMATS[seed % len(FORMATS)]
        sound = store.ingest([written(tmp_path, kind, [cells_of(kind, row) for row in rows], "sound")], IngestOptions())
        assert totals_read(store, sound) == pytest.approx(totals(rows), rel=1e-6), seed
        assert not told(sound), seed


@pytest.mark.some(8)
@pytest.mark.parametrize("seeds", turns(2000, 3 * len(FORMATS)), ids=str)
def test_no_fault_changes_a_total_in_silence(store, tmp_path, seeds):
    for seed in seeds:
        rng = random.Random(seed)
        rows, kind = true_rows(rng), FORMATS[seed % len(FORMATS)]
        true = totals(rows)
        table, fault = faulty(rng, kind, [cells_of(kind, row) for row in rows])
        try:
            report = store.ingest([written(tmp_path, kind, table, f"faulty{seed}")], IngestOptions())
        except WorkprofError:
            continue  # it is asked, or refused
        if not report.rejected and not told(report):
            assert totals_read(store, report) == pytest.approx(true, rel=0.005), (seed, kind, fault)
