"""Every control stands in the address, and an address opens the same page on a cold server: all pages, all views."""

import ast
import fnmatch
import re
import shutil

import pytest
import streamlit as st

from tests.pages import addresses, whole_home
from tests.pages.all_views import KEPT_PHASES, NOT_IN_THE_ADDRESS, OTHER_PROFILES, View, unfolded, views
from tests.pages.conftest import ROOT, problems

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    return folder / "home", whole_home.make(folder, tmp_path_factory)


@pytest.fixture
def hashes(home, whole):
    shutil.copytree(whole[0], home)
    return whole[1]


def first_or_soak(found):
    """Return the views, all but the first of each page to be soaked only."""
    seen, marked = set(), []
    for view in found:
        marked.append(pytest.param(view, marks=pytest.mark.soak) if view.page in seen else view)
        seen.add(view.page)
    return marked


EVERY = first_or_soak(views())


def excused(name):
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in NOT_IN_THE_ADDRESS)


@pytest.mark.some(3)
@pytest.mark.parametrize("view", EVERY, ids=repr)
def test_a_changed_view_opens_the_same_from_its_address_on_a_cold_server(app, hashes, view):
    warm = app(view.page, **view.parameters(hashes))
    assert not warm.exception
    unbound = {control.name for control in addresses.controls(warm) if not control.bound}
    assert {name for name in unbound if not excused(name)} == set()
    if addresses.change(warm, lambda name: any(fnmatch.fnmatchcase(name, pattern) for pattern in view.keep)):
        warm.run()
    parameters = addresses.address(warm)
    st.cache_resource.clear()
    cold = app(view.page, **parameters)
    if view.page == "home":  # the driver's second run of the first page has no menu
        cold.run()
    assert problems(cold) == problems(warm)
    assert addresses.values(cold) == addresses.values(warm)
    assert addresses.shown(cold) == addresses.shown(warm)


BINDABLE = {"selectbox", "multiselect", "radio", "slider", "select_slider", "number_input", "text_input", "text_area"}
BINDABLE |= {"date_input", "time_input", "checkbox", "toggle", "pills", "segmented_control", "pagination"}


def unbound_in(path):
    """Yield the key of every control of a page's source that does not name the address, '*' for parts made up."""
    tree = ast.parse(path.read_text())
    by_hand = {  # these write the address themselves: test_worded_choices
        node
        for function in ast.walk(tree)
        if isinstance(function, ast.FunctionDef) and path.name == "controls.py" and function.name.startswith("worded")
        for node in ast.walk(function)
    }
    for node in set(ast.walk(tree)) - by_hand:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in BINDABLE:
            words = {word.arg: word.value for word in node.keywords}
            if "bind" not in words:
                yield _key(words.get("key"), path)


def _key(node, path):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    if isinstance(node, ast.Name):
        return next(
            value.value
            for line in ast.parse(path.read_text()).body
            if isinstance(line, ast.Assign)
            for value, name in _named(line)
            if name == node.id
        )
    return "?"


def _named(line):
    targets = line.targets[0]
    if isinstance(targets, ast.Tuple):
        return zip(line.value.elts, (target.id for target in targets.elts), strict=True)
    return [(line.value, getattr(targets, "id", ""))]


def test_every_control_of_the_source_is_bound_or_has_its_reason():
    found = {(path.name, key) for path in sorted((ROOT / "pages").rglob("*.py")) for key in unbound_in(path)}
    assert len(found) > 5
    known = {(name, "memory_keep_x_name" if key == "x_name" else key) for name, key in found}
    assert {pair for pair in known if not excused(pair[1])} == set()


@pytest.fixture
def page(app, hashes):
    def opened(name, tab="", **given):
        return app(name, **View(name, tab, given).parameters(hashes))

    return opened


def selected(test):
    found = [item.value for item in test.markdown if item.value.endswith("runs selected**")]
    return int(found[0].strip("*").split()[0].replace(",", ""))


def told(test):
    return " ".join(str(item.value) for item in (*test.markdown, *test.caption, *test.info, *test.warning))


def pressed(test, key):
    test.button(key=key).click().run()
    assert problems(test) == []
    return test


def title(test):
    return test.title[0].value


def test_a_card_leads_to_its_jobs(page, hashes):
    test = page("profiles", "Profile")
    badges = (re.search(r"\[([\d,]+) runs · .*%", item.value) for item in test.markdown)
    size = int(next(found for found in badges if found)[1].replace(",", ""))
    first = next(button.key for button in test.button if button.label == "Jobs")
    pressed(test, first)
    assert selected(test) == size
    assert test.session_state["profiles_tab"] == "Map"


