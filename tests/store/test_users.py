"""The users file: passwords are hashed, failures are slowed, sessions are signed and end, and nothing else gets in."""

import json
import shutil
import threading
import time

import pytest
from itsdangerous import URLSafeTimedSerializer

from tests.command_line import run_here
from workprof.core.errors import SettingsError
from workprof.core.roles import Role
from workprof.store import users as chapter
from workprof.store.users import Refused, Slowed, Users, secret_of

pytestmark = pytest.mark.slow
GOOD = "correct horse battery"
HERE = "10.0.0.1"


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """A folder with two users: to hash a password takes long on purpose."""
    folder = tmp_path_factory.mktemp("two")
    Users(folder).add("ann", "admin", GOOD)
    Users(folder).add("vera", "viewer", None)
    return folder


@pytest.fixture
def users(two, tmp_path):
    shutil.copytree(two, tmp_path, dirs_exist_ok=True)
    return Users(tmp_path)


def test_the_file_is_its_owners_alone_and_holds_no_password(users, tmp_path):
    place = tmp_path / chapter.FILE_NAME
    assert place.stat().st_mode & 0o777 == 0o600
    kept = json.loads(place.read_text())
    assert GOOD not in place.read_text()
    assert kept["ann"]["password"].startswith("scrypt$32768$8$3$")
    assert kept["vera"]["password"] == ""
    users.add("ben", "viewer", GOOD)
    again = json.loads(place.read_text())
    assert again["ben"]["password"] != again["ann"]["password"]  # salted


def test_the_right_password_gets_in_and_the_others_are_told_the_same(users):
    assert users.check("ann", GOOD, HERE).level is Role.ADMIN
    told = set()
    for name, password in (("ann", GOOD + " "), ("ann", ""), ("nobody", GOOD), ("vera", ""), ("vera", GOOD)):
        with pytest.raises(Refused) as refused:
            users.check(name, password, HERE)
        told.add(str(refused.value))
    assert told == {"name or password is wrong"}


def test_a_wrong_name_takes_as_long_as_a_wrong_password(users):
    def seconds(name):
        begun = time.process_time()
        with pytest.raises(Refused):
            users.check(name, "x" * 12, "")
        return time.process_time() - begun

    known, unknown = min(seconds("ann") for _ in range(3)), min(seconds("nobody") for _ in range(3))
    assert unknown > known / 2


def test_failures_are_slowed_and_other_people_are_not(users):
    for _ in range(chapter.FREE):
        with pytest.raises(Refused, match="wrong"):
            users.check("ann", "wrong password", HERE)
    with pytest.raises(Refused, match="too many wrong passwords") as refused:
        users.check("ann", GOOD, HERE)  # the right one is not even looked at
    assert refused.value.wait_s > 0
    assert users.check("ann", GOOD, "10.0.0.2").name == "ann"
    time.sleep(refused.value.wait_s + 0.05)
    assert users.check("ann", GOOD, HERE).name == "ann"


def test_waits_double_up_to_a_bound_and_so_does_what_is_remembered():
    slowed = Slowed()
    waits = []
    for _ in range(40):
        slowed.failed("ann", HERE)
        waits.append(slowed.wait_s("ann", HERE))
    assert waits[chapter.FREE - 2] == 0
    assert waits[chapter.FREE] == pytest.approx(2, abs=0.1)
    assert waits[-1] == pytest.approx(chapter.LONGEST_WAIT_S, abs=0.1)
    assert slowed.wait_s("ben", HERE) > 0  # the address guesses
    assert slowed.wait_s("ann", "10.9.9.9") > 0  # the name is guessed from everywhere
    for number in range(20_000):
        slowed.failed(f"n{number}", f"a{number}")
    assert len(slowed._failures) <= chapter.MOST_REMEMBERED


