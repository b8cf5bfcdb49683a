"""A small file of every kind that planners hold, as the tools write it: name, bytes, format, rows, finished rows."""

import gzip
import io
import json
from dataclasses import dataclass

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from tests.formats import sge_files, slurm_files, swf_files

JOBS = [
    {"job_name": f"job {at}", "duration_s": 60.5 + at, "user": f"u{at % 3}", "requested_memory_bytes": 2**30 * (1 + at)}
    for at in range(12)
]


LOTARU = """\
Label,Machine,Workflow,NumberSequences,Task,WorkflowInputSize,Realtime,%cpu,rss,rchar,wchar,cpus,read_bytes,write_bytes,vmem,memory,peak_rss,TaskInputSize,TaskInputSizeUncompressed,WorkflowInputUncompressed
train-1,c2,atacseq,4699600,FASTQC,233161053,28727,119.1,901173248,264007895,3649147,6,0,3932160,4555874304,17179869184,903852032,233161053,880745968,880745968
"""


INSTANCE = {
    "name": "montage-001",
    "schemaVersion": "1.5",
    "workflow": {
        "specification": {
            "tasks": [
                {"name": "split", "id": "ID1", "parents": [], "children": ["ID2"], "inputFiles": ["a", "b"]},
                {"name": "fit_ID2", "id": "ID2", "parents": ["ID1"], "children": [], "inputFiles": []},
            ],
            "files": [{"id": "a", "sizeInBytes": 1000}, {"id": "b", "sizeInBytes": 24}],
        },
        "execution": {
            "makespanInSeconds": 90,
            "executedAt": "2024-05-01T10:00:00Z",
            "tasks": [
                {"id": "ID1", "runtimeInSeconds": 30.5, "executedAt": "2024-05-01T10:00:00Z", "coreCount": 2,
                 "avgCPU": 150.5, "memoryInBytes": 2_000_000_000, "readBytes": 1024, "machines": ["n1"]},
                {"id": "ID2", "runtimeInSeconds": 60, "command": {"program": "fit.py"}},
            ],
        },
    },
}  # fmt: skip


@dataclass(frozen=True)
class Dropped:
    name: str
    content: bytes
    format: str
    rows: int


def workbook(rows, titles=()):
    made, content = openpyxl.Workbook(), io.BytesIO()
    for row in (*titles, *rows):
        made.active.append(row)
    made.save(content)
    return content.getvalue()


def table(rows, delimiter=",", decimal="."):
    lines = [rows[0].keys(), *(row.values() for row in rows)]
    cells = ([str(c).replace(".", decimal) if isinstance(c, float) else str(c) for c in line] for line in lines)
    return "".join(delimiter.join(line) + "\n" for line in cells)


def columnar(write):
    content = io.BytesIO()
    write(pa.Table.from_pylist(JOBS), content)
    return content.getvalue()


def pod(at):
    begun = {"exitCode": 0, "reason": "Completed"}
    begun |= {"startedAt": "2024-05-26T10:02:00Z", "finishedAt": f"2024-05-26T12:{at:02}:00Z"}
    asked = {"requests": {"cpu": "500m", "memory": "8Gi"}, "limits": {"memory": "16Gi"}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": f"align-{at}",
            "namespace": "lab",
            "uid": str(at),
            "creationTimestamp": "2024-05-26T10:00:00Z",
        },
        "spec": {"containers": [{"name": "main", "resources": asked}]},
        "status": {
            "phase": "Succeeded",
            "startTime": "2024-05-26T10:02:00Z",
            "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated": begun}}],
        },
    }


def range_answer():
    def series(name, pod, size):
        labels = {"__name__": name, "namespace": "lab", "pod": pod, "container": "app", "resource": "memory"}
        return {"metric": labels, "values": [[1_714_557_600 + 60 * step, str(size)] for step in range(5)]}

    names = ("container_memory_working_set_bytes", "kube_pod_container_resource_requests")
    result = [series(name, f"align-{at}", 2**30 * (1 + at)) for at in range(3) for name in names]
    return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})


MONTH = slurm_files.month(40)
RUNS = len({(line["JobID"], line["Start"]) for line in MONTH if "." not in line["JobID"]})
SACCT = [list(slurm_files.FIELDS), *([line.get(name, "") for name in slurm_files.FIELDS] for line in MONTH)]
BORG = [
    f"{at * 10**9},{(at + 3600) * 10**9},{330_000_000_000 + at},{at},7,prod,0.05,0.01,0.004,0.008,FINISH\n"
    for at in range(1, 9)
]
BORG_HEADER = (
    "start_time,end_time,collection_id,instance_index,machine_id,tier,request_cpus,request_memory,"
    "average_usage_memory,maximum_usage_memory,event\n"
)
PODS_2023 = (
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time\n"
)
AZURE = [
    f"vm{at}=,sub=,dep=,{at * 300},{at * 300 + 86_400},{50 + at}.5,12.25,40.0,Delay-insensitive,{2 + at % 3},8\n"
    for at in range(7)
]
BATCH = [f"task_{at},1,j_{1000 + at},1,Terminated,{86_400 + at},{90_000 + at},{100},{0.5}\n" for at in range(9)]
PBS = [
    f"05/26/2024 10:{at:02}:00;E;{100 + at}.server;user=ann group=lab jobname=align queue=batch ctime=1716717600 "
    f"qtime=1716717600 etime=1716717600 start=1716717660 exec_host=n1/0*4 Resource_List.mem=16gb Resource_List.ncpus=4 "
    f"Resource_List.walltime=02:00:00 session=77 end=1716721260 Exit_status=0 resources_used.cpupercent=380 "
    f"resources_used.cput=03:40:00 resources_used.mem=5120000kb resources_used.ncpus=4 "
    f"resources_used.walltime=01:00:00\n"
    for at in range(6)
]
TRACE = (
    "task_id\thash\tnative_id\tname\tstatus\texit\tsubmit\tduration\trealtime\t%cpu\tpeak_rss\tpeak_vmem\trchar\twchar\n"
    "1\tab/12\t9\tALIGN (a)\tCOMPLETED\t0\t2024-05-26 10:00:00.000\t1h 2m\t1h\t95.5%\t2.5 GB\t3 GB\t1 MB\t2 MB\n"
)

