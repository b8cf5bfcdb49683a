"""A home with a trace of three users, whose names are hostile texts; and what takes mails and posts on this machine."""

import http.server
import json
import socketserver
import threading
import time

import numpy as np
import pandas as pd
import pytest

from workprof.core.settings import from_environment
from workprof.store.reports import IngestOptions
from workprof.workbench import Workbench

HOSTILE = "eve\r\nBcc: all@example.org <script>*_`&"
USERS = ("ann", "bob", HOSTILE)
DAY = 86_400
MONDAY = 1_767_571_200  # 2026-01-05


def jobs():
    """Six weeks of runs that request far too much; in the last week twelve are killed for memory."""
    rng = np.random.default_rng(3)
    parts = []
    for user in USERS:
        start = MONDAY + np.sort(rng.uniform(0, 42 * DAY, 200))
        parts.append(
            pd.DataFrame(
                {
                    "job_name": [f"{len(parts)}-{at}" for at in range(200)],
                    "user": user,
                    "task_name": "train",
                    "start_time_s": start,
                    "end_time_s": start + 3600,
                    "requested_memory_bytes": 64e9,
                    "peak_memory_bytes": rng.uniform(5e9, 8e9, 200),
                    "status": "COMPLETED",
                }
            )
        )
    result = pd.concat(parts, ignore_index=True)
    last = result.index[(result.user == "bob") & (result.start_time_s > MONDAY + 35 * DAY)]
    result.loc[last[:12], "status"] = "OUT_OF_MEMORY"
    return result


@pytest.fixture
def bench(tmp_path):
    """The open home."""
    path = tmp_path / "jobs.parquet"
    jobs().to_parquet(path)
    with Workbench(from_environment().at(tmp_path / "home")) as workbench:
        workbench.ingest([path], IngestOptions(name="jobs"))
        yield workbench


class Sink(http.server.BaseHTTPRequestHandler):
    """Takes posts and answers as its server says."""

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        time.sleep(self.server.slow_s)
        self.server.got.append(json.loads(body))
        self.send_response(self.server.status)
        if 300 <= self.server.status < 400:
            self.send_header("Location", "http://127.0.0.1:9/")
        self.end_headers()

    def log_message(self, *_):
        """Say nothing."""


class Mails(socketserver.StreamRequestHandler):
    """The least of SMTP; it refuses recipients whose address begins with 'refused'."""

    def finish(self):
        super().finish()
        self.connection.close()  # the one over TLS is another socket

    def handle(self):
        self.wfile.write(b"220 sink\r\n")
        to, data = [], None
        while line := self.rfile.readline():
            if data is not None:
                if line == b".\r\n":
                    self.server.got.append((to, b"".join(data)))
                    to, data = [], None
                    self.wfile.write(b"250 taken\r\n")
                else:
                    data.append(line)
                continue
            word = line[:4].upper()
            if word == b"RCPT":
                if b"<refused" in line:
                    self.wfile.write(b"550 no such user\r\n")
                    continue
                to.append(line[line.index(b"<") + 1 : line.index(b">")].decode())
            if word == b"DATA":
                data = []
                self.wfile.write(b"354 go on\r\n")
                continue
            if word == b"EHLO" and self.server.tls:
                self.wfile.write(b"250-sink\r\n250 STARTTLS\r\n")
                continue
            if word == b"STAR" and self.server.tls:
                self.wfile.write(b"220 go on\r\n")
                self.connection = self.server.tls.wrap_socket(self.connection, server_side=True)
                self.rfile, self.wfile = self.connection.makefile("rb"), self.connection.makefile("wb", 0)
                self.server.secured += 1
                continue
            if word == b"QUIT":
                self.wfile.write(b"221 bye\r\n")
                return
            self.wfile.write(b"250 ok\r\n")


def _served(server):
    server.got, server.status, server.slow_s, server.tls, server.secured = [], 200, 0.0, None, 0
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def webhook(monkeypatch):
    """A webhook on this machine, named in the environment."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    monkeypatch.setenv("WORKPROF_WEBHOOK_URL", f"http://127.0.0.1:{server.server_port}/secret-path")
    yield from _served(server)


@pytest.fixture
def mails(monkeypatch):
    """A mail server on this machine, named in the environment."""
    server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mails)
    monkeypatch.setenv("WORKPROF_SMTP_URL", f"smtp://127.0.0.1:{server.server_address[1]}")
    monkeypatch.setenv("WORKPROF_MAIL_FROM", "workprof@example.org")
    yield from _served(server)
