"""Finished runs and a server that is killed at any moment: nothing confirmed is lost, nothing is there twice."""

import json
import random
import signal
import threading
import time

import httpx
import pytest

from tests.service.conftest import PATIENCE_S, until_ready
from tests.service.running import free_port, start
from workprof.core.errors import HomeBusy, SettingsError
from workprof.service.observations import FOLDER, Journal, Run


def hand_in(port, client, n_runs, at_once, confirmed):
    """Hand in runs as a client that repeats what was not confirmed."""
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=20) as http:
        for first in range(0, n_runs, at_once):
            numbers = range(first, min(first + at_once, n_runs))
            runs = [{"run": f"{client}/{n}", "task_name": "worker", "duration_s": n, "end_time_s": n} for n in numbers]
            end = time.monotonic() + PATIENCE_S
            while True:
                assert time.monotonic() < end
                try:
                    answer = http.post("/v1/observations", json={"runs": runs})
                except httpx.TransportError:
                    time.sleep(0.05)
                    continue
                assert answer.status_code == 200, answer.text
                confirmed.update(one["run"] for one in runs)
                break


def kill_and_count(home, n_clients, n_runs, at_once, n_kills):
    """Return the ids that stand in the file after kills at random moments, in the order of their lines."""
    draw, port, confirmed = random.Random(4), free_port(), set()
    server = start(home, port)
    clients = [
        threading.Thread(target=hand_in, args=(port, client, n_runs, at_once, confirmed)) for client in range(n_clients)
    ]
    try:
        for client in clients:
            client.start()
        for kill in range(n_kills):
            with httpx.Client(base_url=f"http://127.0.0.1:{port}") as http:
                until_ready(http, "/healthz")
            while len(confirmed) < n_clients * n_runs * kill / (n_kills + 1):
                time.sleep(0.001)
            time.sleep(draw.uniform(0, 0.3))
            server.send_signal(signal.SIGKILL)
            server.wait(PATIENCE_S)
            server = start(home, port)
        for client in clients:
            client.join(PATIENCE_S)
            assert not client.is_alive()
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(PATIENCE_S)
    assert len(confirmed) == n_clients * n_runs
    (file,) = (home / FOLDER).glob("*.jsonl")
    return [json.loads(line)["run"] for line in file.read_text(encoding="utf-8").splitlines()]


@pytest.mark.soak
@pytest.mark.slow
def test_a_few_clients_and_two_kills(home):
    kept = kill_and_count(home, 3, 400, 4, 2)
    assert sorted(kept) == sorted(f"{client}/{n}" for client in range(3) for n in range(400))


@pytest.mark.soak
def test_twenty_clients_and_ten_kills(home):
    kept = kill_and_count(home, 20, 10_000, 20, 10)
    assert sorted(kept) == sorted(f"{client}/{n}" for client in range(20) for n in range(10_000))


def test_a_line_that_was_cut_off_is_handed_in_again(tmp_path):
    journal = Journal(tmp_path, "abc")
    assert journal.add([Run("a", {"n": 1}), Run("b", {"n": 2})]).result().accepted == 2
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b'{"run": "c", "fi')
    again = Journal(tmp_path, "abc")
    receipt = again.add([Run("b", {"n": 3}), Run("c", {"n": 4})]).result()
    again.close()
    assert (receipt.accepted, receipt.repeated, receipt.different, receipt.total) == (1, 1, ("b",), 3)
    assert [json.loads(line)["run"] for line in journal.path.read_text().splitlines()] == ["a", "b", "c"]


def test_a_damaged_line_is_told_and_one_process_writes(tmp_path):
    journal = Journal(tmp_path, "abc")
    with pytest.raises(HomeBusy, match="another server"):
        Journal(tmp_path, "abc")
    journal.add([Run("a", {})]).result()
    journal.close()
    with journal.path.open("ab") as file:
        file.write(b"no run\n")
    with pytest.raises(SettingsError, match=r"at byte \d+"):
        Journal(tmp_path, "abc")


def test_a_part_is_the_same_after_a_kill_whatever_was_handed_in_since(tmp_path):
    """The feedback loop knows a table again by its content, so what is folded in twice counts once."""
    journal = Journal(tmp_path, "abc")
    journal.add([Run("a", {"n": 1}), Run("b", {"n": 2})]).result()
    first, end = journal.part()
    journal.close()
    again = Journal(tmp_path, "abc")
    again.add([Run("c", {"n": 3})]).result()
    second, same = again.part()
    assert (end, list(first["n"])) == (same, list(second["n"])) == (end, [1, 2])
    again.done(end)
    assert list(again.part()[0]["n"]) == [3]
    again.done(again.part()[1])
    assert again.part() is None
    assert again.unread == 0
    again.close()