def test_a_card_leads_to_durations_memory_and_nodes(page, hashes):
    test = pressed(page("profiles", "Profile", **OTHER_PROFILES), "profiles_link_0_0")
    assert title(test) == "Durations"
    assert test.selectbox(key="durations_by").value == "profile"
    assert f"{whole_home.OTHER_SIZE} rows" in test.selectbox(key="durations_clustering").value
    test = pressed(page("profiles", "Profile"), "profiles_link_0_1")
    assert title(test) == "Memory"
    assert test.selectbox(key="memory_task").value != "all tasks"
    assert test.selectbox(key="memory_profile").value.endswith(" (P0)")
    assert not [item for item in test.warning if "in the link could not be read" in item.value]
    test = pressed(page("profiles", "Profile", profiles_profile="1"), "profiles_link_1_2")
    assert title(test) == "Nodes"
    assert test.query_params["ds"] in (hashes.nodes, [hashes.nodes])
    assert test.selectbox(key="nodes_profile").value == "1"
    assert "part (" in test.selectbox(key="nodes_jobs").value


def test_nodes_are_advised_for_other_profiles_than_the_first(page):
    test = pressed(page("profiles", "Profile", **OTHER_PROFILES), "profiles_link_0_2")
    assert title(test) == "Nodes"
    assert f"{whole_home.OTHER_SIZE} rows" in test.selectbox(key="nodes_clustering").value


def test_a_classified_job_leads_to_its_profile_and_to_durations(page, hashes):
    test = pressed(page("classify", "One job", classify_job="7"), "classify_to_profile")
    assert title(test) == "Profiles"
    assert selected(test) > 0
    test = pressed(page("classify", "One job", classify_job="7"), "classify_to_durations")
    assert title(test) == "Durations"
    assert "links" not in told(test)


def test_a_link_opens_what_it_says_whatever_the_page_was_set_to_before(page, hashes):
    test = page("profiles", "Profile")
    test.selectbox(key="profiles_scaler").set_value("standard")
    next(button for button in test.button if button.label.startswith("Find profiles with")).click().run()
    assert test.selectbox(key="profiles_scaler").value == "standard"
    test.switch_page("pages/runs.py").run()
    test.selectbox(key="runs_step").set_value("profiles.fit").run()
    kept = test.selectbox(key="runs_run")
    kept.select_index(len(kept.options) - 1).run()  # the oldest: what was begun above may be there by now
    pressed(test, "runs_open")
    assert title(test) == "Profiles"
    assert test.selectbox(key="profiles_scaler").value == "power"


@pytest.mark.soak
def test_a_match_leads_to_the_run_of_the_library(page):
    test = page("phases", "Match", **KEPT_PHASES)
    name = test.selectbox(key="phases_over").options[1]
    test.selectbox(key="phases_over").set_value(name).run()
    pressed(test, "phases_open_entry")
    assert test.selectbox(key="phases_run").value == name
    assert test.session_state["phases_tab"] == "Timeline"


RESET = {
    "profiles": ("Box plots", {"profiles_seed": "3", "profiles_box_order": "size"}),
    "classify": ("Model", {"classify_seed": "3", "classify_coverage": "80"}),
    "durations": ("Observed", {"durations_percentile": "50", "durations_log": "false"}),
    "sweep": ("Ranking", {"sweep_seed": "3", "sweep_mode": "faithful"}),
    "memory": ("Bins", {"memory_headroom": "25", "memory_k": "4"}),
    "nodes": ("Ranking", {"nodes_w_cpu": "3", "nodes_prices": "calm=0.5"}),
    "phases": ("Timeline", {"phases_from": "2", "phases_to": "9", "phases_least": "3"}),
}


@pytest.mark.some(3)
@pytest.mark.parametrize("name", RESET)
def test_reset_sets_every_control_back_and_leaves_dataset_and_view(page, name):
    tab, given = RESET[name]
    usual = page(name, tab, **dict.fromkeys(unfolded(name), "false"))  # folded sections are closed, too
    test = page(name, tab, **given)
    assert addresses.values(test) != addresses.values(usual)
    pressed(test, f"{name}_reset")
    assert addresses.values(test) == addresses.values(usual)
    left = {key for key in test.query_params if key.startswith(f"{name}_")}
    assert left <= {f"{name}_tab"}
    assert test.session_state[f"{name}_tab"] == tab
