"""Jobs of Slurm's accounting: `sacct` of this host or of another by ssh, or slurmrestd's JSON by URL.

A window reaches back over the last one, and sacct names every job that was there within it: a job that ran is read
again until it has ended.

Source: Slurm's documentation of sacct and of its REST API.
"""

import datetime as dt
import json
import os
import re
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

from workprof.sources.api import EXCERPT, Api, Refused, SourceUnreachable
from workprof.sources.fetched import Fetched, Place, State, reading
from workprof.sources.source import Credentials, Source, secret
from workprof.store.reports import IngestOptions

FIELDS = (
    *("JobID", "JobName", "User", "Account", "Partition", "Cluster", "State", "Submit", "Start", "End", "Elapsed"),
    *("Timelimit", "ReqMem", "MaxRSS", "AveRSS", "TotalCPU", "ReqCPUS", "AllocCPUS", "NNodes", "NTasks", "ReqTRES"),
    *("AllocTRES", "TRESUsageInTot", "TRESUsageInMax", "TRESUsageInAve", "NodeList", "ExitCode"),
)
LONGEST_S = 1800
VERSIONS = re.compile(r"/slurmdb/(v0\.0\.\d+)/jobs")
OPEN_API = ("/openapi/v3", "/openapi")


def fetch(source: Source, state: State, place: Place) -> Fetched:
    """Jobs that were there since the last refresh, as sacct tells them.

    Raises SourceUnreachable when sacct cannot be run or fails; with its own words.
    """
    start, end = _window(source, state, place)
    command = [
        *("sacct", "--allusers", "--parsable2", "--duplicates", "--noconvert", f"--format={','.join(FIELDS)}"),
        *(f"--starttime={_moment(start)}", f"--endtime={_moment(end)}"),
    ]
    environment = {"TZ": "UTC", "SLURM_TIME_FORMAT": "standard", "LC_ALL": "C"}
    if source.address:
        words = [*(f"{name}={value}" for name, value in environment.items()), *command]
        command = [
            "ssh",
            "-o",
            "BatchMode=yes",
            "-o",
            "ConnectTimeout=15",
            "--",
            source.address,
            "env " + shlex.join(words),
        ]
    place.progress(0.0, "asking sacct")
    file = place.passing / "sacct.txt"
    _run(command, environment, file, source)
    with file.open("rb") as stream:
        heading, first = stream.readline(), stream.readline()
    if not heading.startswith(b"JobID|"):
        raise SourceUnreachable(
            f"{source.shown} answered no table of jobs ({heading[:EXCERPT].decode(errors='replace')!r})"
        )
    until = replace(state, until_s=end)
    return Fetched(reading([file], IngestOptions(format="slurm", name=source.name)) if first else None, until)


def fetch_rest(source: Source, state: State, place: Place) -> Fetched:
    """The same from slurmrestd, by the newest version of its API that it offers.

    Raises SourceUnreachable when it does not answer, or tells errors.
    """
    start, end = _window(source, state, place)
    named = source.credentials
    more = {"X-SLURM-USER-NAME": named.user} if named.user else {}
    if named.token:
        more["X-SLURM-USER-TOKEN"] = secret(named.token)
    place.progress(0.0, "asking slurmrestd")
    with Api(source.address, Credentials(headers=named.headers, ca_file=named.ca_file), more) as api:
        window = {"start_time": f"{start:.0f}", "end_time": f"{end:.0f}"}
        answer = api.json(f"/slurmdb/{_version(api)}/jobs", window)
    errors = answer.get("errors") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or "jobs" not in answer or errors:
        raise SourceUnreachable(f"{source.shown} answered no jobs ({str(errors or answer)[:EXCERPT]})")
    file = place.passing / "sacct.json"
    file.write_text(json.dumps(answer), encoding="utf-8")
    until = replace(state, until_s=end)
    return Fetched(
        reading([file], IngestOptions(format="slurm-json", name=source.name)) if answer["jobs"] else None, until
    )


def _window(source: Source, state: State, place: Place) -> tuple[float, float]:
    start = state.until_s - source.overlap_s if state.until_s else place.now_s - source.since_s
    return max(start, 0.0), place.now_s


def _moment(seconds: float) -> str:
    return dt.datetime.fromtimestamp(seconds, dt.UTC).strftime("%Y-%m-%dT%H:%M:%S")


def _version(api: Api) -> str:
    for path in OPEN_API:
        try:
            known = VERSIONS.findall(json.dumps(api.json(path)))
        except Refused as error:
            if error.status != 404:
                raise
            continue
        if known:
            return str(max(known, key=lambda name: int(name.rsplit(".", 1)[1])))
    raise SourceUnreachable(
        f"{api.url}: no version of /slurmdb/.../jobs is offered; check that --url is slurmrestd's root"
    )


def _run(command: list[str], environment: dict[str, str], file: Path, source: Source) -> None:
    try:
        with file.open("wb") as out:
            done = subprocess.run(
                command,
                stdout=out,
                stderr=subprocess.PIPE,
                stdin=subprocess.DEVNULL,
                env={**os.environ, **environment},
                timeout=LONGEST_S,
                check=False,
            )
    except FileNotFoundError as error:
        raise SourceUnreachable(
            f"{command[0]} is not installed on this host; give --host of one that has it"
        ) from error
    except subprocess.TimeoutExpired as error:
        raise SourceUnreachable(f"{source.shown} gave no end within {LONGEST_S} s; choose a shorter --since") from error
    told = " ".join(done.stderr.decode(errors="replace").split())[:EXCERPT]
    if done.returncode or "error:" in told:
        raise SourceUnreachable(f"{source.shown} failed with status {done.returncode} ({told or 'no words'})")
