"""The suite on several nodes: rounds, what a plan may say, nodes that do not answer, Jobs, and a real ssh server."""

import itertools
import json
import os
import stat
import sys
from collections import Counter

import pytest
import yaml

from tests.campaign.test_elsewhere import ssh_server
from tests.command_line import run_process
from workprof.core.errors import SettingsError
from workprof.formats.benchmarks import read_benchmarks
from workprof.nodes.fleet import Fleet, FleetNode, planned, read_fleet, schedule
from workprof.nodes.metrics import ASPECT_OF, BENCHMARKS
from workprof.nodes.suite import SuiteSettings, free_port

SERVER = FleetNode("server", address="10.0.0.9")


def fleet_of(count, **settings):
    nodes = tuple(FleetNode(f"n{place}") for place in range(count))
    return Fleet(nodes, SERVER, SuiteSettings(seconds_per_benchmark=1, **settings))


@pytest.mark.parametrize("count", [1, 2, 3, 7])
@pytest.mark.parametrize("repeat", [1, 4])
def test_the_rounds_hold_every_run_once_and_one_network_benchmark_at_most(count, repeat):
    for seed in range(5):
        fleet = fleet_of(count, repeat=repeat, seed=seed)
        rounds = schedule(fleet)
        made = Counter((one.node.name, one.run.benchmark) for own in rounds for one in own)
        assert made == {(node.name, name): repeat for node in fleet.nodes for name in BENCHMARKS}
        on_network = [[ASPECT_OF[one.run.benchmark] == "network" for one in own] for own in rounds]
        assert all(sum(own) <= 1 for own in on_network)
        assert all(len({one.node.name for one in own}) == len(own) > 0 for own in rounds)
        fewest = max(repeat * len(BENCHMARKS), count * repeat * 2)
        assert fewest <= len(rounds) <= fewest + 2
        assert rounds == schedule(fleet)
    orders = {tuple(one.run.benchmark for own in rounds for one in own if one.node == node) for node in fleet.nodes}
    assert len(orders) == count or repeat == 1


def plan(tmp_path, text, name="plan.toml"):
    path = tmp_path / name
    path.write_text(text)
    return path


def ask(tmp_path, text, *options):
    return run_process("nodes", "fleet", plan(tmp_path, text), *options, home=tmp_path / "home")


NODE = '[[nodes]]\nname = "a"\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", r"give \[\[nodes\]\]"),
        (NODE + NODE, "a name of its own"),
        (NODE, r"network-iperf3 needs a \[server\] with the address"),
        (NODE + 'colour = "red"', "nodes 1: 'colour' is not known; use"),
        (NODE + 'executor = "rsh"', "executor is 'rsh'; use one of local, ssh, slurm, kubernetes"),
        (NODE + 'executor = "ssh"', "ssh needs host"),
        (NODE + 'executor = "kubernetes"', "kubernetes needs image"),
        (NODE + "host = 3", "host has to be a text"),
        (NODE + 'template = "none.yaml"', "template cannot be read"),
        ("[suite]\nstress_share = 0.5\n" + NODE, "suite: 'stress_share' is not known"),
        ("port = 0\n" + NODE, "port is 0"),
        ("pause_s = -1\n" + NODE, "pause_s is -1; give seconds from 0"),
        ("nodes = [", "cannot be read"),
    ],
)
def test_what_a_plan_may_not_say(tmp_path, text, said):
    with pytest.raises(SettingsError, match=said):
        read_fleet(plan(tmp_path, text))


KUBERNETES = """
[suite]
seconds_per_benchmark = 1
benchmarks = ["cpu-sysbench"]
[[nodes]]
name = "worker: 1"
executor = "kubernetes"
image = "registry/bench:1"
options = "-n lab"
"""


def test_a_job_is_a_manifest_for_its_node_and_ends_there(tmp_path):
    fleet = read_fleet(plan(tmp_path, KUBERNETES))
    (row,) = planned(fleet, schedule(fleet))
    job = yaml.safe_load(row["job"])
    assert (job["apiVersion"], job["kind"], job["metadata"]["name"]) == ("batch/v1", "Job", "workprof-0-0")
    pod = job["spec"]["template"]["spec"]
    assert pod["nodeSelector"] == {"kubernetes.io/hostname": "worker: 1"}
    assert (pod["restartPolicy"], job["spec"]["backoffLimit"]) == ("Never", 0)
    (container,) = pod["containers"]
    assert container["image"] == "registry/bench:1"
    assert container["command"][:2] == ["sh", "-c"]
    assert "timeout -k 5 35 sh -c 'sysbench cpu" in container["command"][2]
    assert job["spec"]["activeDeadlineSeconds"] > 35
    own = plan(tmp_path, "kind: Job\nname: {name}\ncommand: {command}\n", "own.yaml")
    fleet = read_fleet(plan(tmp_path, f'{KUBERNETES}template = "{own.name}"\n'))
    (row,) = planned(fleet, schedule(fleet))
    assert yaml.safe_load(row["job"])["command"] == container["command"]


KUBECTL = """#!/bin/sh
printf '%s\\n' "$*" >> {log}
case "$*" in
  *create*) for last; do :; done; cp "$last" {job};;
  *wait*) exit {status};;
  *logs*) test {status} = 0 || exit 0; {python} -c 'import subprocess, sys, yaml
job = yaml.safe_load(open(sys.argv[1]))
(own,) = job["spec"]["template"]["spec"]["containers"]
sys.exit(subprocess.call(own["command"]))' {job};;
esac
"""


