from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from workprof.synthetic.pai import write_pai_sample
from workprof.synthetic.pai_behaviours import MEMORY_STEP, SAMPLE_COLUMNS

BUNDLED = Path(__file__).parents[2] / "data" / "sample" / "pai_sample.parquet"
ROWS, SEED = 15_000, 0


def test_bundled_sample_is_small() -> None:
    assert 1_000_000 < BUNDLED.stat().st_size < 3_000_000


def test_bundled_sample_is_what_the_generator_makes(tmp_path: Path) -> None:
    write_pai_sample(tmp_path / "sample.parquet", ROWS, seed=SEED)
    made, bundled = pd.read_parquet(tmp_path / "sample.parquet"), pd.read_parquet(BUNDLED)
    assert made.dtypes.equals(bundled.dtypes)
    for name in made.columns:
        if made[name].dtype.kind != "f":
            assert made[name].equals(bundled[name]), name
            continue
        # Processors round exponentials differently in the last place, which may move a value by one step.
        step = {"end_time": 1.0, "max_mem": MEMORY_STEP, "avg_mem": MEMORY_STEP}.get(name, 0.0)
        np.testing.assert_allclose(made[name], bundled[name], rtol=1e-6, atol=step, err_msg=name)


def test_readme_names_the_command() -> None:
    text = (BUNDLED.parents[1] / "README.md").read_text(encoding="utf-8")
    assert f"workprof synth pai --rows {ROWS} -o data/sample/pai_sample.parquet --seed {SEED}" in text
    assert "Apache-2.0" in text


@pytest.mark.parametrize("column", SAMPLE_COLUMNS)
def test_readme_describes_every_column(column: str) -> None:
    assert f"`{column}`" in (BUNDLED.parents[1] / "README.md").read_text(encoding="utf-8")
