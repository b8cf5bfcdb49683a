"""Texts of well-known tools that are no trace as they stand: what they are, why not, and the command that makes one."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from workprof.formats import slurm_bare
from workprof.formats.cells import number, whole, word
from workprof.store.text_shape import guessed_delimiter

SACCT = f"`sacct -a -P --starttime 2024-05-01 --format={slurm_bare.USUAL} > sacct.txt`"
QSTAT = "`qstat -x -f -F json > jobs.json` (PBS), or the server's accounting log"
QACCT = "`qacct -j '*' > qacct.txt`, or the accounting file itself"
BJOBS = (
    '`LSB_DISPLAY_YEAR=y bjobs -u all -a -json -o "jobid stat user queue job_name submit_time start_time finish_time '
    'run_time cpu_used max_mem combined_resreq slots" > bjobs.json`, or the file lsb.acct'
)
FLUX = "`flux jobs -a --json > jobs.json`"
CONDOR = "`condor_history -json > jobs.json`"
PODS = "`kubectl get pods -A -o json > pods.json`, and for use a range query of Prometheus (see docs/formats)"
INSIGHTS = (
    "a row for each pod: end the query in `| stats min(@timestamp) as start, max(@timestamp) as end, "
    "max(pod_memory_working_set) as peak_memory_bytes by PodName, Namespace` (CPU is in thousandths of a core)"
)
MONITOR = (
    "a row for each container: end the query in `| summarize start=min(TimeGenerated), end=max(TimeGenerated), "
    "peak_memory_bytes=max(CounterValue) by job_name=InstanceName`, of one counter"
)
ECS = (
    "a line for each task: `jq -c '.tasks[] | {job_name: .taskArn, task_name: .group, start: .startedAt, end: "
    '.stoppedAt, status: (if all(.containers[]; .exitCode == 0) then "SUCCEEDED" else "FAILED" end), '
    "memory_request_mib: .memory, cpu_request_cores: ((.cpu | tonumber) / 1024)}' tasks.json > tasks.jsonl`"
)
NOMAD = (
    "a line for each task: `nomad operator api '/v1/allocations?resources=true' | jq -c '.[] | . as $a | .TaskStates "
    '// {} | to_entries[] | {job_name: $a.ID, task_name: ($a.JobID + "/" + .key), start: .value.StartedAt, end: '
    '.value.FinishedAt, status: (if .value.FinishedAt == null then "RUNNING" elif .value.Failed then "FAILED" else '
    '"SUCCEEDED" end), memory_request_mib: $a.AllocatedResources.Tasks[.key].Memory.MemoryMB}\' > tasks.jsonl`'
)
OPENCOST = (
    "the same with --map FILE.json, whose requests are CPUCoreRequestAverage and RAMByteRequestAverage: CPUCores and "
    "RAMBytes are the larger of request and use"
)
RANGE = "the whole answer of /api/v1/query_range, with `status` and `data`"
PROMTOOL = "its JSON (`promtool query range -o json`), or the same range query of the HTTP API (see docs/formats)"
SADF = "`sadf -d FILE -- -A > counters.csv` of a FILE of `sar -o FILE 1`, or record with `workprof record`"
ALIBABA = (
    "the trace of 2018, as it is; of this one, name the columns in a first line and load it with --map: `sed "
    "'1i start_time,end_time,job,task,machine,status,seq,total,cpu_max,cpu_avg,mem_max,mem_avg' batch_instance.csv "
    "> named.csv`"
)
PERF = "`perf stat -I 1000 -x, -o counters.csv COMMAND`"
GPU = (
    "numbers without units of one GPU, `nvidia-smi -i 0 --query-gpu=timestamp,utilization.gpu,memory.used "
    "--format=csv,nounits -l 1 > gpu.csv`, with --format wide; or record with `workprof record`"
)
SUITE = "runs of `workprof nodes suite`, or a line of JSON for each run as it writes them (see docs/nodes.md)"
USAGE = "a line for each run from `workprof record --usage runs.csv -- COMMAND`"
GRAFANA = "the panel's CSV (Inspect, Data, Download CSV), or a range query of Prometheus (see docs/formats)"
SAVED = "the file behind that page, or its table saved as CSV; of a login, the download as somebody who is logged in"
TABLE = "a table with a row for each task: name, start, end, memory requested and used"
GWF = (
    'its first columns as the Standard Workload Format: `awk \'!/^#/ {for (i = 1; i < 12; i++) printf "%s ", $i; '
    'print "-1 -1 -1 -1 -1 -1 -1"}\' FILE.gwf > FILE.swf`'
)


@dataclass(frozen=True)
class Tool:
    """What a text is."""

    known: re.Pattern[str]  # regular expression that its first lines hold
    name: str  # what it is
    lacking: str  # why it is no trace
    instead: str  # what makes one


def _tool(known: str, name: str, lacking: str, instead: str) -> Tool:
    return Tool(re.compile(known, re.MULTILINE), name, lacking, instead)


COUNTS_ALONE = "it holds no counts by the second between commas"
OF_A_BENCHMARK = "it does not say on which node and when it ran"
FOR_PEOPLE, OPEN, NOT_READ = "it is a text for people", "use of ended jobs is not in it", "that format is not read"
NO_RUNS, SUMS, OF_A_GPU = "it has sizes, no runs", "it has sums, no jobs", "it is of a GPU, and names no run"
BLANKS = "a table whose columns stand apart by blanks alone"
BARS = "the same with bars between its columns: `sed -E 's/ {2,}/|/g' FILE > FILE.csv`"
GRID = "a trace in the Grid Workloads Format"
FRAME, RECORDS = (
    "a frame of pandas",
    "the frame row by row: `frame.to_json(FILE, orient='records')`, or its CSV or Parquet",
)
TRACE = "its trace: `nextflow run PIPELINE -with-trace trace.txt`"
BENCHMARKS = "benchmark files (`benchmark:` of the rules), one or a folder of them"

TOOLS = (
    _tool(r"\A\s*(?:<\?xml[^>]*>\s*)?<(?i:!doctype html|html|head|table)\b", "a web page (HTML)", FOR_PEOPLE, SAVED),
    _tool(r"^Job ID: \d+(?:.*\n){1,16}?(?:CPU|Memory) Efficiency:", "output of seff", FOR_PEOPLE, SACCT),
    _tool(r"^\s*Slurm Job Statistics\s*$", "output of jobstats", FOR_PEOPLE, SACCT),
    _tool(r"^Job Information\s*\n(?:ID|Job ID): \d+", "output of seff-array", FOR_PEOPLE, SACCT),
    _tool(r"^\s*JobID\s+State\s+Elapsed\s+TimeEff", "output of reportseff", "it has shares, no times or sizes", SACCT),
    _tool(r"^\s*\"?JOBID\b.*\bNODELIST\s*\(REASON\)", "output of squeue", OPEN, SACCT),
    _tool(r"^\s*JobId=\d+ (?:Array|Job|Het)\w*=", "output of scontrol show job", "use is not in it", SACCT),
    _tool(r"^\s*JobID\s+.*\bAveCPUFreq\b.*\bNTasks\b", "output of sstat", "it has no times of jobs", SACCT),
    _tool(
        r"^Cluster[|,\t](?:Account|Login|Wckey)\b.*\b(?:Used|CPUs?|Proper Name)\b", "a report of sreport", SUMS, SACCT
    ),
    _tool(r"\A\s*# (?:HELP|TYPE) \w+ ", "a scrape in Prometheus' text format", "it is one moment's use", PODS),
    _tool(r"^(?:NAMESPACE\s+)?(?:POD\s+)?NAME\s+CPU\(cores\)", "output of kubectl top", "it is one moment's use", PODS),
    _tool(
        r"^(?:NAMESPACE\s+)?NAME\s+READY\s+STATUS\s+RESTARTS", "a list of kubectl get pods", "it has no requests", PODS
    ),
    _tool(r"^Job [Ii][dD]\s+(?:Name|Username)\s+", "qstat's list", OPEN, QSTAT),
    _tool(r"^\s*Req'd\s+Req'd\s+Elap", "qstat's list", OPEN, QSTAT),
    _tool(r"^Job Id: \S+\n\s+Job_Name = ", "qstat -f as a text", "its lines are broken to fit", QSTAT),
    _tool(r"^active jobs-+", "showq's list", OPEN, f"{QSTAT}; of Slurm {SACCT}"),
    _tool(r"^\s*JOBID\s+(?:QUEUE\s+)?USER\s+NAME\s+ST\s+NTASKS", "flux jobs' list", "it is cut to fit", FLUX),
    _tool(r"^job-ID\s+prior\s+name\s+user", "qstat's list of Grid Engine", "its jobs have not ended", QACCT),
    _tool(r"^JOBID\s+USER\s+STAT\s+QUEUE", "bjobs' list", "it is cut to fit and has no use", BJOBS),
    _tool(r"^\s*Job <\d+(?:\[\d+\])?>, ", "output of bjobs -l or bhist -l", FOR_PEOPLE, BJOBS),
    _tool(
        r"^(?:Summary of time in seconds spent|Accounting information about jobs)",
        "output of bhist or bacct",
        FOR_PEOPLE,
        BJOBS,
    ),
    _tool(
        r"^\s*(?:-- Schedd: |ID\s+OWNER\s+SUBMITTED|OWNER\s+BATCH_NAME)",
        "a list of HTCondor",
        "it has no requests",
        CONDOR,
    ),
    _tool(r"^(?:MyType = \"Job\"|ClusterId = \d+)$", "HTCondor's long listing", "it is no table", CONDOR),
    _tool(
        r"^(?=.*\bClusterId\b)[A-Z]\w*(?: +[A-Z]\w*)+ *$",
        "HTCondor's list of attributes",
        "nothing stands between its columns but blanks",
        f"{CONDOR}, or commas between them (`-af:h,` for `-af:h`)",
    ),
    _tool(r"^<classads>", "XML of HTCondor", NOT_READ, CONDOR),
    _tool(r"<job_info\b", "qstat -xml of Grid Engine", OPEN, QACCT),
    _tool(r"<Data>\s*<Job>", "qstat -x of Torque", NOT_READ, QSTAT),
    _tool(
        r"^jobs:\s*\n(?:.*\n){,60}?\s*-?\s*job_id:|^- account:",
        "YAML of sacct",
        NOT_READ,
        f"its JSON (--json), or {SACCT}",
    ),
    _tool(
        r"^(?=.*\bjob_id\b).*\bstate\.current\b",
        "Slurm's JSON as a table (json_normalize)",
        "its cells hold lists",
        f"the JSON itself (sacct --json), or {SACCT}",
    ),
    _tool(r"^apiVersion: v1\s*$", "YAML of kubectl", NOT_READ, PODS),
    _tool(r"^Linux \S+ \(\S+\)\s.*\n\s*\n?.*\b(?:UID|USER)\s+(?:PID|TGID)\b", "output of pidstat", FOR_PEOPLE, SADF),
    _tool(r"^(?:#\s+Time|[A-Z]\w+:)\s+(?:UID|USER)\s+(?:PID|TGID)\b", "output of pidstat", FOR_PEOPLE, SADF),
    _tool(r"^avg-cpu: +%user|^Device:? +(?:r/s|tps) ", "output of iostat", FOR_PEOPLE, SADF),
    _tool(r"^Linux \S+ \(\S+\)\s+\S+\s+_\w+_", "output of sar or mpstat", FOR_PEOPLE, SADF),
    _tool(
        r"^\d\d:\d\d:\d\d(?: [AP]M)? +(?:CPU +%us|kbmemfree|runq-sz|tps +rtps|IFACE +rx|DEV +tps|proc/s|pgpgin/s)",
        "output of sar or mpstat",
        FOR_PEOPLE,
        SADF,
    ),
    _tool(
        r"\A\S+\t-?\d+\t(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: \w+)?|\d{9,})\t\S+\t\S+\t[\d.,-]+$",
        "output of sadf -p (or without -d)",
        NOT_READ,
        SADF,
    ),
    _tool(r"\A[\d:]+(?: \w+)?; [A-Za-z]\S*; \S+; %?\w", "output of sadf -r", NOT_READ, SADF),
    _tool(r'"sysstat":\s*\{\s*"hosts"', "JSON of sadf, mpstat or iostat", NOT_READ, SADF),
    _tool(r"<sysstat\b|DTD v[\d.]+ sysstat", "XML of sadf", NOT_READ, SADF),
    _tool(r"\A\s*(?:<\?xml[^>]*>\s*)?<(?:!DOCTYPE )?svg\b", "a picture (SVG)", "its numbers are lines", SADF),
    _tool(r"^-*procs-* -+memory-+ -+swap", "output of vmstat", FOR_PEOPLE, SADF),
    _tool(r"^top - \d\d:\d\d:\d\d up ", "output of top", FOR_PEOPLE, SADF),
    _tool(r"^#<-+CPU|^#Date Time \[CPU\]", "output of collectl", NOT_READ, SADF),
    _tool(r"^\s*Performance counter stats for ", "a summary of perf stat", "it is one sum, no series", PERF),
    _tool(
        r"^# +time +(?:core +|CPU +)?(?:cpus +)?counts |\A *\d+\.\d{9} +[\d<]",
        "output of perf stat -I for people",
        COUNTS_ALONE,
        PERF,
    ),
    _tool(
        r'^time,.*,\n *\d+\.\d{9},[\d.,]*$|\A\s*\{"interval" : [\d.,]+, ',
        "metrics of perf stat (--metric-only)",
        COUNTS_ALONE,
        PERF,
    ),
    _tool(r'"counter-value"\s*:', "a summary of perf stat", "it is one sum, no series", PERF),
    _tool(r"\A# started on \w{3} \w{3} ", "output of perf stat", COUNTS_ALONE, PERF),
    _tool(r'"values":\s*\[[^\[\]]*\],\s*"timestamps":', "an export of VictoriaMetrics", NOT_READ, RANGE),
    _tool(r'"kind":\s*"PodMetrics', "pod metrics of the API", "it is one moment's use", PODS),
    _tool(
        r'\A(?!\s*[{\[])(?:.*\n){1,5}?\s*\{\s*"(?:apiVersion|items|kind)":',
        "JSON behind other lines",
        "its first lines are none",
        "the same without them: add `2>/dev/null` to the command that wrote it",
    ),
    _tool(r'"podRef":\s*\{', "statistics of a kubelet", "it is one moment's use", PODS),
    _tool(r'"data":\s*\[\s*\{\s*"__name__":', "a list of series of Prometheus", "it has no values", PODS),
    _tool(r"^\S*\{.*\} =>(?: \S+ @\[\d|$)", "a text of promtool", FOR_PEOPLE, PROMTOOL),
    _tool(r'^\{__name__="[^"]+".*\} \S+ \d{13}$', "a dump of Prometheus' blocks", NOT_READ, PROMTOOL),
    _tool(
        r"^@timestamp,(?=.*\bpod_(?:cpu|memory)_)", "a query of Container Insights", "its rows are samples", INSIGHTS
    ),
    _tool(r"\ALabel,.*\nTimestamp,", "a graph's CSV of CloudWatch", "its columns have no units", INSIGHTS),
    _tool(
        r'\A"?TimeGenerated\b.*\bCounterName\b.*\bCounterValue\b',
        "counters of Azure Monitor",
        "its rows are samples",
        MONITOR,
    ),
    _tool(r'"ClientStatus":(?s:.*)"TaskStates":', "allocations of Nomad", "several tasks stand in a row", NOMAD),
    _tool(r'"JobSummary":(?s:.*)"JobModifyIndex":', "a list of jobs of Nomad", "it has no runs", NOMAD),
    _tool(r'"taskArn":\s*"', "tasks of ECS", "its CPU is in units of 1,024 to a core", ECS),
    _tool(r"^Name,(?:\w+,)*CPUCoreRequestAverage,", "allocations of OpenCost", "its sums are no requests", OPENCOST),
    _tool(r'"kind":\s*"VerticalPodAutoscaler', "recommendations of a VerticalPodAutoscaler", NO_RUNS, PODS),
    _tool(r'"scans":\s*\[\s*\{\s*"object":|^Namespace,Name,Pods,', "a report of KRR", NO_RUNS, PODS),
    _tool(r'"(?:ramByteRequestAverage|cpuCoreRequestAverage)"', "allocations of OpenCost", NOT_READ, PODS),
    _tool(
        r'"fields":\s*\[\s*\{\s*"name":\s*"Time"|"schema":\s*\{\s*"refId"', "data frames of Grafana", NOT_READ, GRAFANA
    ),
    _tool(r'"kind":\s*"(?:Workflow|TaskRun|PipelineRun)(?:List)?"', "a list of workflows", "use is not in it", PODS),
    _tool(
        r'"apiVersion":\s*"(?:batch/v1|[\w.-]+/v\d\w*",\s*"kind":\s*"[A-Z]\w+",\s*"(?:metadata|regarding|reason|items)")|'
        r'"kind":\s*"[A-Z]\w+List",\s*"apiVersion":\s*"[\w.-]+/v\d|"involvedObject":',
        "a list of Kubernetes without pods",
        "use is not in it",
        PODS,
    ),
    _tool(r"^(?:NAMESPACE\s+)?LAST SEEN\s+[A-Z]", "a list of kubectl get events", "use is not in it", PODS),
    _tool(r"\AName:\s+\S+\nNamespace:\s+\S+\n", "output of kubectl describe", FOR_PEOPLE, PODS),
    _tool(r"^\w{3}-\d\d \d\d:\d\d:\d\d\.\d{3} \[.{1,60}\] [A-Z]+ +n\w*\.", "a log of Nextflow", FOR_PEOPLE, TRACE),
    _tool(r"^Building DAG of jobs\.\.\.$|^Provided cores: \d+", "a log of Snakemake", "it has no memory", BENCHMARKS),
    _tool(r'"mean-runtime":', "statistics of Snakemake", "it has no memory", BENCHMARKS),
    _tool(r'"batch_system":(?s:.*)"job_types":', "statistics of Toil", SUMS, TABLE),
    _tool(r"^# job - Job Name|^# Job\s+Try\s+Site\s+Kickstart", "statistics of Pegasus", "it has no memory", TABLE),
    _tool(r'"wfprov:|wfprov#', "provenance of a CWL run", "use is not in it", TABLE),
    _tool(r'"Event":\s*"SparkListener', "an event log of Spark", NOT_READ, TABLE),
    _tool(r"^Seq\tHost\tStarttime\tJobRuntime\t", "a job log of GNU parallel", "it has no memory", USAGE),
    _tool(r"^CONTAINER ID\s+NAME\s+CPU %", "output of docker stats", "it is one moment's use", USAGE),
    _tool(r'\A\s*\{"[^"]+":\s*\{"0":[^{}]*"1":', FRAME, "its rows do not stand together", RECORDS),
    _tool(r'\A\s*\{"columns":\s*\[[^\]]*\],\s*"index":\s*\[', FRAME, "its rows have no names", RECORDS),
    _tool(r'"event":\s*"process_(?:submitted|started|completed)"', "events of Nextflow", NOT_READ, TRACE),
    _tool(r"^\s*Command being timed: ", "output of time -v", FOR_PEOPLE, USAGE),
    _tool(r'"allocationPolicy":(?s:.*)"taskGroups":', "a list of jobs of Google Batch", "use is not in it", TABLE),
    _tool(r"^(?:[a-z_.]+, )*(?:utilization\.gpu|memory\.used) \[", "a log of nvidia-smi", OF_A_GPU, GPU),
    _tool(r"^# *gpu +(?:pwr|gtemp|sm|pid|Idx)|^# *Date +Time +gpu", "a log of nvidia-smi", OF_A_GPU, GPU),
    _tool(r"^# *Entity +[A-Z]", "a log of dcgmi", OF_A_GPU, GPU),
    _tool(r"^sysbench [\d.]+:? ", "output of sysbench", OF_A_BENCHMARK, SUITE),
    _tool(r'"fio version":|^fio-\d[\d.]*$|^\d;fio-\d|^\S+: \(g=\d+\): rw=', "output of fio", OF_A_BENCHMARK, SUITE),
    _tool(r'"version":\s*"iperf 3|^Connecting to host .*, port \d+$', "output of iperf3", OF_A_BENCHMARK, SUITE),
    _tool(r'"target":\s*\{\s*"path":(?s:.*)"mdev":|^\d.* <<< .*\btime=', "output of ioping", OF_A_BENCHMARK, SUITE),
    _tool(r"^(?:tcp|udp|ud|rc|uc)_\w+:\n\s+(?:bw|send_bw|latency)\s+= ", "output of qperf", OF_A_BENCHMARK, SUITE),
    _tool(r"^stress-ng: |^\s+stress-ng-version:", "output of stress-ng", "its results are not read", SUITE),
    _tool(r'^"(?:[Dd]ool|[Dd]stat|pcp-dstat) \S+ CSV output"', "a log of dool", NOT_READ, SADF),
    _tool(r"^#.*\b(?:GWF|GWA|Grid Workloads? (?:Format|Archive))\b", GRID, NOT_READ, GWF),
    _tool(r"^#?\s*JobID\s+SubmitTime\s+WaitTime\s+RunTime\s+NProcs?\b", GRID, NOT_READ, GWF),
    _tool(
        r"\A *[A-Za-z][\w()%:/.-]*(?: {2,}[A-Za-z(%][\w()%:/.-]*){2,} *\n", BLANKS, "blanks stand in cells, too", BARS
    ),
)


def refusal(head: str, name: str) -> str:
    """The refusal of a text that a well-known tool writes; '' for any other text."""
    tool = next((each for each in TOOLS if each.known.search(head[:20_000])), None)
    if tool is not None:
        return _words(name, tool.name, tool.lacking, tool.instead)
    lines = [line for line in head.splitlines()[:200] if line.strip()]
    if not lines:
        return ""
    delimiter = guessed_delimiter(lines[0])
    rows = [line.split(delimiter) for line in lines]
    bare = next((each for each in slurm_bare.DELIMITERS if slurm_bare.is_sacct(slurm_bare.rows_of(lines, each))), "")
    if bare or slurm_bare.is_sacct([line.split() for line in lines]):
        return _words(name, "output of sacct without a heading", *_of_no_heading(lines, bare, name))
    if delimiter == "," and all(_is_of_2017(row) for row in rows[:20]):
        lacking = "its columns have no names, and memory is a share of a machine"
        return _words(name, "a table of Alibaba's trace of 2017", lacking, ALIBABA)
    return ""


def _words(name: str, what: str, lacking: str, instead: str) -> str:
    return f"{name} is {what}, which cannot be loaded: {lacking}. What can be: {instead}"


def _of_no_heading(lines: Sequence[str], delimiter: str, name: str) -> tuple[str, str]:
    """Why a dump of sacct without a heading cannot be loaded, and what can be."""
    names = slurm_bare.names_of(slurm_bare.rows_of(lines, delimiter)) if delimiter else ()
    again = f"without -n (--noheader): {SACCT}"
    if not names:
        return "nothing says which column is which", again
    if slurm_bare.DOUBTFUL not in names:
        return f"its columns ({', '.join(names)}) do not say how long a job ran", again
    heading = delimiter.join(names)
    doubt = f"by what stands in its columns they are {heading}, and each {slurm_bare.DOUBTFUL} may be several"
    named = f"`sed '1i {heading}' {shlex.quote(name)} > named.txt`"
    return doubt, f"the same file with the right names in a first line, {named}; or {again}"


def _is_of_2017(row: Sequence[str]) -> bool:
    """Tell whether a row is one of batch_task.csv (8 columns) or batch_instance.csv (12) of 2017."""
    if len(row) not in (8, 12) or not word(row[5]) or not all(whole(cell, missing=True) for cell in row[:5]):
        return False
    return all(number(cell, 0, 1e6, missing=True) for cell in row[6:])
