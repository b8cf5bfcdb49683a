"""A store in a fresh home, and small files."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from workprof.core.settings import Settings
from workprof.core.units import GIB
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


@pytest.fixture
def store(settings: Settings, empty_home: Path) -> Iterator[TraceStore]:
    if not settings.home.exists():
        shutil.copytree(empty_home, settings.home)
    with TraceStore(settings) as opened:
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
