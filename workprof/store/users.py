"""The people of a home: names, roles and hashed passwords in a file of its own, failures slowed, sessions signed."""

import contextlib
import fcntl
import hashlib
import hmac
import json
import os
import secrets
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from itsdangerous import BadData, URLSafeTimedSerializer

from workprof.core.errors import SettingsError, WorkprofError
from workprof.core.roles import Role, role_of
from workprof.core.text import near
from workprof.store.audit import LOGIN_FAILED, Audit
from workprof.store.home import OTHERS, write_private

FILE_NAME, SECRET = "users.json", "secret"
SECRET_BYTES = 32
SHORTEST, LONGEST = 10, 1_000
"""Characters of a password."""
LONGEST_NAME = 200
COST, BLOCK, PARALLEL, MEMORY_BYTES = 2**15, 8, 3, 2**26
"""Of scrypt (RFC 7914): 32 MB and about 0.2 s for each look."""
SESSION = "session"


@dataclass(frozen=True)
class User:
    """One person who may come in."""

    name: str
    role: str
    password: str = ""  # 'scrypt$N$r$p$salt$hash' in hexadecimal digits; '' = another login vouches for them

    @property
    def level(self) -> Role:
        """What they may do."""
        return role_of(self.role, f"the role of {self.name}")


class Refused(WorkprofError):
    """Name or password are wrong, or were wrong too often."""

    def __init__(self, words: str, wait_s: float = 0.0) -> None:
        super().__init__(words)
        self.wait_s = wait_s  # until another try is looked at


