"""Commands that open the dashboard: serve, demo."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from workprof.cli import smoke
from workprof.cli.console import Home, announce_home, opened, progress_line, settings_for, warn
from workprof.core.errors import SettingsError, StepFailed, WorkprofError
from workprof.core.settings import CHECKOUT, Settings, frame_ancestors
from workprof.core.units import parse_size
from workprof.store.doors import FORWARDED, proxy_of, refuse_open_host
from workprof.store.home import HANDED_OVER, hold
from workprof.store.users import Users

if TYPE_CHECKING:
    from workprof.store.reports import Dataset
    from workprof.workbench import Workbench

ADDRESS = "127.0.0.1"
DEFAULT_PORT, API_PORT = 8501, 8600
LOOPBACK = (ADDRESS, "localhost", "::1")
STARTUP_S = 60.0
PREPARED_S = "300"
SAMPLES = ("benchmarks.jsonl", "telemetry.csv", "pai_sample.parquet")
"""The jobs come last, so that the first page opens with them."""

CONFIGURATIONS = {"configurations-nodes": "configurations.benchmarks.jsonl", "configurations": "configurations.csv"}
"""Dataset -> file of measured configurations, and of benchmarks of their nodes: what Search on Nodes looks through."""

Port = Annotated[int, typer.Option("--port", min=1, max=65535, help="On 127.0.0.1.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the tree."""
    for command in (demo, serve):
        app.command()(command)


def serve(
    port: Annotated[
        int | None,
        typer.Option("--port", min=1, max=65535, help="Default: 8501, of the service 8600.", show_default=False),
    ] = None,
    api: Annotated[bool, typer.Option("--api", help="Serve JSON over HTTP instead of the dashboard.")] = False,
    host: Annotated[
        str, typer.Option("--host", help="Another than this machine's own needs users, a login, a token or a proxy.")
    ] = ADDRESS,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", help="Of the service: what a request means that names none. Default: the newest."),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", min=0, help="Of the service: requests a second of one address; 0 = any.")
    ] = 0.0,
    timeout: Annotated[
        float, typer.Option("--timeout", min=0.1, help="Of the service: seconds until an answer is given up.")
    ] = 30.0,
    body: Annotated[str, typer.Option("--body", metavar="SIZE", help="Of the service: largest request.")] = "8MB",
    home: Home = None,
) -> None:
    """Open the dashboard alone, or serve predictions, sizes and every question over HTTP (--api)."""
    settings = settings_for(home)
    if api:
        options = {"host": host, "port": port or API_PORT, "dataset": dataset or "", "rate": rate}
        _serve_api(settings, options | {"timeout_s": timeout, "body_bytes": parse_size(body)})
        return
    given = {
        "--dataset": dataset is not None,
        "--rate": rate != 0,
        "--timeout": timeout != 30,
    }
    if odd := [name for name, changed in given.items() if changed]:
        raise SettingsError(f"{odd[0]} changes nothing for the dashboard; add --api, or leave it out")
    port = port or DEFAULT_PORT
    _refuse_strangers(settings, host, api=False)
    _refuse_unusable(port, host)
    with _server(settings, port, host=host) as server:
        _announce(port, settings, host)
        _until_ended(server)


def _refuse_strangers(settings: Settings, host: str, *, api: bool) -> None:
    """Refuse to listen for other machines where nobody would have to say who they are."""
    proxy_of(os.environ)  # what is set up wrongly is told before anything listens
    passwords = Users(settings.home).with_passwords
    if host not in LOOPBACK:
        refuse_open_host(host, os.environ, passwords=passwords, api=api)


def _serve_api(settings: Settings, options: dict[str, Any]) -> None:
    """Become the service: one process, so that signals and its end are its own."""
    _refuse_strangers(settings, options["host"], api=True)
    needed = ("starlette", "uvicorn", "prometheus_client")
    if missing := [name for name in needed if importlib.util.find_spec(name) is None]:
        raise SettingsError(f"{' and '.join(missing)} not installed; pip install 'workprof[service]'")
    _refuse_unusable(int(options["port"]), str(options["host"]))
    _announce(int(options["port"]), settings, str(options["host"]))
    os.environ["WORKPROF_HOME"] = str(settings.home)
    sys.stdout.flush()
    os.execv(sys.executable, [sys.executable, "-m", "workprof.service", json.dumps(options)])  # noqa: S606  ourselves


def demo(
    port: Port = DEFAULT_PORT,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Do not open a browser.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Start, open every page once, end with 0 or 1.")] = False,
    home: Home = None,
) -> None:
    """Load the sample where absent and open the dashboard."""
    if check:
        _check(home)
        return
    _refuse_unusable(port)
    samples = load_sample(home)
    settings = settings_for(home)
    with _server(settings, port, prepare=True) as server:
        _find_profiles(home, samples)  # while the server imports what it needs
        _announce(port, settings)
        if not no_browser and _has_screen():
            webbrowser.open(f"http://{ADDRESS}:{port}")
        _until_ended(server, lambda: _prepare_tour(home, samples))


def load_sample(home: Path | None) -> list[Dataset]:
    """Ingest the bundled samples and return them, the jobs last."""
    from workprof.store.reports import IngestOptions  # noqa: PLC0415  heavy

    folder = dashboard_folder() / "data" / "sample"
    with opened(home) as workbench:
        for name, file in CONFIGURATIONS.items():
            if (folder / file).is_file():
                workbench.ingest([folder / file], IngestOptions(name=name))
        return [_loaded(workbench, folder / name) for name in SAMPLES]


