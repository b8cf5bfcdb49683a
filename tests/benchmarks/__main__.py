"""`make bench`: speed and memory as ratios against a named reference, both run in this call.

Prints a table, writes build/bench.json, and says which ratios fell by more than a third against those that the
repository keeps (`kept_ratios.json`). BENCH=name,name runs some; KEEP=1 keeps the ratios of this run.
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
    "hdbscan_fit",
    "assign",
    "silhouette",
    "classifier_train",
    "shap_one_job",
    "forecast_all",
    "bins_search",
    "replay",
    "verdict",
    "schedule",
    "large",
    "demand",
    "changepoints",
    "fingerprints",
    "warping",
    "shapes",
    "nodes_train",
    "page_warm_p95",
    "page_cold",
    "page_browser",
    "page_refreshing",
    "refresh",
    "report",
    "service",
    "import_workprof",
    "cold_command",
)

KEPT = Path(__file__).with_name("kept_ratios.json")
FALLEN = 2 / 3
"""Below this share of the kept ratio, what is ours became slower, or the reference faster."""


def compared(ratios: dict[str, float | None], kept: dict[str, float]) -> list[str]:
    """Return a line for each ratio that fell by more than a third, and one for those that nothing is kept of."""
    found = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    lines = [
        f"{name} fell from {kept[name]:g} to {ratio:.3g} times the reference ({1 - ratio / kept[name]:.0%} less)"
        for name, ratio in found.items()
        if name in kept and ratio < FALLEN * kept[name]
    ]
    new = [name for name in found if name not in kept]
    lines += [f"not compared, as no ratio is kept: {', '.join(new)} (KEEP=1 keeps them)"] if new else []
    if not lines and found:
        lines = [f"no ratio fell by more than a third of what is kept ({len(found)} compared)"]
    return lines


def keep(ratios: dict[str, float | None], kept: dict[str, float]) -> dict[str, float]:
    """Return what is to be kept: the ratios of this run in three digits, the others as they are."""
    return dict(sorted((kept | {name: float(f"{one:.3g}") for name, one in ratios.items() if one is not None}).items()))


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
    ratios, before = {name: one["ratio"] for name, one in results.items()}, json.loads(KEPT.read_text())
    print("\n".join(compared(ratios, before)))
    if os.environ.get("KEEP") == "1":
        KEPT.write_text(json.dumps(keep(ratios, before), indent=2) + "\n")


if __name__ == "__main__":
    main()
