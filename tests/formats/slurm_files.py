"""A cluster's month as sacct prints it, and the same sums by plain pandas from the printed text."""

import io
import json
import random
import re
from datetime import UTC, datetime

import pandas as pd

FIELDS = (  # noqa: SIM905
    "JobID|JobIDRaw|JobName|User|Account|Partition|State|Submit|Start|End|Elapsed|Timelimit|ReqMem|MaxRSS|AveRSS|"
    "TotalCPU|AveCPU|AveVMSize|ReqCPUS|AllocCPUS|NNodes|NTasks|ReqTRES|AllocTRES|TRESUsageInMax|NodeList|ExitCode"
).split("|")
SIZES = {"K": 1024, "M": 1024**2, "G": 1024**3, "T": 1024**4}


def clock(seconds):
    """Return seconds as sacct's '[D-]HH:MM:SS'."""
    days, rest = divmod(int(seconds), 86_400)
    told = f"{rest // 3600:02d}:{rest % 3600 // 60:02d}:{rest % 60:02d}"
    return f"{days}-{told}" if days else told


def stamp(at):
    """Return an epoch as sacct's local time, here UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def month(jobs, seed=0, *, old=False):
    """Return the lines of a month: dictionaries by field, steps after their job, some jobs requeued.

    Args:
        jobs: how many job ids.
        seed: of the random numbers.
        old: requests per node and per core, as before Slurm 21.08.
    """
    draw = random.Random(seed)
    lines = []
    for at in range(jobs):
        job = str(1000 + at) + draw.choice(["", "", f"_{at % 7}", "+1"])
        states = [draw.choice(["COMPLETED"] * 8 + ["FAILED", "TIMEOUT", "OUT_OF_MEMORY", "CANCELLED by 1001"])]
        if draw.random() < 0.05:
            states.insert(0, "NODE_FAIL")
        begun = 1_716_700_000 + 60 * at
        for state in states:
            cores, nodes = draw.choice([1, 2, 4, 8]), draw.choice([1, 1, 1, 2])
            elapsed = draw.choice([draw.randint(1, 3600), draw.randint(3600, 400_000)])
            size = draw.choice([2, 4, 16, 64])
            asked = draw.choice([f"{size}G", f"{size * 1000}M", f"{size / 2:.2f}G"])
            if old:
                asked = draw.choice([f"{size}Gn", f"{size}Gc", "0n"])
            own = {
                "JobID": job,
                "JobIDRaw": job,
                "JobName": draw.choice(["align", "sort, really", 'a "b"', "train"]),
                "User": draw.choice(["ann", "bob", "cyd"]),
                "Account": "lab",
                "Partition": draw.choice(["short", "long"]),
                "State": state,
                "Submit": stamp(begun - 500),
                "Start": stamp(begun),
                "End": stamp(begun + elapsed),
                "Elapsed": clock(elapsed),
                "Timelimit": draw.choice(["1-00:00:00", "04:00:00", "UNLIMITED", "Partition_Limit"]),
                "ReqMem": asked,
                "TotalCPU": clock(elapsed // 2),
                "ReqCPUS": str(cores),
                "AllocCPUS": str(cores),
                "NNodes": str(nodes),
                "ReqTRES": f"billing={cores},cpu={cores},node={nodes}",
                "AllocTRES": f"billing={cores},cpu={cores},node={nodes}",
                "NodeList": "n[1,3]" if nodes > 1 else "n1",
                "ExitCode": "0:0" if state == "COMPLETED" else "1:0",
            }
            lines.append(own)
            for step in ("batch", "extern", *(str(number) for number in range(draw.choice([0, 0, 1, 2])))):
                peak = 1000 if step == "extern" else draw.randint(10_000, size * 1_000_000)
                lines.append(
                    {
                        "JobID": f"{job}.{step}",
                        "JobIDRaw": f"{job}.{step}",
                        "JobName": step if step in ("batch", "extern") else "srun",
                        "Account": "lab",
                        "State": state.split()[0],
                        "Submit": own["Start"],
                        "Start": own["Start"],
                        "End": own["End"],
                        "Elapsed": own["Elapsed"],
                        "MaxRSS": draw.choice([f"{peak}K", f"{peak / 1024:.2f}M"]),
                        "AveRSS": f"{peak // 2}K",
                        "TotalCPU": f"{elapsed // 2 // 60:02d}:{elapsed // 2 % 60:02d}.125" if elapsed < 7200 else "",
                        "AveCPU": clock(elapsed // 2),
                        "AveVMSize": f"{peak * 4}K",
                        "AllocCPUS": str(cores),
                        "NNodes": str(nodes),
                        "NTasks": str(nodes),
                        "AllocTRES": f"cpu={cores},mem={size}G,node={nodes}",
                        "TRESUsageInMax": f"cpu=00:00:12,energy=0,fs/disk=12345,mem={peak}K,pages=0,vmem={4 * peak}K",
                        "TRESUsageInTot": f"cpu=00:00:12,energy=0,mem={peak * nodes}K,vmem={4 * peak * nodes}K",
                        "NodeList": own["NodeList"],
                        "ExitCode": own["ExitCode"],
                    }
                )
            begun += elapsed + 600
    return lines


def printed(lines, fields=FIELDS, delimiter="|", *, trailing=False):
    """Return the lines as `sacct -P` (or, `trailing`, `sacct -p`) prints them."""
    end = delimiter if trailing else ""
    rows = [delimiter.join(line.get(field.split("%")[0], "") for field in fields) + end for line in lines]
    return "\n".join([delimiter.join(fields) + end, *rows]) + "\n"


def screen(lines, widths):
    """Return the lines as `sacct` prints them on a screen; a value that does not fit ends in '+'."""

    def fit(value, width):
        return (value if len(value) <= width else value[: width - 1] + "+").rjust(width)

    heading = " ".join(field[:width].rjust(width) for field, width in widths.items())
    dashes = " ".join("-" * width for width in widths.values())
    rows = [" ".join(fit(line.get(field, ""), width) for field, width in widths.items()) + " " for line in lines]
    return "\n".join([heading + " ", dashes + " ", *rows]) + "\n"


def bytes_of(text):
    """Return the bytes of '4G', '1.5M', '10000K', '7'; nothing of ''."""
    match = re.fullmatch(r"([\d.]+)([KMGT]?)[nc]?", text)
    return float(match[1]) * SIZES.get(match[2], 1) if match else float("nan")


def seconds_of(text):
    """Return the seconds of '[D-]HH:MM:SS'."""
    days, _, rest = text.rpartition("-")
    hours, minutes, seconds = rest.split(":")
    return int(days or 0) * 86_400 + int(hours) * 3600 + int(minutes) * 60 + float(seconds)


def sums(text, delimiter="|"):
    """Return jobs, finished jobs, GB h of a node requested and used by finished ones: plain pandas over the text.

    A step is of the attempt of its job that began when it did.
    """
    table = pd.read_csv(io.StringIO(text), sep=delimiter, dtype=str, keep_default_na=False, quoting=3)
    table["job"] = table["JobID"].str.split(".").str[0]
    table["rss"] = table["MaxRSS"].map(bytes_of)
    peaks = table.groupby(["job", "Start"])["rss"].max()
    jobs = table[~table["JobID"].str.contains(".", regex=False)].copy()
    jobs["seconds"] = jobs["Elapsed"].map(seconds_of)
    jobs["peak"] = peaks.reindex(pd.MultiIndex.from_frame(jobs[["job", "Start"]])).to_numpy()
    times = jobs["ReqMem"].map(lambda told: told[-1:])
    nodes = jobs["NNodes"].astype(float)
    each = (jobs["ReqCPUS"].astype(float) / nodes).where(times == "c", (1 / nodes).where(times != "n", 1.0))
    jobs["asked"] = jobs["ReqMem"].map(bytes_of).replace(0, float("nan")) * each
    done = jobs[jobs["State"] == "COMPLETED"]
    hours = done["seconds"] / 3600
    return len(jobs), len(done), (done["asked"] * hours).sum() / 1e9, (done["peak"] * hours).sum() / 1e9


def sums_of(frame):
    """Return the same of a dataset's runs."""
    done = frame[frame["status"] == "COMPLETED"]
    hours = done["duration_s"] / 3600
    return (
        len(frame),
        len(done),
        (done["requested_memory_bytes"] * hours).sum() / 1e9,
        (done["peak_memory_bytes"] * hours).sum() / 1e9,
    )


