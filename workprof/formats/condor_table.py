"""HTCondor's jobs as a table of ClassAd attributes: `condor_history -af:h,`, or its JSON that became a data frame.

Fields, units and states are those of `condor`.
"""

from dataclasses import replace

from workprof.formats import condor
from workprof.formats.declare import NUMBER, TEXT, Made, Rule, SourceColumn

NULLS = ("", "undefined", "UNDEFINED", "[?]", "error", "nan", "NaN", "None", "null")
"""What ClassAds and data frames write for "no value"."""

_NUMBERS = (
    *("ClusterId", "ProcId", "JobStatus", "JobStartDate", "JobCurrentStartDate", "CompletionDate", "HoldReasonCode"),
    *("EnteredCurrentStatus", "RemoteWallClockTime", "LastRemoteWallClockTime", "RemoteUserCpu", "RemoteSysCpu"),
)
_TEXTS = ("LastRemoteHost", "RemoteHost", "AccountingGroup", "ExitBySignal")
_MADE = ("job", "task", "status", "node", "start", "end", "duration", "cpu_s")

_START = "coalesce(nullif(JobCurrentStartDate, 0), nullif(JobStartDate, 0))"
_ENDED = f"JobStatus IN ({condor.REMOVED}, {condor.COMPLETED}, {condor.HELD})"
_END = f"CASE WHEN {_ENDED} THEN coalesce(nullif(CompletionDate, 0), nullif(EnteredCurrentStatus, 0)) END"
_LAST = "CASE WHEN NumJobStarts > 1 THEN nullif(LastRemoteWallClockTime, 0) END"
_OF_COMPLETED = f"JobStatus = {condor.COMPLETED}"
_RUNS = f"coalesce(JobStatus IN {condor.RUNS}, FALSE)"
_STATES = " ".join(f"WHEN {state} THEN '{word}'" for state, word in condor.STATES.items())
_STATUS = (
    f"CASE WHEN JobStatus = {condor.HELD} AND HoldReasonCode = {condor.OVER_MEMORY} THEN 'out of memory (held)' "
    f"WHEN {_OF_COMPLETED} AND lower(CAST(ExitBySignal AS VARCHAR)) IN ('true', '1', '1.0') "
    "THEN 'killed (signal ' || coalesce(CAST(CAST(ExitSignal AS BIGINT) AS VARCHAR), '?') || ')' "
    f"WHEN {_OF_COMPLETED} AND ExitCode <> 0 THEN 'failed (exit ' || CAST(ExitCode AS BIGINT) || ')' "
    f"ELSE CASE JobStatus {_STATES} END END"
)

FORMAT = replace(
    condor.FORMAT,
    name="condor-table",
    title="HTCondor jobs as a table (condor_history -af:h,)",
    columns=(
        *(SourceColumn(name, TEXT) for name in (*condor.TEXTS, *_TEXTS) if name not in _MADE),
        *(SourceColumn(name, NUMBER) for name in (*condor.NUMBERS, *_NUMBERS) if name not in _MADE),
    ),
    rules=(
        *(rule for rule in condor.FORMAT.rules if rule.source not in _MADE),
        Rule("duration_s", "RemoteWallClockTime", "s"),
    ),
    required=("ClusterId",),
    signature=("ClusterId", "ProcId"),
    further_signatures=(("ClusterId", "JobStatus"), ("ClusterId", "RequestMemory")),
    nulls=NULLS,
    made=(
        Made(
            "job_name",
            "CAST(CAST(ClusterId AS BIGINT) AS VARCHAR) || '.' || CAST(coalesce(ProcId, 0) AS BIGINT)",
            ("ClusterId",),
            ("ProcId",),
        ),
        Made(
            "task_name",
            "coalesce(nullif(DAGNodeName, ''), nullif(regexp_extract(Cmd, '[^/]*$'), ''))",
            may=("DAGNodeName", "Cmd"),
        ),
        Made("group", 'coalesce("group", AccountingGroup)', may=("group", "AccountingGroup")),
        Made("status", _STATUS, needs=("JobStatus",), may=("HoldReasonCode", "ExitBySignal", "ExitSignal", "ExitCode")),
        Made(
            "node",
            "nullif(regexp_extract(coalesce(LastRemoteHost, RemoteHost), '[^@]*$'), '')",
            may=("LastRemoteHost", "RemoteHost"),
        ),
        Made("start_time_s", _START, may=("JobCurrentStartDate", "JobStartDate")),
        Made(
            "end_time_s",
            f"CASE WHEN start_time_s > 0 THEN {_END} END",
            ("JobStatus", "start_time_s"),
            ("CompletionDate", "EnteredCurrentStatus"),
        ),
        Made(
            "duration_s",
            f"CASE WHEN start_time_s > 0 AND NOT {_RUNS} THEN coalesce({_LAST}, "
            "CASE WHEN NumJobStarts > 1 THEN end_time_s - start_time_s END, duration_s) END",
            ("start_time_s",),
            ("JobStatus", "NumJobStarts", "LastRemoteWallClockTime", "end_time_s", "duration_s"),
        ),
        Made(
            "cpu_s",
            "CASE WHEN coalesce(RemoteUserCpu, RemoteSysCpu) IS NOT NULL "
            "THEN coalesce(RemoteUserCpu, 0) + coalesce(RemoteSysCpu, 0) END",
            may=("RemoteUserCpu", "RemoteSysCpu"),
        ),
        Made("requested_gpu_percent", "nullif(requested_gpu_percent, 0)", ("requested_gpu_percent",)),
        *condor.FORMAT.made,
    ),
    reader=None,
)
