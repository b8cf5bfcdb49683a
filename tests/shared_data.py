"""Where the real traces lie: beside the checkout or where WORKPROF_REAL_DATA says, never in it."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("WORKPROF_REAL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
PAI_SAMPLE = FOLDER / "pai" / "pai_sample_dev.csv"

needs_shared_data = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"{FOLDER} is absent")

CASES = FOLDER.parent / "cases"
"""Small inputs after public reports, each with what is right of it."""

needs_cases = pytest.mark.skipif(not CASES.is_dir(), reason=f"{CASES} is absent")
