"""What a reader takes away."""

import io
import json

import pandas as pd

from tests.charts import records_for_tests as made
from tests.charts.test_data_charts import DATASET
from workprof.answers.profiles import summary_table
from workprof.charts.downloads import labels_table, model_card, parquet_bytes
from workprof.charts.profiles.overview import profile_names
from workprof.core.table import csv_bytes

NAMES = profile_names(made.fit(), made.NOTES)


def test_labels_have_one_line_per_row_and_survive_parquet():
    table = labels_table(made.fit(), NAMES)
    back = pd.read_parquet(io.BytesIO(parquet_bytes(table)))
    assert len(back) == 230
    assert list(back["row_id"]) == list(made.fit().row_ids)


def test_the_summary_has_one_line_per_group_with_its_definitions():
    table = summary_table(made.fit(mode="faithful"), NAMES).frame()
    assert list(table["profile"]) == [-1, 0, 1, 2]
    assert set(table["definitions"]) == {"published"}
    assert table["duration_p50_s"][0] == 3


def test_the_model_card_is_strict_json_with_settings_and_hash():
    card = json.loads(model_card(made.fit(), DATASET, NAMES))
    assert card["dataset"]["hash"] == DATASET.hash
    assert card["settings"]["seed"] == 0
    assert card["scores"]["truth_adjusted_rand"] is None
    assert len(card["profiles"]) == 4


def test_csv_does_not_run_formulas():
    text = csv_bytes(pd.DataFrame({"user": ["=HYPERLINK(1)", "ann"], "n": [-1, 2]})).decode()
    assert text.splitlines() == ["user,n", "'=HYPERLINK(1),-1", "ann,2"]