@pytest.mark.slow
@pytest.mark.parametrize("status", [0, 1])
def test_jobs_are_made_waited_for_and_removed(tmp_path, monkeypatch, status):

    log, job, tool = tmp_path / "log", tmp_path / "job.yaml", tmp_path / "bin" / "kubectl"
    tool.parent.mkdir()
    tool.write_text(KUBECTL.format(log=log, job=job, status=status, python=sys.executable))
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    done = ask(tmp_path, KUBERNETES, "-o", tmp_path / "runs.jsonl", "--json")
    asked = [line.split()[2] for line in log.read_text().splitlines()]
    if status:
        assert (done.status, done.json["rows"]) == (1, 0)
        assert done.json["left_out"]["worker: 1"].startswith("does not answer")
        assert asked == ["create", "wait", "logs", "delete"]
    else:
        assert done.status == 0, done.err
        assert asked == ["create", "wait", "logs", "delete"] * 2
        (line,) = map(json.loads, (tmp_path / "runs.jsonl").read_text().splitlines())
        assert (line["node"], line["rc"]) == ("worker: 1", 0)
        assert "events per second" in line["stdout"]
        assert "workprof-status" not in line["stdout"]


def of_all_kinds(port, more=""):
    return f"""
port = {free_port()}
[suite]
seconds_per_benchmark = 1
benchmarks = ["disk-ioping", "network-qperf", "network-iperf3"]
note = "a trial"
[server]
name = "srv"
address = "127.0.0.1"
{more}
[[nodes]]
name = "one"
drained = "echo drained"
drained_when = "drained"
{more}
[[nodes]]
name = "two"
{more}
[[nodes]]
name = "busy"
drained = "echo 4 jobs"
[[nodes]]
name = "gone"
executor = "ssh"
host = "127.0.0.1"
options = "-p {port} -o ConnectTimeout=2"
"""


def measured(tmp_path, text):
    path = tmp_path / "runs.jsonl"
    done = ask(tmp_path, text, "-o", path, "--json")
    assert done.status == 1, done.err
    assert done.json["drained"] == {"one": True, "two": None, "busy": False, "gone": None}
    assert set(done.json["left_out"]) == {"busy", "gone"}
    assert done.json["left_out"]["busy"] == "not drained: status 0, '4 jobs' printed"
    assert done.json["left_out"]["gone"].startswith("does not answer: status 255")
    assert (done.json["planned"], done.json["rows"], done.json["failed"]) == (12, 6, 0)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert {(one["node"], one["benchmark"]) for one in lines} == {
        (node, name) for node in ("one", "two") for name in ("disk-ioping", "network-qperf", "network-iperf3")
    }
    assert all(one["provenance"]["cores"] and one["provenance"]["note"] == "a trial" for one in lines)
    network = sorted((one["started"], one["finished"]) for one in lines if one["benchmark"].startswith("network"))
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(network))
    assert len(read_benchmarks(path).frame) == 6
    return done


@pytest.mark.slow
def test_nodes_that_are_busy_or_gone_leave_the_results_of_the_others(tmp_path):
    done = measured(tmp_path, of_all_kinds(9))
    assert "two: not looked at whether it is drained" in done.err


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended_and_takes_its_node_out(tmp_path, monkeypatch):
    tool = tmp_path / "bin" / "ioping"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\nsleep 600\n")
    tool.chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", f"{tool.parent}{os.pathsep}{os.environ['PATH']}")
    suite = 'seconds_per_benchmark = 1\nrepeat = 2\nbenchmarks = ["disk-ioping", "cpu-sysbench"]\nseed = 3\n'
    text = f"patience_s = 1\n[suite]\n{suite}"
    done = ask(tmp_path, text + NODE, "-o", tmp_path / "runs.jsonl", "--json")
    assert done.status == 1
    assert done.json["left_out"]["a"].startswith("did not answer in time")
    assert done.json["rows"] < done.json["planned"] == 4


@pytest.mark.slow
def test_a_dry_run_prints_the_rounds_and_runs_nothing(tmp_path):
    text = of_all_kinds(9).replace('drained = "echo drained"', f'drained = "touch {tmp_path}/ran"')
    done = ask(tmp_path, text, "--dry-run", "--json")
    assert done.status == 0
    assert len(done.json["plan"]) == 12
    told = next(one for one in done.json["plan"] if one["node"] == "gone")
    assert told["argv"][:5] == ["ssh", "-p", "9", "-o", "ConnectTimeout=2"]  # ssh takes what comes first
    assert told["argv"][5:10] == ["-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "127.0.0.1"]
    by_slurm = FleetNode("n1", "slurm", options=("-p", "short")).bounded("true", 3, tmp_path, "0-0")
    assert by_slurm[:5] == ("srun", "-p", "short", "--quiet", "--nodelist=n1")
    assert by_slurm[5:] == ("--job-name=workprof-0-0", "sh", "-c", "cd /var/tmp && timeout -k 5 3 sh -c true")
    assert not (tmp_path / "ran").exists()
    assert "network-qperf" in ask(tmp_path, text, "--dry-run").out
    refused = ask(tmp_path, text)
    assert (refused.status, "no file is given" in refused.err) == (2, True)


@pytest.mark.soak
def test_nodes_and_a_server_by_a_real_ssh(tmp_path):
    with ssh_server(tmp_path) as port:
        how = f"-p {port} -i {tmp_path}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile={tmp_path}/known"
        more = f'executor = "ssh"\nhost = "127.0.0.1"\noptions = "{how}"'
        measured(tmp_path, of_all_kinds(9, more))
