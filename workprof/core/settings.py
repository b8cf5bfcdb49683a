"""The settings of a process, read once from the environment (see the README, Settings)."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path

from workprof.core.errors import SettingsError, UnitUnknown
from workprof.core.roles import Role, role_of
from workprof.core.units import GIB, MIB, parse_size

DEFAULT_MEMORY_LIMIT_BYTES = 4 * GIB
SMALLEST_MEMORY_LIMIT_BYTES = 256 * MIB
DEFAULT_EXPANSION_LIMIT = 100
DEFAULT_WAIT_S = 10.0
LONGEST_WAIT_S = 86_400.0
DEFAULT_AHEAD_S = 20.0
"""Traces shrink 3-30 times; a bomb a thousand times."""
LONGEST_NUMBER = 9
APART, RULE = "viewers-", 2
"""Folders of what was computed from pseudonyms, and how these are made: raise it with that."""
YES = frozenset({"1", "true", "yes", "on"})
NO = frozenset({"0", "false", "no", "off"})
PSEUDONYMS = "WORKPROF_PSEUDONYMS"
ROLE = "WORKPROF_ROLE"
"""The most that anybody may do in this process."""
ANCESTORS = "WORKPROF_FRAME_ANCESTORS"
ORIGIN = re.compile(r"https?://(\*\.)?([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:([0-9]{1,5}|\*))?", re.I)
"""A host-source with a scheme and without a path (Content Security Policy Level 3, section 2.3.1)."""

CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Settings:
    """Where things are kept and how much they may use."""

    home: Path  # folder of the database, the cache and the spool
    data: Path  # the folder that the page's file picker shows; nothing outside it can be picked there
    # for DuckDB; the result cache keeps at most an eighth of it in memory
    memory_limit_bytes: int = DEFAULT_MEMORY_LIMIT_BYTES
    threads: int = 2  # worker threads of DuckDB and of every numeric library
    dask: str | None = None  # address of a Dask scheduler for the sweep, or None
    readonly: bool = False  # refuse everything that changes the store
    role: Role = Role.ADMIN  # of whoever uses the home through these settings
    pseudonyms: tuple[str, ...] = ()  # columns whose names viewers see pseudonyms of
    # how many times its size a compressed or Parquet file may hold, once that is over 256 MiB
    expansion_limit: int = DEFAULT_EXPANSION_LIMIT
    # how long to wait for another process that writes to the home, or reads what is to be written
    wait_s: float = DEFAULT_WAIT_S
    # what pages lack is computed by itself where that is expected to take at most so long; 0 = never
    ahead_s: float = DEFAULT_AHEAD_S

    def __post_init__(self) -> None:
        if self.memory_limit_bytes < SMALLEST_MEMORY_LIMIT_BYTES:
            raise SettingsError(f"WORKPROF_MEMORY_LIMIT is {self.memory_limit_bytes} bytes; give at least 256MiB")
        if self.threads < 1:
            raise SettingsError(f"threads is {self.threads}; give at least 1")
        if self.expansion_limit < 1:
            raise SettingsError(f"WORKPROF_EXPANSION_LIMIT is {self.expansion_limit}; give at least 1")
        if not 0 <= self.ahead_s <= LONGEST_WAIT_S:
            raise SettingsError(f"WORKPROF_AHEAD is {self.ahead_s:g} s; give 0 (never) to {LONGEST_WAIT_S:,.0f} s")
        if not 0 <= self.wait_s <= LONGEST_WAIT_S:
            raise SettingsError(f"the time to wait is {self.wait_s:g} s; give 0 to {LONGEST_WAIT_S:,.0f} s")

    def seen_by(self, role: Role) -> Settings:
        """The same settings for a role, which never grows by it; a viewer's home is opened read-only."""
        role = min(self.role, role)
        return replace(self, role=role, readonly=self.readonly or role is Role.VIEWER)

    def passing(self, home: Path) -> Settings:
        """The same settings for a folder that is gone soon, in which whoever makes it may do everything."""
        return replace(self.at(home), readonly=False, role=Role.ADMIN, pseudonyms=())

    @property
    def nameless(self) -> bool:
        """Whether rows are read with pseudonyms instead of names."""
        return self.role is Role.VIEWER and bool(self.pseudonyms)

    @property
    def results(self) -> Path:
        """The folder of what was computed: what came of pseudonyms lies apart, by the secret that makes them."""
        if not self.nameless:
            return self.home
        secret = self.home / "secret"
        about = f"{RULE} {','.join(self.pseudonyms)} ".encode() + (secret.read_bytes() if secret.is_file() else b"")
        return self.home / f"{APART}{blake2b(about, digest_size=4).hexdigest()}"

    def at(self, home: Path) -> Settings:
        """The same settings with another home folder."""
        return replace(self, home=_folder(home, "--home"))


