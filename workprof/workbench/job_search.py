"""Questions about past jobs as examples: found by words, drawn at random."""

from __future__ import annotations

import numpy as np
import pandas as pd

from workprof.core.errors import ColumnMissing
from workprof.forecasts.encoder import METADATA_FIELDS
from workprof.workbench.forecasts import ForecastQuestions


class JobSearchQuestions(ForecastQuestions):
    """The questions that pick a job on the Classify page."""

    def search_jobs(self, dataset: str, text: str, limit: int = 20) -> pd.DataFrame:
        """Return finished jobs with `row_id` and their metadata whose fields hold every word of a text.

        A whole number also finds the row of that number, as the first.

        Raises:
            ColumnMissing: when the dataset has no metadata to search.
            SettingsError: when the limit or the text is out of bounds.
        """
        entry = self._jobs_of(dataset)
        present = {column.name for column in self._store.columns(entry.hash) if not column.numeric}
        fields = [name for name in METADATA_FIELDS if name in present]
        if not fields:
            raise ColumnMissing(f"dataset {entry.name} has none of {', '.join(METADATA_FIELDS)}; nothing to search in")
        return self._store.search_jobs(entry.hash, fields, text, limit)

    def random_job(self, dataset: str, seed: int) -> int:
        """Return the row id of a finished job drawn with a seed.

        Raises:
            NoRows: when the dataset has no finished job.
        """
        entry = self._jobs_of(dataset)
        position = int(np.random.default_rng(seed).integers(max(entry.finished_rows, 1)))
        return self._store.nth_finished(entry.hash, position)
