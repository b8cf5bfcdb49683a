"""`make bench`: speed and memory as ratios against a named reference, both run in this call.

Prints a table and writes build/bench.json. BENCH=name,name runs some.
"""

import importlib
import json
import os
import sys
from pathlib import Path

from tests.benchmarks.measure import Measured

ROOT = Path(__file__).resolve().parents[2]
NAMES = (
    "ingest_tables",
    "ingest_csv",
    "sweep",
    "sweep_exact",
    "sweep_paper",
    "recut",
    "silhouette",
    "classifier_train",
    "shap_one_job",
    "bins_search",
    "replay",
    "changepoints",
    "fingerprints",
    "nodes_train",
    "page_warm_p95",
    "page_cold",
    "page_browser",
    "service",
    "import_workprof",
)


def chosen() -> list[str]:
    asked = [name.strip() for name in os.environ.get("BENCH", "").split(",") if name.strip()]
    unknown = sorted(set(asked) - set(NAMES))
    if unknown:
        sys.exit(f"BENCH names {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return asked or list(NAMES)


def cell(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def main() -> None:
    results: dict[str, dict[str, object]] = {}
    print(f"{'name':18} {'ratio':>7} {'ours s':>9} {'ref. s':>9} {'ours MB':>9} {'ref. MB':>9}  reference")
    for name in chosen():
        measured: Measured = importlib.import_module(f"tests.benchmarks.{name}").run()
        results[name] = measured.as_json()
        print(
            f"{name:18} {cell(measured.ratio, 2):>7} {cell(measured.ours_s, 2):>9} {cell(measured.reference_s, 2):>9}"
            f" {cell(measured.ours_mb, 0):>9} {cell(measured.reference_mb, 0):>9}  {measured.reference}",
            flush=True,
        )
        if measured.note:
            print(f"{'':18} {measured.note}", flush=True)
    target = ROOT / "build" / "bench.json"
    target.parent.mkdir(exist_ok=True)
    kept = json.loads(target.read_text()) if target.exists() else {}
    target.write_text(json.dumps(kept | results, indent=2) + "\n")


if __name__ == "__main__":
    main()
