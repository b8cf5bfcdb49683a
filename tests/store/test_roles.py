"""Roles: below a role every deed is refused by name, whoever calls; what was done stands in the audit log."""

import contextvars
import json
import multiprocessing
import shutil
from dataclasses import replace

import pytest

from tests.command_line import run_here
from tests.store.test_readonly_actions import ASKED, COMMANDS, WRITES, everything, made  # noqa: F401  a fixture
from workprof.core.errors import NotAllowed, SettingsError, WorkprofError
from workprof.core.roles import Actor, Role, act_as
from workprof.core.settings import from_environment
from workprof.store import audit
from workprof.store.audit import Audit
from workprof.store.reports import IngestOptions
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

PLANNERS = {
    *("set_note", "save_scenario", "remove_scenario", "save_feedback", "save_observation", "forget_feedback"),
    *("save_decisions", "save_scope", "remove_scope"),
}
"""What a planner may do in the store; and, below, in the workbench."""
PLANNERS_ASK = {
    *("set_profile_note", "save_scenario", "remove_scenario", "remove_unreadable", "save_node_scenario"),
    *("remove_node_scenario", "observe", "pin_run", "unpin_run", "decide", "save_scope", "remove_scope"),
    "restore_decisions",
}


@pytest.fixture
def home(made, tmp_path):  # noqa: F811
    settings, it = made
    folder = tmp_path / "home"
    shutil.copytree(settings.home, folder)
    return replace(settings, home=folder, readonly=False), it


def refused(ask):
    """Whether the role is why this was refused; other refusals are of what was asked."""
    try:
        ask()
    except NotAllowed as error:
        assert "ask whoever runs this server" in str(error)
        return True
    except WorkprofError:
        pass
    return False


@pytest.mark.slow
@pytest.mark.parametrize(("where", "calls"), [(TraceStore, WRITES), (Workbench, ASKED)])
def test_a_viewer_changes_nothing(home, where, calls):
    settings, it = home
    before = everything(settings.home)
    with where(settings.seen_by(Role.VIEWER)) as opened:
        assert {name for name in calls if not refused(lambda name=name: calls[name](opened, it))} == set()
    assert everything(settings.home) == before
    assert not (settings.home / audit.FILE_NAME).exists() or "viewer" not in (
        settings.home / audit.FILE_NAME
    ).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "calls", "allowed"), [(TraceStore, WRITES, PLANNERS), (Workbench, ASKED, PLANNERS_ASK)]
)
def test_a_planner_decides_and_neither_imports_nor_removes(home, where, calls, allowed):
    settings, it = home
    with where(settings.seen_by(Role.PLANNER)) as opened:
        assert {name for name in calls if not refused(lambda name=name: calls[name](opened, it))} == allowed


@pytest.mark.some(3)
@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_of_a_viewer_is_refused_in_one_line(home, name):
    settings, it = home
    before = everything(settings.home)
    words = [word.format(path=it.path, hash=it.hash, run=it.run) for word in COMMANDS[name]]
    ended = run_here(*words, home=settings.home, WORKPROF_ROLE="viewer")
    assert (ended.status, ended.out) == (2, "")
    assert len(ended.err.strip().splitlines()) == 1
    assert "you are a viewer" in ended.err
    assert everything(settings.home) == before


def test_a_role_never_grows(tmp_path):
    viewer = from_environment({"WORKPROF_HOME": str(tmp_path), "WORKPROF_ROLE": " Viewer "})
    assert (viewer.role, viewer.readonly) == (Role.VIEWER, True)
    assert viewer.seen_by(Role.ADMIN).role is Role.VIEWER
    planner = from_environment({"WORKPROF_HOME": str(tmp_path)}).seen_by(Role.PLANNER)
    assert (planner.role, planner.readonly) == (Role.PLANNER, False)
    with pytest.raises(SettingsError, match="WORKPROF_ROLE is 'root'; give viewer, planner or admin"):
        from_environment({"WORKPROF_ROLE": "root"})