def secret_of(home: Path, purpose: str) -> bytes:
    """The key of a home for one purpose; the secret that it comes from is made once and is its owner's alone.

    Raises SettingsError where it can neither be read nor made.
    """
    path = home / SECRET
    try:
        with contextlib.suppress(FileExistsError):
            aside = path.with_name(f"{SECRET}.{os.getpid()}.{threading.get_ident()}")
            if not path.exists():
                write_private(aside, secrets.token_hex(SECRET_BYTES))
                try:
                    os.link(aside, path)  # whole or not at all, and never a second one
                finally:
                    aside.unlink()
        refuse_open(path)
        kept = bytes.fromhex(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingsError(
            f"the secret {path} cannot be used ({error}); mend it, or remove it: all log in anew"
        ) from error
    return hashlib.blake2b(purpose.encode(), key=kept, digest_size=SECRET_BYTES).digest()


def refuse_open(path: Path) -> None:
    """Refuse a file that others of this machine may read; raises SettingsError."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & OTHERS:
        raise SettingsError(f"{path} is open to other users of this machine ({mode:04o}); close it: chmod 600 {path}")


class Users:
    """The people of one home; every method may be called from any thread."""

    def __init__(self, home: Path) -> None:
        """Take a home, in which nothing is made yet."""
        self._home, self._path = home, home / FILE_NAME
        self._read: tuple[tuple[int, int], dict[str, User]] = ((0, 0), {})
        self._guarded = False
        self._slowed = Slowed()
        self._looks = threading.Semaphore(2)
        self._audit = Audit(home)

    def all(self) -> dict[str, User]:
        """Everybody by name.

        Raises SettingsError when the file cannot be read, or others of this machine may: nobody comes in then.
        """
        try:
            about = self._path.stat()
        except (FileNotFoundError, NotADirectoryError):  # a home that is none is told where it is opened
            return {}
        mark = (about.st_ctime_ns, about.st_ino)  # also of its mode
        if self._read[0] != mark:
            refuse_open(self._path)
            try:
                given = json.loads(self._path.read_text(encoding="utf-8"))
                users = {name: User(name, str(one["role"]), str(one["password"])) for name, one in given.items()}
                for one in users.values():
                    one.level  # noqa: B018  a role that there is not is told now
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise SettingsError(f"{self._path} cannot be read ({error}); mend it, or put a copy back") from error
            self._read = (mark, users)
            self._guarded = self._guarded or any(one.password for one in users.values())
        return self._read[1]

    @property
    def with_passwords(self) -> bool:
        """Whether anybody can log in by a password, or could before: who loses the last one opens no door by it."""
        self.all()
        return self._guarded

    def role(self, name: str) -> Role:
        """What somebody may do whom another login vouches for: who is not listed may look."""
        known = self.all().get(name)
        return known.level if known else Role.VIEWER

    def add(self, name: str, role: str, password: str | None) -> User:
        """Add somebody; without a password another login has to vouch for them.

        Raises SettingsError for a name that is taken or cannot be used, and a password that is too short.
        """
        if not name or len(name) > LONGEST_NAME or not name.isprintable() or any(one in name for one in " :,"):
            raise SettingsError(f"name {name[:40]!r} cannot be used; give 1 to {LONGEST_NAME} characters, no space : ,")
        with self._changing() as users:
            if name in users:
                raise SettingsError(f"there is a user {name!r} already; `workprof user set {name}` changes them")
            users[name] = User(name, str(role_of(role, "--role")), "" if password is None else hashed(password))
            return users[name]

    def set(self, name: str, role: str | None, password: str | None) -> User:
        """Change a role or a password; a new password ends the sessions of before."""
        with self._changing() as users:
            old = self._known(users, name)
            kept = old.password if password is None else hashed(password)
            users[name] = User(name, old.role if role is None else str(role_of(role, "--role")), kept)
            return users[name]

    def remove(self, name: str) -> User:
        """Remove somebody, whose sessions end; raises SettingsError where there is nobody of that name."""
        with self._changing() as users:
            self._known(users, name)
            return users.pop(name)

    def _known(self, users: dict[str, User], name: str) -> User:
        if name not in users:
            raise SettingsError(f"there is no user {name!r}{near(name, users)}; `workprof user` lists them")
        return users[name]

    @contextlib.contextmanager
    def _changing(self) -> Iterator[dict[str, User]]:
        """The people to change; the file is replaced whole."""
        with (self._path.with_suffix(".lock")).open("a", encoding="utf-8") as lock:
            lock.flush()
            os.fchmod(lock.fileno(), 0o600)
            fcntl.flock(lock, fcntl.LOCK_EX)
            users = dict(self.all())
            yield users
            document = {name: {"role": one.role, "password": one.password} for name, one in users.items()}
            aside = self._path.with_suffix(".new")
            write_private(aside, json.dumps(document, indent=1) + "\n")
            aside.replace(self._path)

    def check(self, name: str, password: str, address: str) -> User:
        """The person whose password this is.

        Raises Refused, in the same words and the same time for a wrong name and a wrong password.
        """
        known = self.all().get(name)
        with self._looks:
            if wait_s := self._slowed.wait_s(name, address):
                raise Refused(f"too many wrong passwords; try again in {wait_s:.0f} s", wait_s)
            fits = _fits(password, known.password if known and known.password else NOBODY)
            if known is None or not known.password or not fits:
                self._slowed.failed(name, address)
                raise Refused("name or password is wrong")
        self._slowed.forget(name, address)
        return known

    def note_failure(self, name: str, address: str, door: str) -> None:
        """Add a failed login to the audit log."""
        self._audit.note(LOGIN_FAILED, f"from {address}", Role.VIEWER, who=name, door=door)

    def note_login(self, user: User, address: str, door: str) -> None:
        """Add a login to the audit log."""
        self._audit.note("logged in", f"from {address}", user.level, who=user.name, door=door)

    def session(self, user: User) -> str:
        """A signed text that says who is logged in; it ends with the password that it was made by."""
        return self._signer().dumps([user.name, _mark(user)])

    def of_session(self, text: str, hours: float) -> User | None:
        """The person of a session; None where it is forged, too old, or of a password that is gone."""
        try:
            name, mark = self._signer().loads(text, max_age=int(hours * 3600))
        except (BadData, ValueError, TypeError):
            return None
        known = self.all().get(name) if isinstance(name, str) else None
        same = known is not None and known.password and hmac.compare_digest(str(mark), _mark(known))
        return known if same else None

    def _signer(self) -> URLSafeTimedSerializer:
        return URLSafeTimedSerializer(secret_of(self._home, SESSION), signer_kwargs={"digest_method": hashlib.sha256})


def _mark(user: User) -> str:
    return hashlib.blake2b(user.password.encode(), digest_size=8).hexdigest()


def hashed(password: str) -> str:
    """A password as it is kept; raises SettingsError where it is too short."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise SettingsError(f"the password has {len(password)} characters; give {SHORTEST} to {LONGEST}")
    salt = secrets.token_bytes(16)
    return f"scrypt${COST}${BLOCK}${PARALLEL}${salt.hex()}${_scrypt(password, salt, COST, BLOCK, PARALLEL).hex()}"


def _scrypt(password: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    return hashlib.scrypt(password.encode(), salt=salt, n=n, r=r, p=p, maxmem=MEMORY_BYTES, dklen=32)


NOBODY = f"scrypt${COST}${BLOCK}${PARALLEL}${'00' * 16}${'00' * 32}"
"""What a name that nobody has is compared with, so that it takes as long."""


def _fits(password: str, kept: str) -> bool:
    try:
        _, n, r, p, salt, wanted = kept.split("$")
        found = _scrypt(password[:LONGEST], bytes.fromhex(salt), int(n), int(r), int(p))
        return hmac.compare_digest(found, bytes.fromhex(wanted))
    except ValueError as error:
        raise SettingsError(
            f"a password in {FILE_NAME} cannot be read ({error}); `workprof user set` mends it"
        ) from error


FREE, FREE_OF_ALL = 5, 20
"""Failures of a name from one address, and of a name or an address alone, that cost no time."""
LONGEST_WAIT_S, FORGOTTEN_S, MOST_REMEMBERED = 300.0, 3600.0, 10_000


class Slowed:
    """Failures by name and address: each further one waits twice as long, up to five minutes."""

    def __init__(self) -> None:
        self._failures: OrderedDict[tuple[str, str], tuple[int, float]] = OrderedDict()
        self._guard = threading.Lock()

    def wait_s(self, name: str, address: str) -> float:
        """How long until the next try is looked at; 0 = now."""
        with self._guard:
            return max(self._wait_s(key) for key in _keys(name, address))

    def _wait_s(self, key: tuple[str, str]) -> float:
        count, last = self._failures.get(key, (0, 0.0))
        over = count - (FREE if all(key) else FREE_OF_ALL)
        return max(0.0, last + min(LONGEST_WAIT_S, 2.0 ** min(over, 20)) - time.monotonic()) if over >= 0 else 0.0

    def failed(self, name: str, address: str) -> None:
        """Count a failure."""
        now = time.monotonic()
        with self._guard:
            for key in _keys(name, address):
                count, last = self._failures.pop(key, (0, now))
                self._failures[key] = ((count if now - last < FORGOTTEN_S else 0) + 1, now)
            while len(self._failures) > MOST_REMEMBERED:
                self._failures.popitem(last=False)

    def forget(self, name: str, address: str) -> None:
        """Begin anew for who got in."""
        with self._guard:
            self._failures.pop((name, address), None)


def _keys(name: str, address: str) -> tuple[tuple[str, str], ...]:
    return ((name[:LONGEST_NAME], address), (name[:LONGEST_NAME], ""), ("", address))
