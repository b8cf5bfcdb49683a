"""A Slurm of the distribution with its accounting, on one node and on loopback, in a folder of the test's."""

import contextlib
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

PARTS = ("munged", "mariadbd", "slurmdbd", "slurmctld", "slurmd", "sbatch", "sacct")

DATABASE = """
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={dbd}
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={sql}
StorageUser=root
StorageLoc=slurm
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""
CLUSTER = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={ctld}
SlurmdPort={slurmd}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={dbd}
AccountingStoragePass={folder}/munge.socket
ReturnToService=2
MpiDefault=none
SwitchType=switch/none
MailProg=/bin/true
SlurmdParameters=config_overrides
MinJobAge=10
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=8000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


class Cluster:
    """A cluster that runs; commands are asked with `run`."""

    def __init__(self, folder, environment):
        self.folder, self.environment, self.children = folder, os.environ | environment, {}
        self.host = socket.gethostname().split(".")[0]

    def start(self, name, *command):
        """Start one of its daemons, again where it runs."""
        self.stop(name)
        with (self.folder / "log" / f"{name}.out").open("ab") as log:
            self.children[name] = subprocess.Popen(
                [shutil.which(command[0]) or f"/usr/sbin/{command[0]}", *map(str, command[1:])],
                env=self.environment,
                stdout=log,
                stderr=log,
                stdin=subprocess.DEVNULL,
            )

    def stop(self, name):
        """End one of its daemons."""
        child = self.children.pop(name, None)
        if child is not None:
            child.terminate()
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    def run(self, *words):
        """Return what a command says."""
        done = subprocess.run(
            list(map(str, words)), env=self.environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def submit(self, name, memory_mb, script, *options):
        """Submit a job of Python and return its number."""
        line = ["sbatch", "--parsable", f"--job-name={name}", f"--mem={memory_mb}", "--output=/dev/null", *options]
        return self.run(*line, f"--wrap=exec python3 -c '{script}'").strip()

    def wait(self, text, *words, seconds=240):
        """Wait until a command says a text (None = nothing but a heading)."""
        until = time.monotonic() + seconds
        while True:
            with contextlib.suppress(AssertionError):
                said = self.run(*words)
                if text in said if text else len(said.splitlines()) <= 1:
                    return
            assert time.monotonic() < until, f"{' '.join(words)} did not say {text!r} in {seconds} s"
            time.sleep(0.5)


def _ports(count):
    with contextlib.ExitStack() as stack:
        probes = [stack.enter_context(socket.socket()) for _ in range(count)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [probe.getsockname()[1] for probe in probes]


@contextlib.contextmanager
def slurm(folder):
    """Yield a cluster of one node with four cores and 8 GB; needs to be root, as slurmd does."""
    assert os.geteuid() == 0, "slurmd has to be started by root"
    for part in PARTS:
        there = shutil.which(part) or Path(f"/usr/sbin/{part}").exists()
        assert there, (
            f"{part} is not there: apt-get install slurmctld slurmd slurmdbd slurm-client mariadb-server munge"
        )
    for name in ("state", "spool", "db", "log"):
        (folder / name).mkdir()
    folder.chmod(0o755)
    dbd, sql, ctld, slurmd = _ports(4)
    names = {"folder": folder, "host": socket.gethostname().split(".")[0]}
    names |= {"dbd": dbd, "sql": sql, "ctld": ctld, "slurmd": slurmd}
    (folder / "slurmdbd.conf").write_text(DATABASE.format(**names))
    (folder / "slurmdbd.conf").chmod(0o600)
    (folder / "slurm.conf").write_text(CLUSTER.format(**names))
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o400)
    result = Cluster(folder, {"SLURM_CONF": str(folder / "slurm.conf")})
    try:
        own = [
            f"--{name}={folder}/munge.{name.split('-')[0]}" for name in ("socket", "pid-file", "key-file", "seed-file")
        ]
        result.start("munged", "munged", "--force", "--foreground", *own, f"--log-file={folder}/log/munge.log")
        made = ["mariadb-install-db", "--no-defaults", "--user=root", f"--datadir={folder}/db", "--skip-test-db"]
        result.run(*made, "--auth-root-authentication-method=normal")
        more = [f"--datadir={folder}/db", "--bind-address=127.0.0.1", f"--port={sql}", f"--socket={folder}/my.sock"]
        result.start("sql", "mariadbd", "--no-defaults", "--user=root", *more, "--innodb-lock-wait-timeout=900")
        client = ("mariadb", "--no-defaults", "-uroot", f"--socket={folder}/my.sock", "-e")
        result.wait("1", *client, "SELECT 1")
        result.run(*client, "CREATE DATABASE slurm")
        result.start("slurmdbd", "slurmdbd", "-D")
        result.wait("Cluster", "sacctmgr", "list", "cluster")
        result.start("slurmctld", "slurmctld", "-D")
        result.start("slurmd", "slurmd", "-D", "-N", result.host)
        result.wait("idle", "sinfo")
        yield result
    finally:
        for name in reversed(list(result.children)):
            result.stop(name)
