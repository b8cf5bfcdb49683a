"""What well-known tools print for people is refused: what it is, why not, and the command that writes what is read."""

import pytest

from workprof.core.errors import ColumnMissing, NoRows, TraceError
from workprof.store.reports import IngestOptions

SEFF = """\
Job ID: 4160740
Cluster: c1
State: COMPLETED (exit code 0)
CPU Utilized: 00:11:28
CPU Efficiency: 26.46% of 00:43:20 core-walltime
Memory Utilized: 5.58 GB
Memory Efficiency: 69.77% of 8.00 GB
"""
"""ycrc/seff-array#24."""

TEXTS = {
    "seff": (SEFF, "seff", "sacct -a -P"),
    "squeue": (
        "  JOBID PARTITION NAME USER ST TIME NODES NODELIST(REASON)\n  4471 long a ann R 1:02 1 n1\n",
        "squeue",
        "sacct",
    ),
    "scontrol": ("JobId=4471 JobName=align\n   UserId=ann(1001)\n", "scontrol", "sacct"),
    "showq": (
        "active jobs------------------------\nJOBID  USERNAME  STATE PROCS  REMAINING\n\n1 ann Running 4 1:00\n",
        "showq's list",
        "qstat -x -f",
    ),
    "flux jobs": (
        "       JOBID USER     NAME       ST NTASKS NNODES\n    fAbc12 ann      a      CD      4      1\n",
        "flux jobs",
        "flux jobs -a --json",
    ),
    "sacct -n": ("1|a|COMPLETED|00:10:00\n1.batch|b|COMPLETED|00:10:00\n", "without a heading", "sacct -a -P"),
    "scrape": (
        '# HELP m_bytes Memory.\n# TYPE m_bytes gauge\nm_bytes{namespace="a",pod="web-1"} 3e+08 1714557600000\n',
        "text format",
        "range query of Prometheus",
    ),
    "kubectl top": (
        "NAME    CPU(cores)   MEMORY(bytes)\nweb-1   12m   120Mi\n",
        "kubectl top",
        "kubectl get pods -A -o json",
    ),
    "qstat": (
        "Job id   Name   User   Time Use S Queue\n-------- ------ ------ -------- - -----\n5.h  a  u  0 R q\n",
        "qstat",
        "-F json",
    ),
    "condor -xml": ('<?xml version="1.0"?>\n<classads>\n<c>\n</c></classads>\n', "XML of HTCondor", "-json"),
    "qstat -xml": ("<?xml version='1.0'?>\n<job_info  xmlns:xsd='x'>\n</job_info>\n", "Grid Engine", "qacct -j"),
    "qstat -x": ("<Data><Job><Job_Id>5.h</Job_Id></Job></Data>\n", "Torque", "-F json"),
    "sacct --yaml": ("meta:\n  a: 1\njobs:\n  - account: x\n    job_id: 7\n", "YAML of sacct", "--json"),
    "json_normalize": (
        "job_id,name,state.current,time.start\n7,a,['FAILED'],1716700000\n",
        "json_normalize",
        "sacct --json",
    ),
    "kubectl -o yaml": ("apiVersion: v1\nitems:\n- apiVersion: v1\n", "YAML of kubectl", "-o json"),
    "Google Batch": (
        '[{"allocationPolicy": {"instances": []}, "name": "a", "status": {"runDuration": "60s"}, "taskGroups": []}]',
        "Google Batch",
        "a row for each task",
    ),
    "nvidia-smi": (
        "timestamp, name, utilization.gpu [%], memory.used [MiB]\n2024/05/01 10:00:00.000, A100, 9 %, 512 MiB\n",
        "nvidia-smi",
        "workprof record",
    ),
    "dool": (
        '"Dool 1.3.0 CSV output"\n"Author:","Dag",,,"URL:","github"\n"system","total usage",,\n"time","usr","sys"\n',
        "a log of dool",
        "sadf -d",
    ),
    "custom columns": (
        "NAME       NODE   START                  MEM\nweb-0      n1     2024-05-01T10:00:00Z   1Gi\n",
        "blanks alone",
        "sed -E",
    ),
    "sreport": ("Cluster|Account|Login|Proper Name|Used|Energy\nc1|lab|ann|Ann A|5000|0\n", "sreport", "sacct -a -P"),
    "sreport sizes": ("Cluster|Account|0-49 CPUs|>= 250 CPUs|% of cluster\nc1|lab|1|3|4%\n", "sreport", "sacct -a -P"),
    "Grid Engine": ("job-ID  prior   name   user   state\n-----\n  3012 0.555 a  ann  r\n", "Grid Engine", "qacct -j"),
    "bjobs": ("JOBID   USER    STAT  QUEUE\n9000    u1      RUN   normal\n", "bjobs", "bjobs -u all -a -json"),
    "condor_q": (
        "-- Schedd: s : <10.0.0.1:9618> @ 11/14\nOWNER BATCH_NAME SUBMITTED\nu0 ID: 5 1\n",
        "HTCondor",
        "condor_history -json",
    ),
    "condor_history -af:h": (
        "ClusterId ProcId RequestMemory Cmd\n500 0 4096 /x/run.sh\n500 1 undefined /x/run.sh\n",
        "HTCondor",
        "-af:h,",
    ),
    "Jobs": (
        '{"kind": "List", "items": [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "a"}}]}',
        "Kubernetes without pods",
        "kubectl get pods",
    ),
    "Volcano": (
        '{"items": [{"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a"}}]}',
        "Kubernetes without pods",
        "kubectl get pods",
    ),
    "Deployments of the API": (
        '{"kind": "DeploymentList", "apiVersion": "apps/v1", "items": [{"metadata": {"name": "a"}, "spec": {}}]}',
        "Kubernetes without pods",
        "kubectl get pods",
    ),
    "kubectl get events": (
        "LAST SEEN   TYPE      REASON    OBJECT      MESSAGE\n5m  Warning  Evicted  pod/web-1  The node was low\n",
        "kubectl get events",
        "kubectl get pods",
    ),
    "kubectl describe": (
        "Name:         web-1\nNamespace:    prod\nPriority:     0\n",
        "kubectl describe",
        "kubectl get pods",
    ),
    "a log of Nextflow": (
        "May-01 10:00:00.123 [main] DEBUG nextflow.cli.Launcher - $> nextflow run x\n",
        "log of Nextflow",
        "-with-trace",
    ),
    "a log of Snakemake": ("Building DAG of jobs...\nUsing shell: /bin/bash\n", "log of Snakemake", "benchmark:"),
    "snakemake --stats": (
        '{"total_runtime": 9.5, "rules": {"a": {"mean-runtime": 2.5}, "b": {"mean-runtime": 5}}}',
        "statistics of Snakemake",
        "benchmark:",
    ),
    "toil stats": (
        '{"total_run_time": "9", "batch_system": "slurm", "job_types": [{"name": "a", "max_time": 6}]}',
        "statistics of Toil",
        "a row for each task",
    ),
    "pegasus-statistics": (
        "# legends\n# Job   Try Site   Kickstart(sec)  Mult\n\nanalyze_ID1   1    local   60.002 1\n",
        "statistics of Pegasus",
        "a row for each task",
    ),
    "CWLProv": ('{"prefix": {"wfprov": "http://purl.org/wf4ever/wfprov#"}}', "CWL", "a row for each task"),
    "to_json": ('{"task":{"0":"a","1":"b"},"runtime_s":{"0":5,"1":6}}', "frame of pandas", "orient='records'"),
    "to_json, split": ('{"columns":["task","s"],"index":[0],"data":[["a",5]]}', "frame of pandas", "orient='records'"),
    "docker stats": (
        "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT\nb9   a   0.2%   5MiB / 1GiB\n",
        "docker",
        "--usage",
    ),
    "weblog": (
        '{"runName": "x", "event": "process_completed", "trace": {"task_id": 1, "realtime": 5}}\n',
        "events of Nextflow",
        "-with-trace",
    ),
    "vmstat": ("procs -----------memory---------- ---swap--\n r  b   swpd   free\n 1  0  0  8\n", "vmstat", "sadf -d"),
    "collectl": ("#<--------CPU-------->\n#cpu sys inter  ctxsw\n   0   0    10    20\n", "collectl", "sadf -d"),
    "2017": ("41562,41618,120,686,185,Terminated,1,1,2.24,0.83,0.01,0.009\n" * 3, "Alibaba's trace of 2017", "--map"),
    "GWF": (
        "# JobID SubmitTime WaitTime RunTime NProcs\n1\t100\t0\t60\t1\n2\t100\t0\t60\t1\n",
        "Grid Workloads",
        "awk",
    ),
    "sar": (
        "Linux 5.4.0 (vm) \t11/21/2026 \t_x86_64_\t(2 CPU)\n\n02:21:22 AM CPU %user\n02:21:23 AM all 49.50\n",
        "sar",
        "sadf -d",
    ),
    "sar without its first line": (
        "10:00:01 AM     CPU     %user     %nice   %system\n10:00:02 AM     all     12.50      0.00      2.50\n",
        "sar or mpstat",
        "sadf -d",
    ),
    "iostat": (
        "Linux 5.4.0 (vm) \t11/21/2026 \t_x86_64_\t(2 CPU)\n\navg-cpu:  %user   %nice\n  5.00    0.00\n",
        "iostat",
        "sadf -d",
    ),
    "sadf -p": (
        "vm\t1\t2026-11-30 17:41:32 UTC\tall\t%usr\t72.20\nvm\t1\t2026-11-30 17:41:32 UTC\t-\tproc/s\t1.20\n",
        "sadf -p",
        "sadf -d",
    ),
    "sadf -r": (
        "17:41:32 UTC; CPU; -1; %user; 413447; 413595;\n17:41:33 UTC; CPU; -1; %user; 1; 2;\n",
        "sadf -r",
        "-d",
    ),
    "sadf -j": ('{"sysstat": {\n\t"hosts": [\n\t\t{"nodename": "vm", "statistics": []}]}}', "JSON of sadf", "sadf -d"),
    "sadf -x": (
        '<?xml version="1.0"?>\n<!DOCTYPE sysstat PUBLIC "DTD v3.11 sysstat //EN"\n"http://x">\n<sysstat>\n</sysstat>\n',
        "XML of sadf",
        "sadf -d",
    ),
    "sadf -g": ('<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "x">\n<svg>\n</svg>\n', "picture", "sadf -d"),
    "vmstat -w": ("--procs-- ------memory---- ---swap--\n r b swpd free\n 1 0 0 8\n", "vmstat", "sadf -d"),
    "top -b": (
        "top - 08:00:01 up 10 days,  1:02,  1 user,  load average: 0.50, 0.40\nTasks: 2 total,   1 running\n",
        "output of top",
        "sadf -d",
    ),
    "perf stat -I": (
        "#           time             counts unit events\n     1.000269405    1001.31 msec task-clock\n",
        "perf stat -I for people",
        "-x,",
    ),
    "perf stat -x,": ("# started on Thu May  2 10:04:18 2024\n\n840,,cycles,1,100.00,,\n", "perf stat", "-I 1000"),
    "perf stat -j": (
        '{"counter-value" : "100.0", "unit" : "", "event" : "cycles"}\n',
        "summary of perf stat",
        "-I 1000",
    ),
    "perf stat -j --metric-only": ('{"interval" : 1.0, "GHz" : "2.5"}\n', "--metric-only", "-I 1000"),
    "perf stat --metric-only": ("time,GHz,insn per cycle,\n     1.000269405,2.50,1.25,\n", "--metric-only", "-I 1000"),
    "export of VictoriaMetrics": (
        '{"metric":{"__name__":"up"},"values":[1,2],"timestamps":[1714636800000,1714636815000]}\n',
        "VictoriaMetrics",
        "query_range",
    ),
    "nvidia-smi dmon": (
        "# gpu   pwr  gtemp    sm\n# Idx     W      C     %\n    0    50     40    99\n",
        "nvidia",
        "wide",
    ),
    "dcgmi dmon": ("#Entity   GPUTL  MCUTL\nID\nGPU 0     95     40\n", "dcgmi", "--format wide"),
    "sysbench": ("sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)\n\nCPU speed:\n", "sysbench", "nodes suite"),
    "fio": ('{"fio version": "fio-3.33", "jobs": [{"jobname": "a", "error": 0}]}', "output of fio", "nodes suite"),
    "fio --minimal": ("3;fio-3.33;job;0;0;1048576\n3;fio-3.33;job;0;0;1048576\n", "output of fio", "nodes suite"),
    "fio's text": ("job: (g=0): rw=read, bs=(R) 4096B-4096B\nfio-3.33\nStarting 1 process\n", "fio", "nodes suite"),
    "iperf3 -J": ('{"start": {"version": "iperf 3.12"}, "end": {"sum_sent": {"bytes": 5}}}', "iperf3", "nodes suite"),
    "iperf3": ("Connecting to host 10.0.0.1, port 5201\n[  5] local 10.0.0.2 port 5\n", "iperf3", "nodes suite"),
    "ioping -J": ('[{"target": {"path": "/a"}, "stat": {"count": 9, "mdev": 5}}]', "ioping", "nodes suite"),
    "ioping": (
        "4 KiB <<< . (ext4 /dev/vda1 9.74 GiB): request=1 time=237.2 us\n4 KiB <<< . (ext4): request=2\n",
        "ioping",
        "nodes suite",
    ),
    "qperf": ("tcp_bw:\n    bw  =  1.21 GB/sec\ntcp_lat:\n    latency  =  14.1 us\n", "qperf", "nodes suite"),
    "stress-ng": ("stress-ng: info:  [1234] dispatching hogs: 4 cpu\nstress-ng: info: done\n", "stress-ng", "suite"),
    "stress-ng --yaml": ("---\nsystem-info:\n      stress-ng-version: 0.13.12\nmetrics:\n", "stress-ng", "suite"),
    "pidstat": (
        "Linux 5.4.0 (vm) \t11/21/2026 \t_x86_64_\t(2 CPU)\n\n02:21:22 AM UID PID %usr %system CPU Command\n",
        "pidstat",
        "sadf -d",
    ),
    "pidstat -r": (
        "Linux 5.4.0 (vm) \t21.11.2026 \t_x86_64_\t(2 CPU)\n\n14:21:22 UID PID minflt/s VSZ RSS %MEM Command\n",
        "pidstat",
        "sadf -d",
    ),
    "pidstat -t": (
        "Linux 5.4.0 (vm) \t05/01/24 \t_x86_64_\t(2 CPU)\n\n02:21:22 UID TGID TID %usr CPU Command\n",
        "pidstat",
        "sadf -d",
    ),
    "pidstat in German": (
        "Linux 5.4.0 (vm) \t01.05.24 \t_x86_64_\t(2 CPU)\n\n14:21:22 UID PID %usr CPU Befehl\n14:21:23 0 7 1,00 0 a\n",
        "pidstat",
        "sadf -d",
    ),
    "pidstat -h": (
        "# Time        UID       PID    %usr   CPU  Command\n 1714557601  0  4242   98.00  3  a\n",
        "pidstat",
        "sadf",
    ),
    "pidstat's average": (
        "Average:      UID       PID    %usr   CPU  Command\nAverage:  0  7  9.0  -  a\n",
        "pidstat",
        "sadf",
    ),
    "sacct -n on the screen": (
        "4471           align        lab  COMPLETED      0:0 \n4471.batch     batch        lab  COMPLETED      0:0 \n",
        "without a heading",
        "--noheader",
    ),
    "seff-array": ("-------\nJob Information\nID: 4471\nName: align\n", "seff-array", "sacct -a -P"),
    "jobstats": (f"{'=' * 40}\n         Slurm Job Statistics\n{'=' * 40}\n  Job ID: 1\n", "jobstats", "sacct -a -P"),
    "bjobs -l": ("\nJob <1234>, Job Name <align>, User <ann>, Status <DONE>\n", "bjobs -l", "bjobs -u all -a -json"),
    "PodMetricsList": ('{"kind":"PodMetricsList","items":[{"timestamp":"x"}]}', "one moment's use", "kubectl get pods"),
    "warnings before": ('Warning: old\n{\n "apiVersion": "v1",\n "items": []\n}\n', "other lines", "2>/dev/null"),
    "kubelet": ('{"node":{},"pods":[{"podRef":{"name":"web"}}]}', "kubelet", "range query"),
    "/api/v1/series": ('{"data":[{"__name__":"up","pod":"a"}]}', "no values", "range query"),
    "promtool": ('up{pod="a"} =>\n1 @[1714557600]\n', "promtool", "promtool query range -o json"),
    "promtool, a moment": ('up{pod="a"} => 1 @[1714557600]\n', "promtool", "promtool query range -o json"),
    "tsdb dump": ('{__name__="up", pod="a"} 1 1714557600000\n', "blocks", "range query"),
    "Container Insights": ("@timestamp,PodName,pod_memory_working_set\n2024,a,1\n", "Insights", "by PodName"),
    "CloudWatch": ("Label,pod_memory_utilization\nTimestamp,\n2024/05/01,1\n", "CloudWatch", "by PodName"),
    "Azure Monitor": (
        "TimeGenerated [UTC],Computer,CounterName,InstanceName,CounterValue\n1,2,3,4,5\n",
        "Azure",
        "summarize",
    ),
    "ECS": ('{"tasks":[{"taskArn":"arn:x","cpu":"1024"}]}', "ECS", "jq -c"),
    "Nomad's jobs": ('[{"ID":"a","JobSummary":{"JobID":"a"},"JobModifyIndex":1}]', "jobs of Nomad", "jq -c"),
    "Nomad": ('[{"ID":"a","ClientStatus":"complete","TaskStates":{"main":{}}}]', "allocations of Nomad", "jq -c"),
    "OpenCost's table": ("Name,Start,End,CPUCores,CPUCoreRequestAverage,RAMBytes\na,1,2,3,4,5\n", "OpenCost", "--map"),
    "VPA": ('{"items":[{"kind": "VerticalPodAutoscaler"}]}', "VerticalPodAutoscaler", "kubectl get pods"),
    "KRR": ('{"scans":[{"object":{"name":"web"}}]}', "KRR", "kubectl get pods"),
    "KRR as a table": ("Namespace,Name,Pods,Type,Container\nshop,web,3,Deployment,app\n", "KRR", "kubectl get pods"),
    "OpenCost": ('{"data":[{"web":{"ramByteRequestAverage":1}}]}', "OpenCost", "kubectl get pods"),
    "Grafana's panel": ('{"series":[{"fields":[{"name":"Time","values":[1]}]}]}', "Grafana", "Download CSV"),
    "Grafana's query": ('{"results":{"A":{"frames":[{"schema":{"refId":"A"}}]}}}', "Grafana", "Download CSV"),
    "Argo": ('{"kind":"Workflow","status":{"phase":"Failed"}}', "workflows", "kubectl get pods"),
    "Spark": (
        '{"Event":"SparkListenerLogStart","Spark Version":"3.5.0"}\n',
        "event log of Spark",
        "a row for each task",
    ),
    "GNU parallel": ("Seq\tHost\tStarttime\tJobRuntime\tSend\n1\t:\t1\t2\t0\n", "GNU parallel", "record --usage"),
    "time -v": ('\tCommand being timed: "a"\n\tUser time (seconds): 0.00\n', "time -v", "record --usage"),
    "a login's page": ("\n<!DOCTYPE html>\n<html><body>Sign in</body></html>\n", "web page", "saved as CSV"),
    "perf stat": ("\n Performance counter stats for 'sleep 1':\n\n   1.23 msec task-clock\n", "perf stat", "-I 1000"),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_it_is_refused_with_what_it_is_and_the_command_that_helps(store, write, kind):
    text, what, command = TEXTS[kind]
    with pytest.raises(TraceError, match="cannot be loaded") as told:
        store.ingest([write("file.txt", text)], IngestOptions())
    assert what in str(told.value)
    assert command in str(told.value)


def test_a_table_that_is_no_table_of_jobs_is_told_what_would_do(store, write):
    with pytest.raises(TraceError, match="a row per job whose first line names its columns"):
        store.ingest([write("file.txt", "hello\nworld\n")], IngestOptions())


@pytest.mark.parametrize("header", ["a,b,c\n", "user,job_name,start_time,end_time,requested_memory_gb\n"])
def test_a_header_alone_is_no_matter_of_a_mapping(store, write, header):
    path = write("jobs.csv", header)
    for ask in (lambda: store.ingest([path], IngestOptions()), lambda: store.suggest(path, IngestOptions())):
        with pytest.raises(NoRows, match="a header but no rows"):
            ask()


def test_a_table_of_counters_is_told_how_to_be_loaded(store, write):
    path = write(
        "pmrep.csv", "Time,kernel.all.load,mem.util.used\n2024-05-02 08:00:01,0.5,9\n2024-05-02 08:00:02,0.5,9\n"
    )
    with pytest.raises(ColumnMissing, match="samples of counters, load it with --format wide"):
        store.ingest([path], IngestOptions())
    assert store.ingest([path], IngestOptions(format="wide")).rows == 2


@pytest.mark.parametrize(
    "rows",
    ["fio-1,60,1714636800.123456\nstress-ng,60,1714636900.123456", "top,60,1714636800.1\nsysbench,5,1714636800.1"],
)
def test_jobs_that_are_named_like_tools_are_jobs(store, write, rows):
    assert store.ingest([write("jobs.csv", f"job_name,duration_s,start_time_s\n{rows}\n")], IngestOptions()).rows == 2
    turned = "\n".join("\t".join(reversed(row.split(","))) for row in rows.split("\n"))
    path = write("jobs.tsv", f"start_time_s\tduration_s\tjob_name\n{turned}\n")
    assert store.ingest([path], IngestOptions()).rows == 2
