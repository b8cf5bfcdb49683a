"""The mapping of a generic file on the Data page: loaded at once, asked with evidence, filled in again, saved."""

import json

from tests.pages.conftest import problems
from tests.pages.test_import import finish, upload
from workprof.store.reports import FieldSource

STEPS = "job,user,realtime\n" + "".join(f"j{at},u{at % 3},{50715 + at}\n" for at in range(30))
WRONG = "job,user,took\n" + "".join(f"j{at},u{at % 3},soon\n" for at in range(30))


def press(test, key):
    return next(button for button in test.button if button.key == key).click().run()


def captions(test):
    return " ".join(item.value for item in [*test.caption, *test.markdown])


def test_the_values_follow_the_unit_that_is_chosen(app, house):
    test = upload(app, house, "steps.csv", STEPS.encode())
    assert house().workbench.datasets() == ()
    assert "50715 → 50\\.7 s" in captions(test)
    assert "Check the unit: no unit" in captions(test)
    test.selectbox(key="map_unit_duration_s").set_value("s").run()
    assert "50715 → 14 h 05 min" in captions(test)
    test.selectbox(key="map_unit_duration_s").set_value("ms").run()
    press(test, "map_import")
    finish(test, house)
    assert house().workbench.ingest_report("steps").mapping["duration_s"] == {"from": "realtime", "unit": "ms"}


def test_a_failed_mapping_stays_with_the_first_reject_beside_its_field(app, house):
    test = upload(app, house, "wrong.csv", WRONG.encode())
    test.selectbox(key="map_duration_s").set_value("took").run()
    test.selectbox(key="map_unit_duration_s").set_value("h").run()
    press(test, "map_import")
    finish(test, house)
    assert any("all 30 rows were rejected" in text for text in problems(test))
    assert test.selectbox(key="map_duration_s").value == "took"
    assert test.selectbox(key="map_unit_duration_s").value == "h"
    assert "30 values cannot be read, the first at line 2: soon" in captions(test)
    press(test, "map_cancel")
    assert list((house().settings.home / "spool").glob("upload-*")) == []


def test_a_column_of_the_right_name_and_wrong_values_is_shown_with_the_first_of_them(app, house):
    test = upload(app, house, "wrong.csv", WRONG.replace("took", "runtime").encode())
    assert test.selectbox(key="map_duration_s").value == "runtime"
    assert "30 values cannot be read, the first at line 2: soon" in captions(test)
    assert house().workbench.datasets() == ()


NAMELESS = "user_ID,start,end\n" + "".join(f"{at % 3},{1.7e9 + at},{1.7e9 + at + 600}\n" for at in range(30))


def test_jobs_without_a_name_are_asked_whether_each_users_are_one_task(app, house):
    test = upload(app, house, "nameless.csv", NAMELESS.encode())
    assert any("no column is known to name the jobs" in one.value for one in test.info)
    assert test.selectbox(key="map_task_name").value == test.selectbox(key="map_user").value == "user_ID"
    press(test, "map_import")
    finish(test, house)
    assert house().workbench.datasets()[0].rows == 30


def test_a_saved_mapping_is_offered_for_the_same_columns(app, house):
    saved = {"job_name": FieldSource("job"), "duration_s": FieldSource("realtime", "s")}
    house().workbench.save_mapping("steps in seconds", saved)
    house().workbench.save_mapping("of other columns", {"job_name": FieldSource("elsewhere")})
    test = upload(app, house, "steps.csv", STEPS.encode())
    assert test.selectbox(key="map_saved").options == ["steps in seconds"]
    press(test, "map_use")
    assert test.selectbox(key="map_unit_duration_s").value == "s"
    assert test.selectbox(key="map_user").value == ""
    test.text_input(key="map_name").set_value("again").run()
    press(test, "map_save")
    assert {one.name: one.mapping for one in house().workbench.mappings()}["again"] == saved


def test_a_mapping_comes_from_json(app, house):
    test = upload(app, house, "steps.csv", STEPS.encode())
    told = {"task_name": {"from": "job"}, "duration_s": {"from": "realtime", "unit": "us"}}
    test.file_uploader(key="map_upload").upload("map.json", json.dumps(told).encode()).run()
    press(test, "map_from_json")
    assert (test.selectbox(key="map_task_name").value, test.selectbox(key="map_job_name").value) == ("job", "")
    assert test.selectbox(key="map_unit_duration_s").value == "us"
    wrong = {"duration_s": {"from": "nowhere"}}
    test.file_uploader(key="map_upload").upload("map.json", json.dumps(wrong).encode()).run()
    press(test, "map_from_json")
    assert any("nowhere" in text for text in problems(test))


def test_saved_mappings_are_renamed_and_removed(app, house):
    house().workbench.save_mapping("old", {"job_name": FieldSource("job")})
    test = app("data")
    next(field for field in test.text_input if field.key.startswith("mapping_new_")).set_value("new").run()
    press(test, "mapping_rename")
    assert [one.name for one in house().workbench.mappings()] == ["new"]
    press(test, "mapping_remove")
    assert house().workbench.mappings() == ()
    assert problems(test) == []
