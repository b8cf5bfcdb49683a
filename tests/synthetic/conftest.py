import pandas as pd
import pytest

from workprof.synthetic.pai import write_pai_sample


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> pd.DataFrame:
    """30,000 rows: enough for every calibrated share, and quick."""
    path = tmp_path_factory.mktemp("pai") / "sample.parquet"
    write_pai_sample(path, 30_000, seed=1)
    return pd.read_parquet(path).assign(duration=lambda rows: rows.end_time - rows.start_time)
