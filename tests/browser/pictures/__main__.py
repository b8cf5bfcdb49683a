"""`python -m tests.browser.pictures` takes the pictures of the README anew, from the bundled samples."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.browser.conftest import ARGUMENTS, CHROMIUM, ROOT, SAMPLE, Visitor, running_server
from tests.browser.pictures import FOLDER, LARGEST_BYTES, PICTURES, photograph
from tests.pages.whole_home import Hashes
from workprof.core.settings import from_environment
from workprof.forecasts.forecaster import ForecasterSettings
from workprof.workbench import Workbench

SAMPLES = ROOT / "data" / "sample"
PART_ROWS = 500


def sampled():
    """Load the bundled samples and cluster the jobs; return the hashes by the page that is taken.

    The classifier is trained on a part of the jobs: its picture does not need all of them.
    """
    with Workbench(from_environment()) as workbench:
        nodes = workbench.ingest([SAMPLES / "benchmarks.jsonl"]).hash
        phases = workbench.ingest([SAMPLES / "telemetry.csv"]).hash
        jobs = workbench.ingest([SAMPLE]).hash
        workbench.profiles(jobs)
        workbench.verdict(jobs)
        part = workbench.sample(jobs, "workload", PART_ROWS, "part").dataset
        part = workbench.dataset(part).hash
        workbench.forecaster(part, ForecasterSettings())
    whole = Hashes(jobs, jobs, nodes, phases)
    return {picture.page: whole for picture in PICTURES} | {"classify": replace(whole, jobs=part)}


def take(server, hashes):
    """Write every picture, and refuse one that is too large for a README."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        visitor = Visitor(browser.new_page(), server.url)
        for picture in PICTURES:
            taken = photograph(visitor, picture, hashes[picture.page])
            if len(taken) > LARGEST_BYTES:
                raise SystemExit(f"{picture.name} has {len(taken):,} bytes; at most {LARGEST_BYTES:,} are allowed")
            (FOLDER / picture.name).write_bytes(taken)
            print(f"{picture.name}: {len(taken):,} bytes", flush=True)
        browser.close()


def main():
    """Take the pictures on a home of their own."""
    with tempfile.TemporaryDirectory(prefix="workprof-pictures-") as folder:
        home = Path(folder) / "home"
        os.environ["WORKPROF_HOME"] = str(home)
        hashes = sampled()
        with running_server(home) as server:
            take(server, hashes)


if __name__ == "__main__":
    main()
