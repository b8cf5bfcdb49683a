"""Where the real traces lie: beside the checkout, never in it. Tests that need them say so where they are absent."""

from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data"
PAI_SAMPLE = FOLDER / "pai" / "pai_sample_dev.csv"

needs_shared_data = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared/data is not beside this checkout")
