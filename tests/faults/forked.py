"""Processes to kill and to starve, without the seconds that their imports take: one imports once and forks the rest.

Every command of the standard input is a JSON list. `["start", WORK, HOME, LOG, ARGUMENT]` answers with the new
process's id, which the caller may kill; `["reap", PID]` with its status, once it has ended. The work writes what it is
doing into LOG, one line whenever that changes.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUTPUTS = ("out", "err")
PATIENCE_S = 60


@dataclass(frozen=True)
class Ended:
    """A command that has ended: its status, standard output and standard error."""

    status: int
    out: str
    err: str


class _Pipe(threading.Thread):
    """Reads what a process writes into a named pipe, to the end."""

    def __init__(self, path):
        super().__init__(daemon=True)
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        self._path, self._text = path, ""
        self.start()

    def run(self):
        self._text = self._path.read_text(encoding="utf-8")

    def told(self):
        self.join(PATIENCE_S)
        return self._text


class Forks:
    """The importing process, seen from a test."""

    def __init__(self):
        environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "tests.faults.forked"]
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=environment, cwd=ROOT)
        assert self._process.stdout.readline().strip() == "ready"

    def start(self, work, home, log, argument):
        """Start some work and return its process id."""
        return self._ask("start", work, str(home), str(log), str(argument))

    def reap(self, pid):
        """Wait for the end of a process and return its status: negative for a signal."""
        return self._ask("reap", pid)

    def workprof(self, folder, *arguments, **how):
        """Run `workprof ARGUMENTS` and return how it ended; see `begin`."""
        pid, pipes = self.begin(folder, *arguments, **how)
        return Ended(self.reap(pid), *(pipe.told() for pipe in pipes))

    def begin(self, folder, *arguments, most_bytes=None, powerless=False, **variables):
        """Start `workprof ARGUMENTS` and return its process id, and its output and errors.

        Args:
            folder: for the pipes of its output, which have room where a disk has none.
            arguments: of the command.
            most_bytes: of any file that it writes.
            powerless: it may not do what only root may, so modes of files hold for it too.
            variables: of its environment.
        """
        folder.mkdir(parents=True, exist_ok=True)
        asked = {"arguments": [str(one) for one in arguments], "most_bytes": most_bytes, "powerless": powerless}
        pipes = [_Pipe(Path(f"{folder / 'log'}.{name}")) for name in OUTPUTS]
        return self.start("command", "", folder / "log", json.dumps(asked | {"variables": variables})), pipes

    def close(self):
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def _ask(self, *command):
        self._process.stdin.write(json.dumps(command) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def _child(work, home, log, argument):
    from tests.faults.works import WORKS

    said = ""
    with Path(log).open("a", buffering=1, encoding="utf-8") as stream:

        def tell(message):
            nonlocal said
            if message != said:
                said = message
                stream.write(message + "\n")

        try:
            if work == "command":
                for number, name in enumerate(OUTPUTS, start=1):
                    os.dup2(os.open(f"{log}.{name}", os.O_WRONLY), number)
            WORKS[work](home, tell, argument)
            tell("ended")
        except SystemExit as end:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(end.code or 0))
        except BaseException:  # noqa: BLE001  whatever it is, the test finds it in the log
            stream.write(traceback.format_exc())
            os._exit(1)
    os._exit(0)


def main():
    import tests.faults.works  # noqa: F401  the imports of every child

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts tests in the background deaf to it
    print("ready", flush=True)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        if command == "reap":
            print(os.waitstatus_to_exitcode(os.waitpid(arguments[0], 0)[1]), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            with contextlib.suppress(OSError):
                os.close(0)
                os.open(os.devnull, os.O_RDONLY)
            _child(*arguments)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