def test_many_at_once_get_no_more_tries(users):
    told = []

    def guess():
        try:
            users.check("ann", "wrong password", HERE)
        except Refused as error:
            told.append(error.wait_s)

    threads = [threading.Thread(target=guess) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len([wait for wait in told if not wait]) <= chapter.FREE + 2


def test_a_session_is_signed_ends_and_goes_with_its_password(users, tmp_path):
    text = users.session(users.all()["ann"])
    assert users.of_session(text, 12).name == "ann"
    assert users.of_session(text, 0) is not None  # within its second
    time.sleep(1.1)
    assert users.of_session(text, 0) is None
    for forged in (text[:-1], text + "A", "", "a.b.c", text.swapcase(), "\0", "é"):
        assert users.of_session(forged, 12) is None
    stranger = URLSafeTimedSerializer("another secret").dumps(["ann", "0" * 16])
    assert users.of_session(stranger, 12) is None
    key = secret_of(tmp_path, chapter.SESSION)
    for content in (["ann"], ["vera", ""], ["nobody", "0" * 16], {"a": 1}, [["ann"], 1]):
        signed = URLSafeTimedSerializer(key, signer_kwargs={"digest_method": "sha256"})
        signed.signer_kwargs = users._signer().signer_kwargs
        assert users.of_session(signed.dumps(content), 12) is None
    users.set("ann", "viewer", None)
    assert users.of_session(text, 12).level is Role.VIEWER  # a role counts at once
    users.set("ann", None, GOOD + "2")
    assert users.of_session(text, 12) is None
    again = users.session(users.all()["ann"])
    users.remove("ann")
    assert users.of_session(again, 12) is None


def test_who_is_not_listed_may_look_only(users):
    assert users.role("ann") is Role.ADMIN
    assert users.role("somebody@example.org") is Role.VIEWER


def test_a_name_that_cannot_be_used_is_refused(users):
    for name in ("", "a b", "a:b", "a,b", "a\nb", "x" * 201, "a\x00"):
        with pytest.raises(SettingsError, match="cannot be used"):
            users.add(name, "viewer", None)


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{", '{"ann": {}}', '{"ann": {"role": "root", "password": ""}}', '{"ann": 3}', "\xff\xfe"],
)
def test_a_damaged_file_lets_nobody_in(users, tmp_path, content):
    place = tmp_path / chapter.FILE_NAME
    place.write_text(content, encoding="latin-1")
    for ask in (users.all, lambda: users.check("ann", GOOD, HERE), lambda: users.role("ann")):
        with pytest.raises(SettingsError):
            ask()


@pytest.mark.parametrize("which", [chapter.FILE_NAME, chapter.SECRET])
def test_a_file_that_others_may_read_lets_nobody_in(users, tmp_path, which):
    text = users.session(users.all()["ann"])
    users.add("ben", "viewer", None)
    (tmp_path / which).chmod(0o640)
    with pytest.raises(SettingsError, match="chmod 600"):
        users.of_session(text, 12)


def test_a_secret_is_made_once_by_whoever_asks_first(tmp_path):
    found = []
    threads = [threading.Thread(target=lambda: found.append(secret_of(tmp_path, "a"))) for _ in range(20)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(set(found)) == 1
    assert len(found) == 20
    assert secret_of(tmp_path, "b") != found[0]
    assert [path.name for path in tmp_path.iterdir()] == [chapter.SECRET]
    (tmp_path / chapter.SECRET).write_text("no digits")
    with pytest.raises(SettingsError, match="cannot be used"):
        secret_of(tmp_path, "a")


def test_the_commands_take_passwords_from_standard_input_alone(tmp_path):
    home = tmp_path / "home"
    told = run_here("user", "add", "ann", "--role", "planner", home=home, stdin=f"{GOOD}\n")
    assert told.status == 0, told.err
    assert Users(home).check("ann", GOOD, HERE).level is Role.PLANNER
    assert run_here("user", "add", "ann", home=home, stdin=f"{GOOD}\n").status == 2
    assert "10 to" in run_here("user", "add", "ben", home=home, stdin="short\n").err
    assert "give viewer, planner or admin" in run_here("user", "set", "ann", "--role", "x", home=home).err
    assert "nothing is changed" in run_here("user", "set", "ann", home=home).err
    assert run_here("user", "set", "ann", "--role", "viewer", "--password", home=home, stdin=f"{GOOD}2\n").status == 0
    assert "ann viewer yes" in " ".join(run_here("user", home=home).out.split())
    refused = run_here("user", "remove", "anna", home=home)
    assert "no user 'anna'" in refused.err
    assert run_here("user", "remove", "ann", home=home, WORKPROF_ROLE="planner").status == 2
    assert run_here("user", "remove", "ann", home=home).status == 0
    told = run_here("audit", home=home)
    assert "remove ann, viewer" in told.out
    assert GOOD not in told.out + (home / "audit.jsonl").read_text()
