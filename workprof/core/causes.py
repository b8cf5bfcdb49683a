"""Why a run ended as it did, in one set of words for every scheduler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from workprof.core.arrays import Bools, Ints, factorized, numbers_if_present

if TYPE_CHECKING:
    import pandas as pd

OUT_OF_MEMORY, TIMED_OUT, KILLED, FAILED = "out of memory", "timed out", "killed", "failed"
RUNNING, WAITING, NEVER_STARTED, OTHER = "running", "waiting", "never started", "other"
CAUSES = (OUT_OF_MEMORY, TIMED_OUT, KILLED, FAILED, RUNNING, WAITING, NEVER_STARTED, OTHER)

_STARTS = {
    "out_of_me": OUT_OF_MEMORY,
    "out of me": OUT_OF_MEMORY,
    "oom": OUT_OF_MEMORY,
    "timeout": TIMED_OUT,
    "timed": TIMED_OUT,
    "deadline": TIMED_OUT,
    "cancel": KILLED,
    "kill": KILLED,
    "delet": KILLED,
    "removed": KILLED,
    "rerun": KILLED,
    "preempt": KILLED,
    "evict": KILLED,
    "revoked": KILLED,
    "abort": KILLED,
    "interrupt": KILLED,
    "stopped": KILLED,
    "shutdown": KILLED,
    "fail": FAILED,
    "crash": FAILED,
    "retryablefail": FAILED,
    "unstartable": FAILED,
    "up_for_retry": FAILED,
    "error": FAILED,
    **dict.fromkeys(("executor_error", "system_error", "internal_error", "unsuccessful", "broken"), FAILED),
    "boot_fail": FAILED,
    "node_fail": FAILED,
    "nodelost": FAILED,
    "lost": FAILED,
    "running": RUNNING,
    "completing": RUNNING,
    "configuring": RUNNING,
    "resizing": RUNNING,
    "signaling": RUNNING,
    "stage_out": RUNNING,
    "suspended": RUNNING,
    "started": RUNNING,
    "in_progress": RUNNING,
    "in progress": RUNNING,
    "executing": RUNNING,
    "active": RUNNING,
    "pending": WAITING,
    "waiting": WAITING,
    "queue": WAITING,
    "notstarted": WAITING,
    "starting": WAITING,
    "scheduled": WAITING,
    "deferred": WAITING,
    "up_for_reschedule": WAITING,
    "submitted": WAITING,
    **dict.fromkeys(("initializing", "initialising", "provisioning"), WAITING),
    "requeue": WAITING,
    "special_exit": WAITING,
    **dict.fromkeys(("fehlgeschlagen", "fehler", "gescheitert"), FAILED),
    **dict.fromkeys(("abgebrochen", "gelöscht"), KILLED),
    **{"zeitüberschreitung": TIMED_OUT, "läuft": RUNNING, "warte": WAITING},
}
"""How a status begins, in lower case; Slurm cuts long ones short (`OUT_OF_ME+`) and adds words (`CANCELLED by 1000`).

German words are those of tables that people keep.

Source: the state codes of Slurm's sacct, the phases and reasons of Kubernetes, the events of Borg, the statuses of
Nextflow, Cromwell, TES and the PAI trace.
"""

SHORT_STATES = {
    **dict.fromkeys(("f", "bf", "nf"), FAILED),
    **dict.fromkeys(("ca", "pr", "rv", "st"), KILLED),
    **dict.fromkeys(("to", "dl"), TIMED_OUT),
    **dict.fromkeys(("r", "cf", "cg", "rs", "s", "si", "so"), RUNNING),
    **dict.fromkeys(("pd", "rd", "rf", "rh", "rq", "se"), WAITING),
}
"""Slurm's compact states, in lower case, but CD (completed) and OOM. A letter alone may be another scheduler's: F of
PBS has finished."""

_WORDS = {
    **dict.fromkeys(("schedule", "enable", "update_running"), RUNNING),
    **dict.fromkeys(("submit", "queue", "update_pending", "ready"), WAITING),
    **{"exit": FAILED, **dict.fromkeys(("run", "prov", "ususp", "ssusp"), RUNNING)},
    **dict.fromkeys(("pend", "psusp", "wait", "runnable", "created", "blocked", "late", "awaitingretry"), WAITING),
    **dict.fromkeys(("skipped", "manual", "not_run", "not_built", "not_started", "upstream_failed"), NEVER_STARTED),
    **SHORT_STATES,
}
"""Whole statuses, in lower case, of Borg, Alibaba, LSF, AWS Batch, and of what CI systems and workflows pass over.
Borg's SCHEDULE runs, while another's 'scheduled' waits."""

FOR_MEMORY = (
    r"\boom|out[ _-]?of[ _-]?memory|mem(?:ory)?[ _-]?limit|memory ?error|exceed\w* .*\bmemory|\bmemory\b.* exceed"
)
"""What is said of a kill for memory, in lower case, in Python's and DuckDB's regular expressions."""

_WITHIN = {
    OUT_OF_MEMORY: re.compile(FOR_MEMORY),
    TIMED_OUT: re.compile(r"(?:run|time|wall) ?limit|wall ?time"),
}
"""What a status says beside its first word: `Failed (OOM)`, LSF's `Exit (TERM_MEMLIMIT)`, `killed: memory limit`."""
_EXITED = re.compile(r"exit(?:ed)?(?: with)?(?: code)?[ :(]+(\d+)\)?")
"""Docker's `Exited (137)`: above 128 it is a signal."""
SIGNALS_FROM = 129