@pytest.mark.slow
def test_what_was_done_is_noted_with_who_did_it(settings, write):
    path = write("a.csv", "job_name,duration_s\n" + "".join(f"j{i},{i + 1}\n" for i in range(50)))
    with TraceStore(settings) as store:
        ann, bob, shell, nobody = (contextvars.copy_context() for _ in range(4))
        nobody.run(act_as, Actor("", "service"))  # with what others handed in, who were noted for it
        shell.run(act_as, Actor("me", "command"))  # another test may have acted by another door
        ann.run(act_as, Actor("ann", "dashboard"))
        bob.run(act_as, Actor("bob\n{", "service"))
        ann.run(store.ingest, [path], IngestOptions())
        ann.run(store.ingest, [path], IngestOptions())  # nothing changed
        with pytest.raises(WorkprofError):
            shell.run(store.rename, "nothing", "b")
        shell.run(store.rename, "a", "b")
        shell.run(store.save_scope, "mine", "user=bob")
        nobody.run(store.save_scope, "ours", "user=bob")
        bob.run(store.remove, "b")
        noted = store.audit()
    told = [(one.deed, one.what, one.door) for one in noted]
    assert told == [
        ("remove", "b", "service"),
        ("saved scope", "mine", "command"),
        ("rename", "a to b", "command"),
        ("import", "a", "dashboard"),
    ]
    assert [one.who for one in noted][0::3] == ["bob\n{", "ann"]
    place = settings.home / audit.FILE_NAME
    assert place.stat().st_mode & 0o777 == 0o600
    assert len(place.read_text(encoding="utf-8").splitlines()) == len(told)
    assert all(one.role == "admin" and one.at for one in noted)


def test_only_an_admin_sees_the_log(settings):
    with TraceStore(settings):
        pass
    for role in (Role.VIEWER, Role.PLANNER):
        with TraceStore(settings.seen_by(role)) as store, pytest.raises(NotAllowed, match="only an admin"):
            store.audit()


def test_the_log_is_bounded_and_a_damaged_line_hides_no_other(tmp_path):
    log = Audit(tmp_path, 2_000)
    for number in range(300):
        log.note("import", f"{number} " + "x" * 2_000, Role.ADMIN, who="ann", door="command")
    files = sorted(tmp_path.glob("audit*.jsonl"))
    assert len(files) == audit.MOST_FILES
    assert max(file.stat().st_size for file in files) < 2_000 + 1_000
    with (tmp_path / audit.FILE_NAME).open("a", encoding="utf-8") as stream:
        stream.write('{"at": 1}\nnot json\n[]\n\0\n')
    told = [int(one.what.split()[0]) for one in log.entries(25)]
    assert told == list(range(299, 299 - len(told), -1))
    assert len(told) >= 20
    assert all(len(one.what) <= audit.LONGEST for one in log.entries(5))


def _note_many(folder, name):
    for number in range(200):
        Audit(folder, 20_000).note("import", f"{name} {number}", Role.ADMIN, who=name, door="command")


def test_several_processes_lose_no_entry_while_files_move_on(tmp_path):
    fork = multiprocessing.get_context("fork")
    writers = [fork.Process(target=_note_many, args=(tmp_path, f"p{one}")) for one in range(4)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    lines = [line for file in tmp_path.glob("audit*.jsonl") for line in file.read_text().splitlines()]
    assert {json.loads(line)["what"] for line in lines} == {f"p{n} {m}" for n in range(4) for m in range(200)}
    assert len(lines) == 800


def test_a_log_that_cannot_be_written_stops_nobody(tmp_path, caplog):
    (tmp_path / audit.FILE_NAME).mkdir()
    Audit(tmp_path).note("import", "a", Role.ADMIN, who="ann", door="command")
    assert "not in the audit log" in caplog.text
    assert [path.name for path in tmp_path.iterdir()] == [audit.FILE_NAME]
