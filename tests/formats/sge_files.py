"""A Grid Engine accounting file, the same as qacct prints it, and its sums by plain pandas."""

import io
import random
from datetime import UTC, datetime

import pandas as pd

SIZES = {"4G": 4 * 1024**3, "512M": 512 * 1024**2, "2g": 2e9, "8388608K": 8 * 1024**3}


def accounting(jobs, seed=0, *, millis=False):
    """Return the text of an accounting file; `millis`: epochs in milliseconds, as Univa writes them."""
    draw, scale = random.Random(seed), 1000 if millis else 1
    lines = ["# Version: 8.1.9", "#", "# DO NOT MODIFY THIS FILE!", "#"]
    for number in range(1, jobs + 1):
        queued = 1_700_000_000 + 20 * number
        start, ran, slots = queued + draw.randint(1, 900), draw.randint(1, 200_000), draw.choice([1, 1, 4, 16])
        size = draw.choice([*SIZES])
        failed, code = draw.choice([(0, 0)] * 8 + [(0, 1), (100, 137), (37, 137), (25, 0)])
        peak = draw.randint(1, int(SIZES[size] * slots * 0.99))
        cells = ["all.q", f"n{number % 9}.local", "users", "ann", "sort.sh", number, "sge", 0]
        cells += [queued * scale, start * scale, (start + ran) * scale, failed, code, ran, 1.5, 0.5, 123456.0]
        cells += [0] * 14 + [
            "lab",
            "defaultdepartment",
            "smp" if slots > 1 else "NONE",
            slots,
            number % 3,
            ran * slots / 2,
        ]
        cells += [1.0, 0.0, f"-q all.q -l h_vmem={size},h_rt=86400 -pe smp {slots}", 0.0, "NONE", float(peak), 0, 0]
        lines.append(":".join(map(str, cells)))
    return "\n".join(lines) + "\n"


def sums(text):
    """Return jobs, those that ended well, and their GB h requested and used."""
    table = pd.read_csv(io.StringIO(text), sep=":", comment="#", header=None)
    done = table[(table[11] == 0) & (table[12] == 0)]
    hours = done[13] / 3600
    asked = done[39].str.extract(r"h_vmem=(\w+)")[0].map(SIZES) * done[34]
    return len(table), len(done), (asked * hours).sum() / 1e9, (done[42] * hours).sum() / 1e9


NAMES = (
    *("qname", "hostname", "group", "owner", "jobname", "jobnumber", "account", "priority", "qsub_time", "start_time"),
    *("end_time", "failed", "exit_status", "ru_wallclock", "ru_utime", "ru_stime", "ru_maxrss"),
)
LAST = {31: "project", 32: "department", 33: "granted_pe", 34: "slots", 35: "taskid", 36: "cpu", 39: "category"}


def qacct(text, *, new=False):
    """Return an accounting file as `qacct -j` prints it; `new`: with units and dates as later versions have them."""
    out = []
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        cells = line.split(":")
        told = dict(zip(NAMES, cells, strict=False)) | {name: cells[at] for at, name in LAST.items()}
        for name in ("qsub_time", "start_time", "end_time"):
            style = "%m/%d/%Y %H:%M:%S.123" if new else "%a %b %d %H:%M:%S %Y"
            told[name] = datetime.fromtimestamp(int(told[name]), UTC).strftime(style)
        told["taskid"] = told["taskid"] if told["taskid"] != "0" else "undefined"
        told["maxvmem"] = f"{float(cells[42]) / 1024**3:.6f}G"
        if new:
            told["ru_wallclock"] += "s"
            told["cpu"] += "s"
            told["failed"] += "  : assumedly after job" if told["failed"] == "100" else ""
            told["ru_maxrss"] += "KB"
        out += ["=" * 62, *(f"{name:<12} {value:<20}" for name, value in told.items())]
    return "\n".join(out) + "\nTotal System Usage\n    WALLCLOCK   UTIME\n====\n      1  2\n"
