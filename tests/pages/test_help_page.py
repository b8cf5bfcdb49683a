"""The Help page: every view, the search, texts that agree with the code, diagnostics that name nobody."""

import getpass
import platform

import pytest

from tests.pages.conftest import problems, words
from workprof.answers.help.methods import DEFINITIONS, KEYS, LIMITS, MEASURED, METHODS, rule_table
from workprof.answers.help.settings import setting_lines
from workprof.answers.help.terms import TERMS, matching_terms, meaning_of
from workprof.core.errors import SettingsError
from workprof.core.settings import from_environment
from workprof.formats import FORMATS, MEASUREMENTS, NAMES, TABLES, rules_of
from workprof.formats.fields import DESCRIPTIONS, JOB_FIELDS
from workprof.profiles.settings import default_min_cluster_size
from workprof.workbench import Workbench
from workprof.workbench.datasets import diagnostics
from workprof.workbench.declared import DECLARED

VIEWS = ("Glossary", "Settings", "Methods", "As published", "Formats", "Limits and shortcuts", "Diagnostics")
WORDS_OF_THE_HOUSE = (
    *("job", "task", "instance", "requested", "peak usage", "mean usage", "allocation", "wastage", "over-allocation"),
    *("under-allocation", "headroom", "cluster", "profile", "min_cluster_size", "min_samples", "submit-time metadata"),
    *(
        "ECDF",
        "quantile",
        "interval",
        "coverage",
        "SHAP value",
        "base value",
        "benchmark run",
        "benchmark type",
        "node",
    ),
    *("resource aspect", "embedding", "degradation", "ranking", "counter", "change point", "phase", "fingerprint"),
    *("known workload", "unknown workload", "as published", "default"),
)


@pytest.mark.some(2)
@pytest.mark.parametrize("view", VIEWS)
def test_every_view_opens_with_and_without_data(app, view):
    test = app("help", help_tab=view)
    assert problems(test) == []
    assert words(test)


def test_it_is_the_same_with_a_dataset(app, loaded):
    test = app("help", help_tab="Formats", help_format="nextflow", ds=loaded.hash)
    assert problems(test) == []
    shown = next(one.value for one in test.dataframe if "becomes" in one.value.columns)
    assert shown.equals(rule_table(rules_of("nextflow")))


def test_the_search_stands_in_the_address_and_finds(app):
    test = app("help", help_term="u-score")
    assert problems(test) == []
    assert "10 x under-estimates" in words(test)
    assert "1 term in all areas." in words(test)
    test.text_input(key="help_term").set_value("no such <b>word</b>").run()
    assert problems(test) == []
    assert "No term contains no such" in words(test)


def test_every_word_of_the_house_is_explained():
    assert all(meaning_of(name) for name in WORDS_OF_THE_HOUSE)
    names = [one.name.lower() for one in TERMS]
    assert len(set(names)) == len(names)
    assert all(10 < len(one.meaning) <= 300 and one.meaning.endswith(".") for one in TERMS)
    assert meaning_of("Profile") == meaning_of("profile")
    with pytest.raises(SettingsError, match="no term"):
        meaning_of("no such term")


def test_terms_are_found_by_any_of_their_words_names_first():
    assert matching_terms("silhouette")[0].name == "silhouette"
    assert "ACQUIRES" in [one.name for one in matching_terms("target number")]
    assert matching_terms("") == TERMS
    assert matching_terms("zzz") == ()


def test_numbers_in_the_texts_are_those_of_the_code():
    assert default_min_cluster_size(1_000_000) == 3_000
    assert "0.3 % of the runs, at least 20" in meaning_of("min_cluster_size")
    assert "20,000 runs" in meaning_of("silhouette")
    assert any("20,000 runs" in limit for limit in LIMITS)


def test_methods_and_definitions_say_where_they_come_from():
    assert all(method.sources and method.what and method.ours for method in METHODS)
    assert all(one.published and one.ours and one.numbers and one.source for one in DEFINITIONS)
    assert all(keys and words for keys, words in KEYS)


def test_every_format_and_field_is_there():
    assert set(MEASURED) == set(MEASUREMENTS)
    assert {*FORMATS, TABLES, *MEASURED} == set(NAMES)
    assert {field.name for field in JOB_FIELDS} == set(DESCRIPTIONS)


def test_diagnostics_name_no_person_machine_or_folder(app, loaded, home):
    test = app("help", help_tab="Diagnostics")
    assert problems(test) == []
    told = test.code[0].value
    assert "workprof" in told
    assert "1 jobs" in told
    assert str(home) not in told
    assert not {platform.node(), getpass.getuser()} & set(told.split())


def test_diagnostics_count_what_the_home_holds(loaded, home):
    with Workbench(from_environment()) as bench:
        found = diagnostics(bench)
    assert found.datasets == {"jobs": 1}
    assert found.stored_runs == 6
    assert found.home_bytes > sum(path.stat().st_size for path in home.glob("*.duckdb"))
    assert found.versions["duckdb"].startswith("2.")


def test_every_setting_of_every_command_is_listed_once_and_found_by_a_word(app):
    lines = setting_lines(DECLARED.values())
    named = [(line.question.words, line.leaf.flag) for line in lines]
    assert len(named) == len(set(named))
    assert {(one.words, leaf.flag) for one in DECLARED.values() if not one.no_command for leaf in one.leaves} == set(
        named
    )
    test = app("help", help_tab="Settings", help_setting="headroom")
    assert problems(test) == []
    shown = test.dataframe[0].value
    assert {"memory bins", "memory train"} <= set(shown["command"])
    assert shown["meaning"].str.contains("Kept free above the use of every run").any()
    test.text_input(key="help_setting").set_value("no such <b>word</b>").run()
    assert "No setting contains no such" in words(test)
