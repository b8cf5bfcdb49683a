"""A PBS server's accounting log and its qstat document, and their sums by plain pandas."""

import json
import random
import re
from datetime import UTC, datetime

import pandas as pd

BYTES = {"kb": 1024, "mb": 1024**2, "gb": 1024**3}


def moment(at):
    """Return an epoch as the log writes it, here in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%m/%d/%Y %H:%M:%S")


def hours(seconds):
    """Return seconds as 'HHH:MM:SS'."""
    return f"{seconds // 3600:02d}:{seconds % 3600 // 60:02d}:{seconds % 60:02d}"


def log(jobs, seed=0, *, torque=False):
    """Return the text of a log: every job queued, started and ended, among records that are no jobs."""
    draw = random.Random(seed)
    lines = []
    for number in range(jobs):
        job, queued = f"{number}.srv", 1_700_000_000 + 30 * number
        start, ran = queued + draw.randint(1, 3000), draw.randint(1, 300_000)
        cores, size = draw.choice([1, 4, 16]), draw.choice([2, 8, 64])
        asked = draw.choice([f"{size}gb", f"{size * 1000}mb", f"{size * 1_000_000}kb"])
        code = draw.choice([0] * 8 + [1, 271, -29])
        own = f"user=ann group=users account=lab jobname=sort queue=batch ctime={queued} qtime={queued} etime={queued} "
        request = f"Resource_List.mem={asked} Resource_List.walltime=24:00:00 "
        request += (
            f"Resource_List.ncpus=1 Resource_List.nodes=1:ppn={cores} owner=ann@login "
            if torque
            else f"Resource_List.ncpus={cores} Resource_List.select=1:mem={asked}:ncpus={cores} "
        )
        used = f"resources_used.cput={hours(ran * cores // 2)} resources_used.mem={draw.randint(1000, size * 10**6)}kb "
        used += f"resources_used.vmem=99gb resources_used.walltime={hours(ran)}"
        lines += [
            (queued, f"{moment(queued)};Q;{job};queue=batch"),
            (start, f"{moment(start)};S;{job};{own}start={start} exec_host=n1/0*{cores} {request}"),
            (
                start + ran,
                f"{moment(start + ran)};E;{job};{own}start={start} exec_host=n1/0*{cores} {request}session=7 "
                f"end={start + ran} Exit_status={code} {used} run_count=1",
            ),
        ]
        if number % 100 == 0:
            lines.append((queued, f"{moment(queued)};L;license;floating license hour:3 day:3 month:3 max:99"))
    return "".join(line + "\n" for _, line in sorted(lines, key=lambda each: each[0]))


def sums(text):
    """Return ended jobs, those with exit status 0, and their GB h requested and used."""
    rows = []
    for line in text.splitlines():
        if line.split(";")[1] == "E":
            found = dict(re.findall(r"(\S+?)=(\S+)", line.split(";", 3)[3]))
            rows.append(found)
    table = pd.DataFrame(rows)

    def sizes(name):
        return table[name].str[:-2].astype(float) * table[name].str[-2:].map(BYTES)

    spent = (table["end"].astype(float) - table["start"].astype(float)) / 3600
    done = table["Exit_status"] == "0"
    asked, used = sizes("Resource_List.mem"), sizes("resources_used.mem")
    return len(table), int(done.sum()), (asked * spent)[done].sum() / 1e9, (used * spent)[done].sum() / 1e9


def qstat(text):
    """Return the ended jobs of a log as `qstat -x -f -F json` writes them."""
    jobs = {}
    names = {"jobname": "Job_Name", "account": "Account_Name", "user": "euser", "group": "egroup", "start": "stime"}
    for line in text.splitlines():
        _, kind, job, rest = line.split(";", 3)
        if kind != "E":
            continue
        told = {"Job_Owner": "ann@login", "job_state": "F", "Resource_List": {}, "resources_used": {}}
        for key, value in re.findall(r"(\S+?)=(\S+)", rest):
            group, _, inner = key.partition(".")
            if inner:
                told[group][inner] = int(value) if value.isdigit() else value
            elif key != "end":
                times = key in ("ctime", "qtime", "start", "etime")
                text = datetime.fromtimestamp(int(value), UTC).strftime("%a %b %e %H:%M:%S %Y") if times else value
                told[names.get(key, key)] = int(value) if key == "Exit_status" else text
        jobs[job] = told
    return json.dumps({"timestamp": 1, "pbs_version": "22.05.11", "pbs_server": "srv", "Jobs": jobs}, indent=4)