def from_environment(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings that WORKPROF_* and XDG_DATA_HOME ask for.

    Raises SettingsError when a variable has a value that cannot be used.
    """
    env = os.environ if environment is None else environment
    base = Path(env.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    home = _folder(Path(env.get("WORKPROF_HOME") or base / "workprof"), "WORKPROF_HOME")
    try:
        limit = parse_size(env.get("WORKPROF_MEMORY_LIMIT", str(DEFAULT_MEMORY_LIMIT_BYTES)))
    except UnitUnknown as error:
        raise SettingsError(f"WORKPROF_MEMORY_LIMIT: {error}") from error
    times = env.get("WORKPROF_EXPANSION_LIMIT", "").strip() or str(DEFAULT_EXPANSION_LIMIT)
    if not (times.isascii() and times.isdigit() and len(times) <= LONGEST_NUMBER):
        raise SettingsError(f"WORKPROF_EXPANSION_LIMIT is {times[:40]!r}; give a whole number of times, such as 100")
    settings = Settings(
        home=home,
        data=_data_folder(env, home),
        memory_limit_bytes=limit,
        threads=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1,
        dask=env.get("WORKPROF_DASK") or None,
        readonly=bool(switch(env, "WORKPROF_READONLY")),
        ahead_s=_seconds(env, "WORKPROF_AHEAD", DEFAULT_AHEAD_S),
        expansion_limit=int(times),
        pseudonyms=_pseudonyms(env.get(PSEUDONYMS, "")),
    )
    return settings.seen_by(role_of(env.get(ROLE) or str(Role.ADMIN), ROLE))


def _pseudonyms(text: str) -> tuple[str, ...]:
    """The columns that WORKPROF_PSEUDONYMS names; 1 = that of users."""
    named = tuple(dict.fromkeys(filter(None, (part.strip() for part in text.split(",")))))
    if len(named) == 1 and named[0].lower() in YES | NO:
        return ("user",) if named[0].lower() in YES else ()
    if odd := [name for name in named if not name.isidentifier()]:
        raise SettingsError(f"{PSEUDONYMS} has {odd[0][:40]!r}; give 1, or columns such as user,group,account")
    return named


def _seconds(environment: Mapping[str, str], name: str, otherwise: float) -> float:
    text = environment.get(name, "").strip()
    try:
        return float(text) if text else otherwise
    except ValueError as error:
        raise SettingsError(f"{name} is {text[:40]!r}; give a number of seconds, 0 = never") from error


def switch(environment: Mapping[str, str], name: str) -> bool | None:
    """Whether a variable says yes or no; None where it is unset or empty.

    Raises SettingsError when it says something else: a switch that protects must not be off by a slip of the pen.
    """
    value = environment.get(name, "").strip().lower()
    if value not in {"", *YES, *NO}:
        raise SettingsError(f"{name} is {environment[name]!r}; give 1 (yes) or 0 (no)")
    return None if not value else value in YES


def frame_ancestors(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The origins whose pages may show the dashboard in a frame, from WORKPROF_FRAME_ANCESTORS.

    Raises SettingsError when one is no origin: what is none would let in nobody, or everybody.
    """
    origins = tuple(filter(None, (entry.strip() for entry in environment.get(ANCESTORS, "").split(","))))
    for origin in origins:
        if not ORIGIN.fullmatch(origin):
            raise SettingsError(
                f"{ANCESTORS} has {origin!r}; give origins like https://wiki.example.org, separated by commas"
            )
    return origins


def _folder(path: Path, named: str) -> Path:
    try:
        return path.expanduser().resolve()
    except (RuntimeError, ValueError, OSError) as error:  # no such user, a NUL, a ring of links
        raise SettingsError(f"{named} is {str(path)!r}, which is no folder ({error}); give another") from error


def _data_folder(env: Mapping[str, str], home: Path) -> Path:
    if env.get("WORKPROF_DATA"):
        return _folder(Path(env["WORKPROF_DATA"]), "WORKPROF_DATA")
    checkout = CHECKOUT / "data"
    return checkout if (CHECKOUT / "pyproject.toml").is_file() and checkout.is_dir() else home / "data"
