"""A store in a fresh home, and small files."""

import contextlib
import functools
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from workprof.core.settings import Settings
from workprof.core.units import GIB
from workprof.store.look import Look
from workprof.store.trace_store import TraceStore

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home", data=tmp_path, memory_limit_bytes=GIB)


@pytest.fixture(scope="session")
def empty_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home of no dataset: its tables take longer to make than to copy."""
    folder = tmp_path_factory.mktemp("empty")
    with TraceStore(Settings(home=folder / "home", data=folder, memory_limit_bytes=GIB)):
        return folder / "home"


@functools.cache
def looking() -> duckdb.DuckDBPyConnection:
    result = duckdb.connect(config={"threads": 1})
    result.execute("SET TimeZone = 'UTC'")
    return result


@contextlib.contextmanager
def alone(settings: Settings) -> Iterator[TraceStore]:
    """Yield a store that nobody else uses: its connections stay open, as to open one takes longer than a small file.

    That they are closed for other processes is proved in `test_home` and `faults`.
    """
    with pytest.MonkeyPatch.context() as patch, TraceStore(settings) as opened:
        database, let_go = opened._database, opened._database._let_go
        patch.setattr(Look, "_connection", looking())
        patch.setattr(database, "_let_go", lambda: let_go() if database._closed else None)
        yield opened


@pytest.fixture
def store(settings: Settings, empty_home: Path) -> Iterator[TraceStore]:
    if not settings.home.exists():
        shutil.copytree(empty_home, settings.home)
    with alone(settings) as opened:
        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def written(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


@pytest.fixture
def shared() -> Path:
    if not SHARED.is_dir():
        pytest.skip("the real traces (../shared/data) are not on this machine")
    return SHARED