def as_json(lines, *, old=False):
    """Return the lines as `sacct --json` writes them; `old`: plain numbers and a bare state, as v0.0.37 has them."""

    def told(value):
        return value if old else {"set": True, "infinite": False, "number": value}

    def epoch(text):
        return int(datetime.fromisoformat(text + "+00:00").timestamp())

    jobs = []
    for line in lines:
        name = line["JobID"]
        state = line["State"].split()[0]
        time = {
            "elapsed": int(seconds_of(line["Elapsed"])),
            "start": epoch(line["Start"]),
            "end": epoch(line["End"]),
            "suspended": 0,
            "total": {"seconds": 7, "microseconds": 500_000},
        }
        if "." in name:
            peak = round(bytes_of(line["MaxRSS"]))
            used = [{"type": "cpu", "name": "", "id": 1, "count": 12_000}, {"type": "mem", "name": "", "count": peak}]
            jobs[-1]["steps"].append(
                {
                    "time": time,
                    "nodes": {"count": 1, "list": ["n1"]},
                    "tasks": {"count": 1},
                    "state": state if old else [state],
                    "step": {"id": {"job_id": 1, "step_id": name.split(".")[1]} if old else name, "name": "x"},
                    "tres": {"requested": {"max": used, "average": used}, "consumed": {}, "allocated": []},
                }
            )
            continue
        number, _, rest = name.replace("+", "_").partition("_")
        limit = line["Timelimit"]
        jobs.append(
            {
                "account": line["Account"],
                "allocation_nodes": int(line["NNodes"]),
                "array": {"job_id": int(number) if "_" in name else 0, "task_id": told(int(rest or 0)), "task": ""},
                "het": {"job_id": int(number) if "+" in name else 0, "job_offset": told(int(rest or 0))},
                "job_id": int(number),
                "name": line["JobName"],
                "nodes": line["NodeList"],
                "partition": line["Partition"],
                "required": {"CPUs": int(line["ReqCPUS"]), "memory_per_node": told(0), "memory_per_cpu": told(0)},
                "state": {"current": state if old else [state], "reason": "None"},
                "steps": [],
                "time": {
                    **time,
                    "submission": epoch(line["Submit"]),
                    "limit": told(round(seconds_of(limit) / 60)) if ":" in limit else told(4294967295),
                },
                "tres": {
                    "allocated": [],
                    "requested": [
                        {"type": "cpu", "name": "", "id": 1, "count": int(line["ReqCPUS"])},
                        {"type": "mem", "name": "", "id": 2, "count": round(bytes_of(line["ReqMem"]) / 1024**2)},
                        {"type": "gres", "name": "gpu:a100", "id": 1001, "count": 2},
                    ],
                },
                "user": line["User"],
                "exit_code": {"status": ["SUCCESS"], "return_code": told(0)},
                "derived_exit_code": {"status": ["SUCCESS"], "return_code": told(0)},
            }
        )
    return json.dumps({"meta": {"Slurm": {"version": "23.11"}}, "jobs": jobs, "errors": [], "warnings": []}, indent=1)
