"""Past jobs by words: equal to an obvious search in Python, and no text of a person is ever SQL."""

import pytest

from workprof.core.errors import ColumnMissing, NoRows, SettingsError
from workprof.store.reports import IngestOptions

pytestmark = pytest.mark.slow

TEXTS = ["Bert train", "bert/serve", "100%_done", "a\"b'c; DROP TABLE catalogue; --", "ünïcode BERT", "resnet"]
USERS = ["ann", "bob", "ann", "eve", "", "bob"]
COLUMNS = ["job_name", "user"]


def cell(text):
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture
def dataset(store, write):
    lines = [f"{cell(text)},{user},{i}" for i, (text, user) in enumerate(zip(TEXTS, USERS, strict=True), start=1)]
    path = write("jobs.csv", "\n".join(["job_name,user,duration_s", *lines]) + "\n")
    return store.ingest([path], IngestOptions()).hash


def slow(words):
    found = []
    for row, fields in enumerate(zip(TEXTS, USERS, strict=True)):
        if all(any(word.lower() in field.lower() for field in fields) for word in words.split()):
            found.append(row)
    return found


WORDS = ["", "bert", "BERT", "ann bert", "bob bert", "%", "_", "100%_", "'", '"', ";", "DROP TABLE", "ÜN", "nobody"]


def test_equal_to_the_obvious_search(store, dataset):
    for words in WORDS:
        found = store.search_jobs(dataset, COLUMNS, words, 50)
        assert found["row_id"].tolist() == slow(words), words
        assert list(found.columns) == ["row_id", *COLUMNS]


def test_a_number_finds_its_row_first(store, dataset):
    assert store.search_jobs(dataset, COLUMNS, "5", 50)["row_id"].tolist() == [5]
    assert store.search_jobs(dataset, COLUMNS, "100", 50)["row_id"].tolist() == [2]
    assert store.search_jobs(dataset, COLUMNS, "9" * 40, 50).empty


def test_the_limit_holds_and_bounds_are_said(store, dataset):
    assert len(store.search_jobs(dataset, COLUMNS, "", 2)) == 2
    for words, limit in (("", 0), ("", 201), ("a " * 9, 5), ("a" * 201, 5)):
        with pytest.raises(SettingsError, match=r"up to|1 to"):
            store.search_jobs(dataset, COLUMNS, words, limit)


def test_columns_are_those_of_the_dataset(store, dataset):
    with pytest.raises(ColumnMissing, match="evil"):
        store.search_jobs(dataset, ['evil" OR 1=1 --'], "bert", 5)


def test_every_finished_row_can_be_drawn_and_no_other(store, dataset):
    assert [store.nth_finished(dataset, position) for position in range(len(TEXTS))] == list(range(len(TEXTS)))
    with pytest.raises(NoRows, match="draw again"):
        store.nth_finished(dataset, len(TEXTS))


def test_only_finished_rows_are_found(store, write):
    lines = ["a,u,1,Terminated", "b,u,2,Failed", "c,u,3,Terminated"]
    path = write("jobs.csv", "\n".join(["job_name,user,duration_s,status", *lines]) + "\n")
    dataset = store.ingest([path], IngestOptions()).hash
    finished = store.frame(dataset, [])["row_id"].tolist()
    assert finished == [0, 2]
    assert store.search_jobs(dataset, COLUMNS, "u", 50)["row_id"].tolist() == finished
    assert store.search_jobs(dataset, COLUMNS, "1", 50).empty
    assert [store.nth_finished(dataset, position) for position in range(2)] == finished
