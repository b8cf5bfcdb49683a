"""The encoder: pooled values, states of their own for what is missing or new, and merged rows."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from tests.forecasts.metadata import small_table
from workprof.core.errors import ColumnMissing, TraceError
from workprof.core.records import pack, unpack
from workprof.forecasts.encoder import (
    MetadataEncoder,
    distinct_rows,
    encode,
    fit_encoder,
    is_seen,
    merge_rows,
    read_fields,
    sum_by_field,
    to_matrix,
    training_rows,
)

TRAIN = pd.DataFrame(
    {
        "user": ["a", "a", "a", "b", "b", "c", None],
        "task_name": ["ps", "ps", "ps", "worker", "worker", "worker", "worker"],
        "instances": [1.0, 2.0, np.nan, 4.0, 4.0, 4.0, 4.0],
    }
)
FIELDS = ("user", "task_name", "instances")


def test_frequent_values_stand_alone_and_the_others_have_states():
    encoder = fit_encoder(TRAIN, FIELDS, "corrected", 2)
    user, task = encoder.categories
    assert (user.kept, user.rare, user.not_given_rows) == (("a", "b"), ("c",), 1)
    assert (task.kept, task.rare) == (("worker", "ps"), ())
    assert (encoder.numbers[0].lowest, encoder.numbers[0].highest) == (1.0, 4.0)
    asked = pd.DataFrame({"user": ["b", "c", None, "new"], "task_name": ["ps"] * 4, "instances": [3, None, 1, 2]})
    rows = encode(encoder, asked)
    assert [user.label(code) for code in rows.codes[:, 0]] == ["b", "rare", "not given", "unseen"]
    assert np.isnan(rows.numbers[1, 0])
    assert is_seen(encoder, rows)[:, 0].tolist() == [True, True, True, False]
    matrix = to_matrix(encoder, rows)
    assert matrix.shape == (4, len(encoder.column_names))
    lit = [{encoder.column_names[j]: v for j, v in zip(row.indices, row.data, strict=True)} for row in matrix]
    assert lit[0] == {"user = b": 1, "task_name = ps": 1, "instances": 3}
    assert lit[1] == {"user = rare": 1, "task_name = ps": 1}
    assert lit[3] == {"user = unseen": 1, "task_name = ps": 1, "instances": 2}


def test_counted_rows_and_categories_give_the_recipe_of_all_rows():
    jobs = small_table()[["job_name", "user", "group", "task_name"]].sample(400, random_state=1, replace=True)
    fields, targets = tuple(jobs.columns), np.arange(400) % 3
    wanted = fit_encoder(jobs, fields, "corrected", 4)
    places, first = distinct_rows(read_fields(jobs, fields), targets)
    assert len(first) < 400
    assert (targets[first][places] == targets).all()
    assert jobs.iloc[first[places]].equals(jobs.iloc[first].iloc[places])
    counts = np.bincount(places)
    for table in (jobs, jobs.astype("category")):
        held = table.iloc[first]
        assert fit_encoder(held, fields, "corrected", 4, counts) == wanted
        assert fit_encoder(read_fields(table, fields).take(first), fields, "corrected", 4, counts) == wanted
        np.testing.assert_array_equal(
            encode(wanted, read_fields(table, fields).take(first)).codes, encode(wanted, held).codes
        )
        plain = training_rows(wanted, encode(wanted, jobs), targets)
        counted = training_rows(wanted, encode(wanted, held), targets[first], counts)
        np.testing.assert_array_equal(counted.rows.codes, plain.rows.codes)
        np.testing.assert_array_equal(counted.weights, plain.weights)
    few = jobs.astype("category").iloc[:30]  # categories without a row are no values
    assert fit_encoder(few, fields, "corrected", 2) == fit_encoder(jobs.iloc[:30], fields, "corrected", 2)


def test_not_given_is_unseen_where_training_always_had_a_value():
    encoder = fit_encoder(TRAIN, FIELDS, "corrected", 1)
    assert is_seen(encoder, encode(encoder, pd.DataFrame({"user": [None]})))[0].tolist() == [True, False]


def test_faithful_is_the_plain_one_hot_with_unknowns_as_zeros():
    jobs = small_table()
    fields = ("job_name", "user", "task_name", "group")
    train, test = jobs.iloc[:250], jobs.iloc[250:]
    encoder = fit_encoder(train, fields, "faithful", 1)
    plain = OneHotEncoder(handle_unknown="ignore").fit(train[list(fields)])
    ours = to_matrix(encoder, encode(encoder, test)).toarray()
    theirs = plain.transform(test[list(fields)]).toarray()
    names = [f"{field} = {value}" for field, values in zip(fields, plain.categories_, strict=True) for value in values]
    place = [encoder.column_names.index(name) for name in names]
    assert np.array_equal(ours[:, place], theirs)
    assert ours.sum() == theirs.sum()


def test_numbers_as_names_are_the_same_value_as_their_text():
    encoder = fit_encoder(pd.DataFrame({"user": [1, 1, 2]}), ("user",), "corrected", 1)
    assert encode(encoder, pd.DataFrame({"user": ["1", "2", "3"]})).codes[:, 0].tolist() == [0, 1, 4]
    mixed = fit_encoder(pd.DataFrame({"user": pd.Series([1, "1", 2], dtype=object)}), ("user",), "corrected", 2)
    assert mixed.categories[0].kept == ("1",)
    floats = pd.DataFrame({"user": [1.0, np.nan, 2.0]})  # a column of integers where one is missing
    assert encode(encoder, floats).codes[:, 0].tolist() == [0, len(encoder.categories[0].kept) + 1, 1]


def test_the_recipe_is_kept_as_a_record():
    encoder = fit_encoder(TRAIN, FIELDS, "corrected", 2)
    packed = pack(encoder)
    assert not packed.arrays
    assert unpack(MetadataEncoder, packed) == encoder


def test_sums_by_field_are_those_of_their_columns():
    encoder = fit_encoder(TRAIN, FIELDS, "corrected", 2)
    values = np.random.default_rng(0).normal(size=(3, len(encoder.column_names)))
    expected = [
        [sum(v for v, name in zip(row, encoder.column_names, strict=True) if name.startswith(f)) for f in FIELDS]
        for row in values
    ]
    assert np.allclose(sum_by_field(encoder, values), expected)


def test_merging_keeps_every_row_and_its_weight():
    jobs = small_table()
    encoder = fit_encoder(jobs, ("task_name", "user", "requested_gpu_percent"), "corrected", 3)
    rows, targets = encode(encoder, jobs), (jobs["profile"] + 1).to_numpy()
    merged = merge_rows(rows, targets, np.ones(len(jobs)))
    keys = jobs.groupby(["task_name", "user", "requested_gpu_percent", "profile"], dropna=False).size()
    assert sorted(merged.weights) == sorted(keys)
    shown = training_rows(encoder, rows, targets)
    assert np.isclose(shown.weights.sum(), len(jobs))
    table = np.column_stack([targets, rows.codes, np.nan_to_num(rows.numbers, nan=np.inf)])  # missing comes last
    distinct, counts = np.unique(table, axis=0, return_counts=True)
    found = np.column_stack([merged.targets, merged.rows.codes, np.nan_to_num(merged.rows.numbers, nan=np.inf)])
    assert np.array_equal(found, distinct)
    assert np.array_equal(merged.weights, counts)


def test_hidden_copies_show_new_jobs_to_the_trees():
    jobs = small_table()
    encoder = fit_encoder(jobs, ("job_name", "group", "task_name"), "corrected", 2)
    shown = training_rows(encoder, encode(encoder, jobs), np.zeros(len(jobs), dtype=np.int64))
    job, group, task = encoder.categories
    unseen = [shown.weights[shown.rows.codes[:, i] == v.width - 1].sum() for i, v in enumerate((job, group, task))]
    assert np.allclose(unseen, [2 / 3 * len(jobs), len(jobs) / 3, 0])


def test_bad_tables_are_told():
    encoder = fit_encoder(TRAIN, FIELDS, "corrected", 2)
    with pytest.raises(ColumnMissing, match="none of the classifier's fields; give at least one of user, task_name"):
        encode(encoder, pd.DataFrame({"colour": ["red"]}))
    with pytest.raises(TraceError, match="instances holds 'many' in 1 row"):
        encode(encoder, pd.DataFrame({"instances": pd.Series([1, "many"], dtype=object)}))
    far = encode(encoder, pd.DataFrame({"instances": [1e300, -np.inf]}))
    assert np.isnan(far.numbers[0, 0])
