"""A campaign through a real ssh server on loopback, and as a DAG that a real Airflow parses."""

import ast
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.campaign.test_campaign import written
from tests.command_line import run_here


@contextlib.contextmanager
def ssh_server(folder):
    """Yield the port of a server of the test's own and the key that opens it."""
    server = shutil.which("sshd") or "/usr/sbin/sshd"
    assert Path(server).exists(), "sshd is not there: apt-get install openssh-server"
    for name in ("host", "key"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder / name], check=True)
    shutil.copy(folder / "key.pub", folder / "allowed")
    (folder / "allowed").chmod(0o600)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    options = [f"HostKey={folder}/host", f"AuthorizedKeysFile={folder}/allowed", "StrictModes=no", "UsePAM=no"]
    options += ["ListenAddress=127.0.0.1", f"PidFile={folder}/pid", "PermitRootLogin=prohibit-password"]
    command = [
        server,
        "-D",
        "-e",
        "-f",
        "/dev/null",
        "-p",
        str(port),
        *(word for one in options for word in ("-o", one)),
    ]
    with (folder / "sshd.log").open("w") as log:
        process = subprocess.Popen(command, stderr=log)
    try:
        end = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            assert time.monotonic() < end and process.poll() is None, (folder / "sshd.log").read_text()
            time.sleep(0.1)
        yield port
    finally:
        process.terminate()
        process.wait(20)


@pytest.mark.soak
def test_a_node_by_ssh_runs_each_run_once(tmp_path, monkeypatch):
    root = Path(__file__).parents[2]
    with ssh_server(tmp_path) as port:
        options = f"-p {port} -i {tmp_path}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile={tmp_path}/known"
        node = f'[[nodes]]\nname = "n1"\nexecutor = "ssh"\nhost = "127.0.0.1"\noptions = "{options}"\n'
        python = tmp_path / "python"
        python.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {sys.executable} "$@"\n')
        python.chmod(0o755)
        plan, ledger = written(tmp_path, more=f'{node}folder = "{tmp_path}/there"\npython = "{python}"\n')
        text = plan.read_text().replace('"small.txt"', f'"{tmp_path}/small.txt"')
        plan.write_text(text.replace('"large.txt"', f'"{tmp_path}/large.txt"'))
        done = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    assert done.json["states"] == {"SIZED": 8}, done.json["runs"]
    assert Counter(ledger.read_text().split()) == {"count": 4, "keep": 4}
    assert len(list((tmp_path / "there").glob("*/1.json"))) == 8
    gone = run_here("campaign", "run", plan, "--json", home=tmp_path / "home")
    assert gone.json == done.json


def dag(tmp_path):
    plan, ledger = written(tmp_path)
    path = tmp_path / "dags" / "trial.py"
    path.parent.mkdir()
    done = run_here("airflow-dag", plan, "-o", path, "--json", home=tmp_path / "home")
    assert done.status == 0, done.err
    assert (done.json["dag"], done.json["runs"]) == ("workprof.trial", 8)
    return path, plan, ledger


def test_a_dag_has_a_task_for_each_run(tmp_path):
    path, plan, _ = dag(tmp_path)
    source = path.read_text()
    ast.parse(source)
    runs = [one["run"] for one in run_here("campaign", "status", plan, "--json", home=tmp_path / "home").json["runs"]]
    assert all(f"--only {name}" in source for name in runs)
    wrong = run_here("campaign", "run", plan, "--only", "nothing", home=tmp_path / "home")
    assert wrong.status == 2
    assert "there is no such run" in wrong.err


@pytest.mark.soak
@pytest.mark.slow
def test_runs_one_by_one_are_the_campaign(tmp_path):
    plan, ledger = written(tmp_path, repeats=1)
    home = tmp_path / "home"
    for one in run_here("campaign", "status", plan, "--json", home=home).json["runs"]:
        for _ in range(2):
            assert run_here("campaign", "run", plan, "--only", one["run"], home=home).status == 0
    assert run_here("campaign", "status", plan, "--json", home=home).json["states"] == {"PROFILED": 4}
    assert run_here("campaign", "run", plan, "--json", home=home).json["states"] == {"SIZED": 4}
    assert Counter(ledger.read_text().split()) == {"count": 2, "keep": 2}


PARSE = """
import sys
try:
    from airflow.dag_processing.dagbag import DagBag
except ImportError:
    from airflow.models import DagBag
bag = DagBag(sys.argv[1])
assert not bag.import_errors, bag.import_errors
(found,) = bag.dags.values()
print(found.dag_id, len(found.tasks), len(found.get_task("import_and_size").upstream_list))
"""


@pytest.mark.soak
def test_a_real_airflow_parses_the_dag(tmp_path):
    """Airflow pins its libraries: it stands in an environment that `WORKPROF_TEST_AIRFLOW` names, or in a new one."""
    path, _, _ = dag(tmp_path)
    place = Path(os.environ.get("WORKPROF_TEST_AIRFLOW") or tmp_path / "airflow")
    if not (place / "bin" / "python").exists():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        subprocess.run([place / "bin" / "pip", "install", "--quiet", "apache-airflow"], check=True)
    home = tmp_path / "airflow-home"
    own = {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "False", "PATH": os.environ["PATH"]}
    subprocess.run([place / "bin" / "airflow", "db", "migrate"], env=own, check=True, capture_output=True)
    command = [place / "bin" / "python", "-c", PARSE, path.parent]
    done = subprocess.run(command, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-3:] == ["workprof.trial", "9", "8"]
