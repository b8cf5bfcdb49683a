"""Alerts and the digest on the Data page: what commands say, and nothing is sent."""

from tests.pages.conftest import problems
from tests.pages.test_sources_section import button
from workprof.answers.changes import changes_sentence
from workprof.answers.digest import digest_text
from workprof.watch.digest import letters_of


def test_an_alert_is_added_looked_at_and_removed(app, loaded, house):
    test = app("data", data_alerts="true")
    assert problems(test) == []
    test.text_input(key="data_alert_name").set_value("waste").run()
    test.text_input(key="data_alert_when").set_value("unused_share > 50 %").run()
    button(test, "data_alert_add").click().run()
    assert problems(test) == []
    assert "1 of 1 alert fired: waste." in [one.value.replace("\\", "") for one in test.markdown]
    assert house().workbench.alerts()[0].limit == 0.5
    test.text_input(key="data_alert_when").set_value("nothing > 1").run()
    button(test, "data_alert_add").click().run()
    assert any("no number is called" in words for words in problems(test))
    button(test, "data_alert_remove").click().run()
    assert house().workbench.alerts() == ()


def test_the_digest_is_shown_as_plain_text(app, loaded, house):
    test = app("data", data_digest="true")
    assert problems(test) == []
    letters, _ = letters_of(house().workbench, loaded.hash)
    (shown,) = [one.value for one in test.code if one.value.startswith("What changed in ")]
    assert shown.strip() == digest_text(letters).strip()
    assert changes_sentence(house().workbench.changes(loaded.hash)) in shown
    assert house().workbench.told_before() == {}
