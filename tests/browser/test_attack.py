"""The running dashboard is killed and starved while fits are on their way that were started in a browser."""

import shutil
import subprocess
import time
from dataclasses import replace

import pytest

from tests.browser.conftest import SAMPLE, SETTLED
from tests.cut_off import CutOff
from tests.faults.moments import Moments
from tests.faults.soundness import bytes_below, nothing_runs_on, processes_of, reopened, rows_hash, until
from tests.load.servers import dashboard
from workprof.answers.profiles import paper_figures, quality_figures, size_figures
from workprof.core.settings import Settings
from workprof.profiles.settings import ProfileSettings
from workprof.store.trace_store import TraceStore
from workprof.workbench import Workbench

pytestmark = pytest.mark.soak

KILLS = 20
ROWS = 1500
MOUNTED_MB = 160
LEFT_BYTES = 20_000
FIT_MS = 240_000
METRICS = "[data-testid=stMetric]"
KEPT = ProfileSettings(min_cluster_size=60)


def settings_of_round(number):
    return replace(KEPT, min_cluster_size=20 + number)


def address(server, dataset, settings):
    size = f"profiles_min_cluster_size={settings.min_cluster_size}"
    return f"http://127.0.0.1:{server.port}/profiles?ds={dataset}&profiles_quality=true&{size}"


def prepare(folder):
    """Make a home with a sample and one kept result; return the home and the hash of its dataset."""
    home = folder / "home"
    with Workbench(Settings(home=home, data=folder)) as workbench:
        whole = workbench.ingest([SAMPLE]).hash
        workbench.sample(whole, "workload", ROWS, "few")
        few = workbench.dataset("few").hash
        workbench.profiles(few, KEPT)
        return home, few


def expected(home, dataset, every):
    """Return what the page must show for each of some settings; computed in another home."""
    other = home.parent / "other"
    shutil.copytree(home, other)
    with Workbench(Settings(home=other, data=other)) as workbench:
        fits = {one: workbench.profiles(dataset, one) for one in every}
        said = (quality_figures, size_figures, paper_figures)
        return {one: values(figure for tell in said for figure in tell(fit)) for one, fit in fits.items()}


def values(told):
    return [one.value for one in told]


def opened(page, where):
    """Open an address and return the headline figures that are shown there; none where nothing was computed."""
    page.goto(where)
    page.wait_for_selector(SETTLED, timeout=FIT_MS)
    page.locator(METRICS).or_(find(page)).first.wait_for(timeout=FIT_MS)
    page.wait_for_timeout(500)
    assert page.locator("[data-testid=stException]").count() == 0
    return shown(page)


def shown(page):
    return page.locator("[data-testid=stMetricValue]").all_text_contents()


def find(page):
    return page.get_by_role("button", name="Find profiles", exact=True)


def finished(page):
    """Wait for the result of the fit that this page has started."""
    find(page).wait_for(state="hidden", timeout=FIT_MS)
    page.locator(METRICS).first.wait_for(timeout=FIT_MS)
    page.wait_for_selector(SETTLED, timeout=FIT_MS)
    page.wait_for_timeout(500)
    return shown(page)


@pytest.fixture
def page(chromium):
    context = chromium.new_context()
    context.set_default_timeout(60_000)
    yield context.new_page()
    context.close()


def test_a_server_killed_at_twenty_moments_of_fits_from_the_browser_loses_nothing(tmp_path, page):
    home, few = prepare(tmp_path)
    rounds = [settings_of_round(number) for number in range(KILLS + 2)]
    wanted = expected(home, few, [KEPT, *rounds])
    with TraceStore(Settings(home=home, data=tmp_path)) as store:
        rows = {dataset.name: rows_hash(store, dataset.hash) for dataset in store.datasets()}
    cut_off, before = CutOff(tmp_path / "record"), bytes_below(home / "cache")
    with dashboard(home, **cut_off.variables) as server:
        assert opened(page, address(server, few, rounds[0])) == []
        started = time.monotonic()
        find(page).click()
        assert finished(page) == wanted[rounds[0]]
        moments = Moments(time.monotonic() - started)
    ends = {"lost": 0, "kept": 0}
    for settings in rounds[1:-1]:
        with dashboard(home, **cut_off.variables) as server:
            assert opened(page, address(server, few, settings)) == []
            find(page).click(no_wait_after=True)
            page.wait_for_timeout(1000 * moments.next_s())
            server.process.kill()
            server.process.wait(30)
        nothing_runs_on(home)
        assert reopened(Settings(home=home, data=tmp_path), rows) == set(rows)
        assert bytes_below(home / "cache").items() >= before.items()
        with dashboard(home, **cut_off.variables) as server:
            found = opened(page, address(server, few, settings))
            assert found in ([], wanted[settings])
            ends["kept" if found else "lost"] += 1
            assert opened(page, address(server, few, KEPT)) == wanted[KEPT]
    with dashboard(home, **cut_off.variables) as server:
        opened(page, address(server, few, rounds[-1]))
        find(page).click()
        assert finished(page) == wanted[rounds[-1]]
    print(f"\n{KILLS} kills: {ends}; {len(cut_off.watched())} processes watched, tries: {cut_off.tries()}")
    assert sum(ends.values()) == KILLS
    assert ends["lost"] >= KILLS / 4, "the moments were before the end of the fits"
    assert cut_off.tries() == []


@pytest.fixture
def mounted(tmp_path):
    folder = tmp_path / "mounted"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={MOUNTED_MB}m", "tmpfs", str(folder)]
    try:
        subprocess.run(mount, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no file system may be mounted here ({error}); tests/faults/test_disk_full.py has a limited disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(mounted, home, full):
    """Fill the disk, and keep what a running job has there from making room when it is removed."""
    (mounted / "held").mkdir()
    for number, path in enumerate(path for path in (home / "jobs").rglob("*") if path.is_file()):
        (mounted / "held" / str(number)).hardlink_to(path)
    with full.open("wb") as stream:
        stream.write(b"\0" * (shutil.disk_usage(mounted).free - LEFT_BYTES))


def test_a_result_is_shown_on_a_full_disk_and_kept_once_there_is_room(mounted, tmp_path, page):
    home, few = prepare(mounted)
    settings = settings_of_round(0)
    shutil.copytree(home, tmp_path / "home")
    wanted = expected(tmp_path / "home", few, [settings])[settings]
    cut_off, full = CutOff(tmp_path / "record"), mounted / "full"
    with dashboard(home, **cut_off.variables) as server:
        assert opened(page, address(server, few, settings)) == []
        find(page).click(no_wait_after=True)
        until(lambda: processes_of(home))  # the child has its data by then, and loads its libraries
        fill(mounted, home, full)
        assert finished(page) == wanted
        warning = page.get_by_text("is shown, but could not be kept: no room on the disk of")
        warning.first.wait_for(timeout=FIT_MS)
        assert opened(page, address(server, few, settings)) == wanted  # and it stays, for every visitor
        full.unlink()
        warning.first.wait_for(state="hidden", timeout=FIT_MS)
    with dashboard(home, **cut_off.variables) as server:
        assert opened(page, address(server, few, settings)) == wanted
        assert page.get_by_text("could not be kept").count() == 0
    assert cut_off.tries() == []
