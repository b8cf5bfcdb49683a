"""A log in Standard Workload Format, and its sums by plain pandas."""

import io
import random

import pandas as pd

START = 1_000_000_000
NAMES = [
    *("job", "submit", "wait", "run", "procs", "cpu", "mem", "req_procs", "limit", "req_mem", "status"),
    *("user", "group", "exe", "queue", "part", "before", "think"),
]


def log(jobs, seed=0):
    """Return the text of a log: a header of comments, jobs of every status, fields that are not known."""
    draw = random.Random(seed)
    lines = ["; Version: 2.2", "; Computer: a cluster", f"; UnixStartTime: {START}", "; MaxProcs: 512", ";", ""]
    at = 0
    for job in range(1, jobs + 1):
        at += draw.randint(0, 90)
        procs, run = draw.choice([-1, 1, 2, 16, 64]), draw.choice([-1, 0, *[draw.randint(1, 200_000)] * 20])
        row = [job, at, draw.randint(0, 5000), run, procs, draw.choice([-1, run / 2]), draw.choice([-1, 0, 250_000])]
        row[6] = draw.choice([row[6], draw.randint(1_000, 4_000_000)])
        row += [draw.choice([-1, procs, 32]), draw.choice([-1, 3600, 86_400]), draw.choice([-1, 1_000_000, 524_288])]
        row += [draw.choice([1] * 8 + [0, 5]), draw.randint(1, 9), draw.choice([-1, 3]), draw.choice([-1, 4, 5])]
        row += [draw.choice([0, 1]), -1, -1, -1]
        pad = draw.choice(["", "  "])
        lines.append(pad + "   ".join(f"{value:g}" if isinstance(value, float) else str(value) for value in row))
    return "\n".join(lines) + "\n"


def sums(text):
    """Return jobs, completed jobs, and their GB h requested and used."""
    table = pd.read_csv(io.StringIO(text), sep=r"\s+", comment=";", names=NAMES).astype(float)
    table = table.where(table >= 0)
    done = table[table["status"] == 1]
    hours = done["run"] / 3600
    asked = done["req_mem"] * 1024 * done["req_procs"].fillna(done["procs"])
    used = done["mem"] * 1024 * done["procs"].fillna(done["req_procs"])
    return len(table), len(done), (asked * hours).sum() / 1e9, (used * hours).sum() / 1e9