SNAKEMAKE = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"
HELIOS = "job_id,user,vc,gpu_num,cpu_num,node_num,state,submit_time,start_time,end_time,duration,queue\n"
BUILDS = "atom_id;time;location;memory_fail_count;branch;buildProfile;targets;ts_status;max_rss;max_cache;memreq\n"
BUILD = "a1;2025-04-30 00:36:24.798000;here;0;main;gcc-debug;all,dist;ok;70851280896;1024;164096\n"
HELIOS_JOB = "7,u,v,1,4,1,COMPLETED,2020-06-09 18:41:01,2020-06-09 18:41:11,2020-06-09 18:43:11,120,10\n"

FILES = {
    "csv": Dropped("jobs.csv", table(JOBS).encode(), "generic", 12),
    "csv.gz": Dropped("jobs.csv.gz", gzip.compress(table(JOBS).encode()), "generic", 12),
    "tsv": Dropped("jobs.tsv", table(JOBS, "\t").encode(), "generic", 12),
    "semicolon": Dropped("jobs.csv", b"sep=;\r\n" + table(JOBS, ";", ",").encode(), "generic", 12),
    "unicode text": Dropped("jobs.txt", table(JOBS, "\t", ",").encode("utf-16"), "generic", 12),
    "jsonl": Dropped("jobs.jsonl", "\n".join(map(json.dumps, JOBS)).encode(), "generic", 12),
    "document": Dropped("jobs.json", json.dumps({"total": 12, "jobs": JOBS}, indent=1).encode(), "generic", 12),
    "parquet": Dropped("jobs.parquet", columnar(pq.write_table), "generic", 12),
    "feather": Dropped("jobs.feather", columnar(feather.write_feather), "generic", 12),
    "xlsx": Dropped(
        "jobs.xlsx", workbook([list(JOBS[0]), *(list(row.values()) for row in JOBS)], [["May"], []]), "generic", 12
    ),
    "sacct": Dropped("sacct.txt", "".join("|".join(row) + "\n" for row in SACCT).encode(), "slurm", RUNS),
    "sacct.xlsx": Dropped("sacct.xlsx", workbook(SACCT), "slurm", RUNS),
    "swf": Dropped("log.swf", swf_files.log(30).encode(), "swf", 30),
    "kubectl": Dropped(
        "pods.json", json.dumps({"kind": "List", "items": [pod(at) for at in range(5)]}).encode(), "kubernetes", 5
    ),
    "prometheus": Dropped("memory.json", range_answer().encode(), "prometheus-pods", 3),
    "gpu-pods": Dropped(
        "openb_pod_list.csv", (PODS_2023 + "pod-0,12000,16384,1,1000,,LS,Succeeded,0,900,0\n").encode(), "gpu-pods", 1
    ),
    "borg": Dropped("borg.csv", (BORG_HEADER + "".join(BORG)).encode(), "borg", 8),
    "azure": Dropped("vmtable.csv", "".join(AZURE).encode(), "azure", 7),
    "alibaba": Dropped("batch_task.csv", "".join(BATCH).encode(), "alibaba-tasks", 9),
    "pbs": Dropped("20240526", "".join(PBS).encode(), "pbs", 6),
    "nextflow": Dropped("trace.txt", TRACE.encode(), "nextflow", 1),
    "sge": Dropped("accounting", sge_files.accounting(6).encode(), "sge", 6),
    "snakemake": Dropped(
        "A.bwa.benchmark.txt", (SNAKEMAKE + "14.5\t0:00:14" + "\t29" * 8 + "\n").encode(), "snakemake", 1
    ),
    "builds": Dropped("build-data-1.csv", (BUILDS + BUILD).encode(), "sap-build", 1),
    "lotaru": Dropped("execution_report_c2.csv", LOTARU.encode(), "lotaru", 1),
    "wfcommons": Dropped("montage-001.json", json.dumps(INSTANCE).encode(), "wfcommons", 2),
    "helios": Dropped("cluster_log.csv", (HELIOS + HELIOS_JOB).encode(), "helios", 1),
}