KILLS = "out_of_memory_kills"
"""Column: how often a run was killed for memory."""
LOWER_BOUND = "peak_memory_is_lower_bound"
"""Column: 1 where the peak of memory is only known to be at least so large."""


def cause_of(status: str) -> str:
    """The cause, one of `CAUSES`, that the status of a run that has not finished well tells."""
    text = status.strip().lower().replace("oom_killed", "oom").replace("oomkilled", "oom")
    known = _WORDS.get(text) or next((cause for start, cause in _STARTS.items() if text.startswith(start)), OTHER)
    if known in (RUNNING, WAITING, OUT_OF_MEMORY):
        return known
    if exited := _EXITED.fullmatch(text):
        return KILLED if int(exited[1]) >= SIGNALS_FROM else FAILED
    return next((cause for cause, words in _WITHIN.items() if words.search(text)), known)


def starts_of(cause: str) -> tuple[str, ...]:
    """How the statuses of a cause begin, in lower case."""
    return tuple(start for start, each in _STARTS.items() if each == cause)


def words_of(cause: str) -> tuple[str, ...]:
    """The further statuses of a cause, whole and in lower case."""
    return tuple(word for word, each in _WORDS.items() if each == cause)


def causes_of(jobs: pd.DataFrame) -> Ints:
    """(n,) places in `CAUSES`, -1 = finished.

    A run that was killed for memory counts so, however it went on: a pod whose container was killed may have been
    started again since, and have finished or still run.

    `jobs` has `finished` (true or false; without it all have), `status` and `KILLS`.
    """
    codes, kills = ends_of(jobs), numbers_if_present(jobs, KILLS)
    return codes if kills is None else np.where(kills > 0, CAUSES.index(OUT_OF_MEMORY), codes)


def ends_of(jobs: pd.DataFrame) -> Ints:
    """(n,) places in `CAUSES` of how runs ended at last, killed before or not; -1 = finished.

    What was cancelled before it ran has no start where others have one, and took no time: it never started.
    """
    if "finished" not in jobs.columns:
        return np.full(len(jobs), -1, dtype=np.int64)
    finished = jobs["finished"].to_numpy(dtype=bool)
    if "status" not in jobs.columns:
        return np.where(finished, -1, CAUSES.index(OTHER)).astype(np.int64)
    codes, names = factorized(jobs["status"])
    cause_codes = np.array(
        [*(CAUSES.index(cause_of(str(name))) for name in names), CAUSES.index(OTHER)], dtype=np.int64
    )
    ends = np.where(finished, -1, cause_codes[codes])
    starts, took = (numbers_if_present(jobs, name) for name in ("start_time_s", "duration_s"))
    if starts is not None and took is not None and not np.isnan(starts).all():
        ends[(ends == CAUSES.index(KILLED)) & np.isnan(starts) & ~(took > 0)] = CAUSES.index(NEVER_STARTED)
    return ends


def was_killed_for_memory(jobs: pd.DataFrame) -> Bools:
    """(n,) whether a run was killed for memory."""
    return np.asarray(causes_of(jobs) == CAUSES.index(OUT_OF_MEMORY))


def still_running(jobs: pd.DataFrame) -> Bools:
    """(n,) whether a run goes on at the end of the trace, killed before or not."""
    return np.asarray(ends_of(jobs) == CAUSES.index(RUNNING))
