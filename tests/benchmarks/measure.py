"""What a benchmark returns, and how a side of it is run: a child process whose own peak memory is read at its end."""

import json
import subprocess
import sys
import textwrap
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

REPORT = """
import json as _json, resource as _resource
_own = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0])  # ru_maxrss starts at the parent's
_children = _resource.getrusage(_resource.RUSAGE_CHILDREN).ru_maxrss
print("\\n" + _json.dumps({"seconds": seconds, "mb": (_own + _children) * 1024 / 1e6, "told": told}))
"""


@dataclass(frozen=True)
class Measured:
    """ratio = reference / ours: times as fast. Sizes are peak resident memory in MB (1e6 bytes)."""

    ratio: float | None
    ours_s: float
    reference_s: float | None
    ours_mb: float | None
    reference_mb: float | None
    reference: str
    note: str = ""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Side:
    """One run of one side: seconds as it timed itself, peak MB, and what it told."""

    seconds: float
    mb: float
    told: dict[str, object]


def run_side(code: str, **environment: str) -> Side:
    """Run code that sets `seconds` (float) and `told` (dict) in a fresh Python process."""
    import os

    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code) + REPORT],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise RuntimeError(f"a benchmark side failed:\n{done.stderr[-2000:]}")
    answer = json.loads(done.stdout.strip().splitlines()[-1])
    return Side(answer["seconds"], answer["mb"], answer["told"])


def beside(ours: Side, theirs: Side, reference: str, note: str = "") -> Measured:
    return Measured(theirs.seconds / ours.seconds, ours.seconds, theirs.seconds, ours.mb, theirs.mb, reference, note)


def median(values: list[float]) -> float:
    ordered = sorted(values)
    return ordered[len(ordered) // 2]
