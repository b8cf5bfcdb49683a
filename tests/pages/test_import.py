"""Loading through the Data page: upload, data folder, mapping, bad files, cancel, the same file again."""

import gzip
import time

import pytest

from tests.pages.conftest import problems
from workprof.inputs import chosen_file, listed_files, safe_name, spool_upload
from workprof.store.reports import IngestOptions

JOBS = "name,seconds,mem\n" + "".join(f"job{i},{i + 1},{i * 100}\n" for i in range(50))


def import_button(test):
    return next(button for button in test.button if button.key == "data_import")


def finish(test, house):
    end = time.monotonic() + 30
    while any(view.active for view in house().ingests.views()) and time.monotonic() < end:
        time.sleep(0.05)
    return test.run()


def upload(app, house, name, data):
    test = app("data")
    test.file_uploader(key="data_upload_0").upload(name, data).run()
    import_button(test).click().run()
    return finish(test, house)


def test_a_file_of_unknown_columns_is_mapped_and_loaded(app, house):
    test = upload(app, house, "my jobs.csv", JOBS.encode())
    assert problems(test) == []
    test.selectbox(key="map_job_name").set_value("name")
    test.selectbox(key="map_duration_s").set_value("seconds").run()
    next(button for button in test.button if button.key == "map_import").click().run()
    finish(test, house)
    assert problems(test) == []
    entry = house().workbench.datasets()[0]
    assert (entry.rows, entry.format) == (50, "generic")
    assert list((house().settings.home / "spool").glob("upload-*")) == []


def test_nothing_is_mapped_before_the_user_says_so(app, house):
    test = upload(app, house, "jobs.csv", JOBS.encode())
    assert house().workbench.datasets() == ()
    next(button for button in test.button if button.key == "map_cancel").click().run()
    assert problems(test) == []
    assert house().workbench.datasets() == ()
    assert list((house().settings.home / "spool").glob("upload-*")) == []


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("header.csv", b"job_name,duration_s\n"),
        ("broken.csv.gz", gzip.compress(b"a,b\n1,2\n", mtime=0)[:-6]),
        ("../../escape.parquet", b"PAR1 not really"),
    ],
)
def test_a_bad_file_ends_in_a_message_and_leaves_nothing(app, house, home, name, data):
    test = upload(app, house, name, data)
    assert test.exception.len == 0
    assert house().workbench.datasets() == ()
    for button in [button for button in test.button if button.key == "map_cancel"]:  # a header alone can be mapped
        button.click().run()
    assert list((house().settings.home / "spool").glob("upload-*")) == []
    outside = [path for path in home.parent.rglob("*escape*") if not path.is_relative_to(home)]
    assert outside == []


def test_lost_lines_stand_above_the_dataset_and_a_broken_quote_is_refused(app, house, tmp_path):
    rows = [f"j{at},{at},n{at}" for at in range(300)]
    rows[9], rows[99] = '"a, b",1,x', '"j99,5,x'
    text = "\n".join(["job_name,duration_s,note", *rows]) + "\n"
    test = upload(app, house, "open.csv", text.encode())
    for button in [button for button in test.button if button.key == "map_import"]:
        button.click().run()
        finish(test, house)
    assert any("opens in line 101 " in message for message in problems(test))
    assert house().workbench.datasets() == ()
    (tmp_path / "open.csv").write_text(text)
    lost = house().workbench.ingest([tmp_path / "open.csv"], IngestOptions(accept_loss=True)).lost
    test = app("data")
    assert problems(test) == []
    assert [item.value.partition(":")[0] for item in test.warning] == [f"{lost} lines lost"]


def test_the_data_folder_is_offered_and_cannot_be_left(app, house, tmp_path):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "jobs.csv").write_text(JOBS)
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    (folder / "link.csv").symlink_to(tmp_path / "secret.csv")
    assert listed_files(folder) == ("jobs.csv",)
    for outside in ("../secret.csv", "link.csv", "absent.csv", "/etc/passwd"):
        with pytest.raises(Exception, match="not in the data folder"):
            chosen_file(folder, outside)
    test = app("data")
    test.segmented_control(key="data_source").set_value("Data folder").run()
    test.selectbox(key="data_file").set_value("jobs.csv").run()
    import_button(test).click().run()
    assert problems(test) == []
    assert (folder / "jobs.csv").is_file()


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("..\\..\\x.csv", "x.csv"),
        ("trace iwd.CSV.gz", "trace_iwd.csv.gz"),
        ("a\x00b\n.parquet", "a_b.parquet"),
        (".hidden", "hidden"),
        ("", "upload"),
        ("x" * 500 + ".csv", "x" * 60 + ".csv"),
    ],
)
def test_names_of_uploads_become_names_of_ours(given, kept):
    assert safe_name(given) == kept


def test_an_upload_is_spooled_below_the_home(tmp_path):
    with (tmp_path / "given").open("wb+") as stream:
        stream.write(b"x" * 3_000_000)
        spooled = spool_upload(stream, "../given.csv", tmp_path / "home")
    assert spooled.path.is_relative_to(tmp_path / "home" / "spool")
    assert spooled.path.stat().st_size == 3_000_000