def _find_profiles(home: Path | None, samples: list[Dataset]) -> None:
    with opened(home) as workbench:
        fit = workbench.profiles(samples[-1].hash, None, progress_line())
    warn(f"profiles: {fit.scores.n_clusters} found")


def _prepare_tour(home: Path | None, samples: list[Dataset]) -> None:
    """Compute all that the tour shows where it is not kept, while the visitor looks at the first page."""
    from workprof.report.tour import missing, prepare  # noqa: PLC0415  heavy

    try:
        with opened(home) as workbench:
            failed = []
            if missing(workbench, samples[-1].hash):
                made = prepare(workbench, {sample.kind: sample for sample in samples}, progress_line())
                failed = [one for one in made.report.sections if one.reason]
            for section in failed:
                warn(f"tour: {section.kind.title} could not be made: {section.reason}")
            if not failed:
                warn("tour: everything is computed")
    except WorkprofError as error:
        warn(f"tour: could not be made: {error}")


def _loaded(workbench: Workbench, path: Path) -> Dataset:
    report = workbench.ingest([path], None, progress_line())
    how = "were there" if report.already_loaded else "loaded"
    warn(f"sample: {report.rows:,} rows of {report.kind} {how} as {report.dataset!r}")
    return workbench.dataset(report.hash)


def dashboard_folder() -> Path:
    """Return the folder of app.py: the checkout's, or the copy inside the installed package.

    Raises StepFailed when neither is there.
    """
    for folder in (CHECKOUT, Path(__file__).resolve().parent.parent / "dashboard"):
        if (folder / "app.py").is_file() and (folder / "pages").is_dir():
            return folder
    raise StepFailed("the dashboard's files are not installed; install workprof again")


def _check(home: Path | None) -> None:
    """Start a server on a free port and open every page once, on a throw-away home unless one is given."""
    from workprof.nodes.processes import free_port  # noqa: PLC0415  light until asked

    scratch = None if home else Path(tempfile.mkdtemp(prefix="workprof-check-"))
    chosen = home or scratch
    try:
        samples, port = load_sample(chosen), free_port()
        with _server(settings_for(chosen), port, "--server.enableAgentApi=true", login=False) as server:
            _find_profiles(chosen, samples)
            _wait_until_healthy(server, port)
            opened_pages = smoke.open_every_page(f"http://{ADDRESS}:{port}")
    finally:
        if scratch is not None:
            shutil.rmtree(scratch, ignore_errors=True)
    failed = [page for page in opened_pages if page.problem]
    for page in opened_pages:
        warn(f"{'FAILED' if page.problem else 'ok':6} {page.name}{': ' + page.problem if page.problem else ''}")
    if failed or not opened_pages:
        raise StepFailed(f"{len(failed)} of {len(opened_pages)} pages failed")


@contextlib.contextmanager
def _server(
    settings: Settings, port: int, *options: str, host: str = ADDRESS, login: bool = True, prepare: bool = False
) -> Iterator[subprocess.Popen[bytes]]:
    """Run Streamlit in a process group of its own and leave nothing of it behind."""
    folder = dashboard_folder()
    leashed = [sys.executable, "-m", "workprof.children"]  # it ends with us, even when we are killed
    command = [*leashed, "streamlit", "run", str(folder / "app.py"), "--server.headless=true"]
    command += [f"--server.port={port}", f"--server.address={host}", "--browser.gatherUsageStats=false", *options]
    environment = os.environ | {"WORKPROF_HOME": str(settings.home), "WORKPROF_DATA": str(settings.data)}
    if prepare:  # the sample is small: all of it is computed while the first page is read
        environment.setdefault("WORKPROF_AHEAD", PREPARED_S)
    if proxy_of(environment):
        environment[FORWARDED] = ""  # the peer is who is connected, not whom a header names
    if not login:  # a check has no browser to log in with
        environment["WORKPROF_LOGIN"] = "0"
    with hold(settings.home, readonly=settings.readonly) as lock:
        environment[HANDED_OVER] = str(lock.fileno())
        server = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=(lock.fileno(),),
        )
        try:
            yield server
        finally:
            _end(server)


def _end(server: subprocess.Popen[bytes]) -> None:
    for how, wait_s in ((signal.SIGTERM, 5.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(server.pid, how)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(wait_s)
            return


def _until_ended(server: subprocess.Popen[bytes], work: Callable[[], None] = lambda: None) -> None:
    """Do some work beside the server, then wait for it; Ctrl-C and a termination signal end both cleanly."""
    for how in (signal.SIGINT, signal.SIGTERM):  # a shell's background job starts with SIGINT ignored
        signal.signal(how, signal.default_int_handler)
    try:
        work()
        status = server.wait()
    except KeyboardInterrupt:
        warn("workprof: stopped")
        return
    raise StepFailed(f"the dashboard ended by itself with status {status}")


def _announce(port: int, settings: Settings, host: str = ADDRESS) -> None:
    announce_home(settings.home)
    warn(f"workprof is starting on http://{host}:{port} (home {settings.home}); Ctrl-C ends it")


def _wait_until_healthy(server: subprocess.Popen[bytes], port: int) -> None:
    end = time.monotonic() + STARTUP_S
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(f"http://{ADDRESS}:{port}/_stcore/health", timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise StepFailed(f"the dashboard did not answer on port {port} within {STARTUP_S:.0f} s")


def _refuse_unusable(port: int, host: str = ADDRESS) -> None:
    """Say before any work what would keep the server from starting."""
    frame_ancestors(os.environ)
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            raise SettingsError(f"port {port} cannot be used ({error.strerror}); give another with --port") from error


def _has_screen() -> bool:
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
