"""What a source is: where rows come from, how often, and how long they are kept. Secrets are named, never kept."""

import os
import re
import stat
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from workprof.core.errors import SettingsError
from workprof.core.units import DAY_S, HOUR_S, MINUTE_S
from workprof.store.catalogue import checked_name
from workprof.store.reports import IngestOptions

PROMETHEUS, SLURM, SLURMRESTD, KUBERNETES, FILES, PULL = KINDS = (
    *("prometheus", "slurm", "slurmrestd", "kubernetes", "files", "pull"),
)
BY_URL = (PROMETHEUS, SLURMRESTD)
"""Kinds that are reached over HTTP alone."""
OPTIONS = {
    **{"since_s": "--since", "step_s": "--step", "selector": "--selector", "metrics": "--metric", "table": "--table"},
    **{"options": "--format or --map", "token": "--token", "user": "--user", "password": "--password"},
    **{"headers": "--header", "ca_file": "--ca"},
}
"""Field of a source or of its credentials -> the option that sets it, of those that some kinds do not use."""
LOGIN = ("token", "user", "password", "headers", "ca_file")
USED = {
    PROMETHEUS: ("since_s", "step_s", "selector", "metrics", *LOGIN),
    SLURM: ("since_s",),
    SLURMRESTD: ("since_s", "token", "user", "headers", "ca_file"),
    KUBERNETES: ("selector", *LOGIN),
    FILES: ("options",),
    PULL: ("table", "options"),
}
"""Kind -> the fields of `OPTIONS` that it uses; kubectl and sacct of this host have logins of their own."""
LEAST_STEP_S = 1.0
_ENV, _FILE = "env:", "file:"
_HOST = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._@-]*")
_PERIOD = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw])")
_PERIOD_S = {"s": 1.0, "m": MINUTE_S, "h": HOUR_S, "d": DAY_S, "w": 7 * DAY_S}


@dataclass(frozen=True)
class Credentials:
    """Where secrets are found: 'env:NAME' or 'file:PATH' of a file that its owner alone may read."""

    token: str = ""  # of a bearer; of slurmrestd the user's token
    user: str = ""  # its name is no secret
    password: str = ""
    headers: dict[str, str] = field(default_factory=dict)  # header -> where its value is found
    ca_file: str = ""  # certificates that sign the server's, where the system's do not

    def __post_init__(self) -> None:
        for what, reference in (("token", self.token), ("password", self.password), *self.headers.items()):
            if reference and not reference.startswith((_ENV, _FILE)):
                raise SettingsError(
                    f"{what}: a secret is never kept or given on the command line; name where it is found, "
                    f"as {_ENV}NAME of a variable or {_FILE}PATH of a file"
                )


@dataclass(frozen=True)
class Source:
    """Where the rows of a dataset come from again and again."""

    name: str  # of the source and of its dataset
    kind: str  # one of KINDS
    # URL; of Slurm and Kubernetes '' = the command on this host, else HOST for ssh (Slurm) or a URL (Kubernetes);
    # of files a file, folder or pattern; of pull an engine's address
    address: str = ""
    every_s: float = 0.0  # between two refreshes; 0 = when somebody says so
    keep_s: float = 0.0  # runs that ended longer ago go; 0 = all stay
    since_s: float = 30 * DAY_S  # how far back the first refresh looks
    overlap_s: float = HOUR_S  # how far every later one looks back behind the one before
    step_s: float = MINUTE_S  # between two points of a series
    selector: str = ""  # of labels: PromQL's within {}, or kubectl's
    metrics: dict[str, str] = field(default_factory=dict)  # usual name of a metric -> its name there
    table: str = ""  # of an engine
    options: IngestOptions = field(default_factory=IngestOptions)  # of files and engines
    credentials: Credentials = field(default_factory=Credentials)

    def __post_init__(self) -> None:
        checked_name(self.name)  # its files are in a folder of that name
        if self.kind not in KINDS:
            raise SettingsError(f"--from is {self.kind!r}; use one of {', '.join(KINDS)}")
        url = urlsplit(self.address)
        if url.password or (url.username and url.scheme.startswith("http")):
            raise SettingsError("the address holds a name or a password; leave them out and use --user and --password")
        if self.kind in BY_URL or (self.kind == KUBERNETES and self.address):
            if url.scheme not in ("http", "https") or not url.hostname:
                raise SettingsError(f"--url is {self.address!r}; give http://HOST:PORT or https://HOST:PORT")
        elif self.kind == SLURM and self.address and not _HOST.fullmatch(self.address):
            raise SettingsError(f"--host is {self.address!r}; give HOST or USER@HOST, as ssh takes it")
        elif self.kind in (FILES, PULL) and not self.address:
            raise SettingsError(f"--from {self.kind} needs an address; give --path or --url")
        if not self.step_s >= LEAST_STEP_S:
            raise SettingsError(f"--step is {self.step_s:g} s; give {LEAST_STEP_S:g} s or more")

    def refuse_unused(self) -> None:
        """Raise SettingsError where an option is given that the kind does not use."""
        usual = Source(self.name, self.kind, self.address)
        used = [name for name in USED[self.kind] if self.kind != KUBERNETES or self.address or name not in LOGIN]
        for name, option in OPTIONS.items():
            given, default = (getattr(each.credentials if name in LOGIN else each, name) for each in (self, usual))
            if name not in used and given != default:
                which = "use --url with it" if name in USED[self.kind] else "leave it out"
                raise SettingsError(f"{option} is not used by --from {self.kind}; {which}")

    @property
    def shown(self) -> str:
        """What it is and where, for people."""
        here = {SLURM: "sacct of this host", KUBERNETES: "kubectl of this host"}
        return f"{self.kind} {self.address}" if self.address else here.get(self.kind, self.kind)


def secret(reference: str) -> str:
    """The secret that is found there; '' stands for none.

    Raises SettingsError when it cannot be found, or others may read its file. No message tells a secret.
    """
    if not reference:
        return ""
    if reference.startswith(_ENV):
        name = reference.removeprefix(_ENV)
        result = os.environ.get(name, "")
        if not result:
            raise SettingsError(f"the variable {name} is not set; set it to the source's secret")
        return result
    path = Path(reference.removeprefix(_FILE)).expanduser()
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"the secret's file {path} cannot be read ({type(error).__name__})") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SettingsError(f"others may read the secret's file {path}; run chmod 600 on it")
    if not text or "\n" in text:
        raise SettingsError(f"the secret's file {path} must hold one line")
    return text


def seconds_of(text: str, option: str, *, positive: bool = False) -> float:
    """The seconds of a span such as '90s', '15m', '1h', '400d' or '2w'; '' stands for 0, which `positive` refuses."""
    match = _PERIOD.fullmatch(text.strip()) if text else None
    if text and not match:
        raise SettingsError(f"{option} is {text!r}; give a span such as 15m, 1h, 30d or 2w")
    result = float(match[1]) * _PERIOD_S[match[2]] if match else 0.0
    if positive and match and not result:
        raise SettingsError(f"{option} is {text!r}, which is no time; leave it out, or give a span such as 1h or 30d")
    return result
