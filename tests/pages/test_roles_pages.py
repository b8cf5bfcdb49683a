"""Roles on pages: what a role may not do is off and says why; the store refuses it whatever a page offers."""

import pytest

from pages._frame.visit import ADMINS, VIEWERS, open_home
from pages._login.login import Visitor
from tests.pages import whole_home
from tests.pages.conftest import problems, words
from workprof.core.errors import NotAllowed
from workprof.core.roles import Role


def told(test, label):
    """Return what the buttons of a label say about being off; '' = one is on."""
    found = [button for button in test.button if button.label == label]
    assert found, [button.label for button in test.button]
    return {button.help if button.disabled else "" for button in found}


@pytest.mark.parametrize(("role", "why"), [("viewer", VIEWERS), ("planner", ADMINS), ("admin", None)])
def test_data_is_imported_renamed_and_removed_by_admins(app, loaded, monkeypatch, role, why):
    monkeypatch.setenv("WORKPROF_ROLE", role)
    test = app("data", ds=loaded.hash)
    assert problems(test) == []
    assert told(test, "Rename") == told(test, "Remove") == {why or ""}
    assert ("datasets cannot be imported" in words(test)) == bool(why)
    assert bool(test.file_uploader) == (not why)
    alerts = words(app("data", ds=loaded.hash, data_alerts="true"))
    assert ("alerts cannot be added" in alerts) == bool(why)
    assert told(app("phases"), "Upload") == {why or ""}  # nothing is loaded there
    assert ("Add" in [button.label for button in test.button]) == (not why)
    assert ("Who did what" in [fold.label for fold in test.expander]) == (role == "admin")


@pytest.mark.parametrize(("role", "off"), [("viewer", True), ("planner", False)])
def test_a_planner_names_profiles_and_a_viewer_does_not(app, loaded, monkeypatch, role, off):
    monkeypatch.setenv("WORKPROF_ROLE", role)
    test = app("profiles", ds=loaded.hash)
    assert problems(test) == []
    assert bool(test.text_area) == (not off)


@pytest.mark.slow
def test_a_viewer_is_told_what_they_may_not_do_and_no_server_is_read_only(app, home, tmp_path_factory, monkeypatch):
    hashes = whole_home.make(home.parent, tmp_path_factory)
    monkeypatch.setenv("WORKPROF_ROLE", "viewer")
    without = VIEWERS.removesuffix(".")
    for page, parameters, refused in (
        ("classify", {"ds": hashes.jobs, "classify_tab": "Drift"}, "finished jobs cannot be added"),
        ("phases", {"ds": hashes.phases, "phases_tab": "Library"}, "the library cannot be changed here"),
    ):
        assert f"{without}: {refused}" in words(app(page, **parameters))
    plan = app("memory", ds=hashes.tasks)
    assert problems(plan) == []
    assert "Select rows" not in words(plan)
    monkeypatch.setenv("WORKPROF_ROLE", "planner")
    assert "Select rows" in words(app("memory", ds=hashes.tasks))


def test_each_role_has_a_home_of_its_own_and_none_can_be_talked_into_more(home, loaded):
    states = {role: open_home(Visitor("x", role)) for role in Role}
    assert len({id(state.workbench) for state in states.values()}) == 3
    for role, state in states.items():
        assert state.workbench.settings.role is role
        if role is not Role.ADMIN:
            task = state.ingests.start("a", [home / "nothing.csv"], None)
            assert "only an admin" in state.ingests.wait(task.key, 20).message
            with pytest.raises(NotAllowed):
                state.workbench.remove(loaded.hash)
    assert states[Role.ADMIN].workbench.datasets() == states[Role.VIEWER].workbench.datasets()
    states[Role.ADMIN].workbench.rename(loaded.hash, "another")  # beside two that read
    assert states[Role.VIEWER].workbench.dataset(loaded.hash).name == "another"
