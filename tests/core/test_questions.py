"""Every declared question through its faces: random settings by command and by address come back the same."""

import dataclasses
import functools
import math
import random
import shlex
import typing
from dataclasses import MISSING
from urllib.parse import parse_qs, urlsplit

import pytest
import typer

from workprof.cli.console import plain_text
from workprof.cli.main import app
from workprof.cli.questions import settings_of
from workprof.core.errors import SettingsError
from workprof.core.fields import Leaf, Setting, by_name, earlier_words, leaves, put, read, write
from workprof.core.question import (
    address_of,
    code_of,
    form_text,
    from_form,
    in_form,
    parameters_of,
    python_of,
    shell_of,
)
from workprof.core.records import to_json
from workprof.forecasts import questions as forecasts
from workprof.profiles.baseline import BaselineSettings
from workprof.profiles.settings import ProfileSettings
from workprof.profiles.stability import StabilitySettings
from workprof.profiles.sweep import SweepSettings
from workprof.workbench import Workbench
from workprof.workbench.declared import DECLARED

CASES = (10, pytest.param(1000, marks=pytest.mark.soak))
WORDS = ("a", "b c", "flow:sort", "é", "x,y", " odd ", "n=1", "[1]", "-k", "")
QUESTIONS = [*DECLARED.values(), forecasts.OBSERVE]
BY_COMMAND = [one for one in QUESTIONS if not one.no_command]


def any_record(draw, kind):
    """Return a random item of a tuple: names together, or a record of texts and of numbers in a row."""
    if not dataclasses.is_dataclass(kind):
        return ("user", "task_name")
    hints = typing.get_type_hints(kind)
    return kind(**{name: draw.choice(WORDS) if hint is str else (draw.random(), 3.0) for name, hint in hints.items()})


def any_value(draw, leaf):
    """Return a random value that a setting may have."""
    about = leaf.about
    if leaf.optional and draw.random() < 0.3:
        return None
    if about.named and draw.random() < 0.2:
        return draw.choice(list(about.named.values()))

    def one(kind):
        if about.choices and not leaf.table:
            return draw.choice(list(about.choices))
        if kind is bool:
            return draw.random() < 0.5
        low = about.least if about.least is not None else (about.above or 0)
        high = about.most if about.most is not None else max(low * 10, 1e6 if about.unit != "bytes" else 1e12)
        high = high if about.below is None else math.nextafter(about.below, low)
        if kind is int:
            return draw.randint(int(low), int(min(high, 2**31)))
        if kind is float:
            value = draw.choice([draw.uniform(low, high), float(f"{draw.uniform(low, high):.3g}"), float(high)])
            return value if about.above is None or value > about.above else float(high)
        words = [word for word in WORDS if len(word) <= (about.most or 99) and (word or not about.some)]
        return draw.choice(words)

    if leaf.many:
        items = [
            one(leaf.each) if leaf.each in (int, float, str) else any_record(draw, leaf.each)
            for _ in range(draw.randint(1, 3))
        ]
        return tuple(dict.fromkeys(items))
    if isinstance(leaf.default, dict):
        return {name or "z": one(leaf.each) for name in draw.sample(list(about.choices or WORDS), 2)}
    return one(leaf.kind)


def any_settings(draw, question):
    """Return random settings of a question; draws that are not valid together are drawn again."""
    while True:
        values = {}
        for leaf in question.leaves:
            if leaf.default is MISSING or draw.random() < 0.4:
                if dataclasses.is_dataclass(leaf.kind):
                    continue
                values[leaf.path] = any_value(draw, leaf)
        try:
            return put(question.default(), values)
        except SettingsError:
            continue


@functools.cache
def tree_of_commands():
    return typer.main.get_command(app)


def parsed(command, question):
    """Return the settings that the command line of a question asks for, read as the program reads it."""
    words = shlex.split(command)
    assert words[0] == "workprof"
    tree, rest = tree_of_commands(), words[1:]
    while hasattr(tree, "commands"):
        tree, rest = tree.commands[rest[0]], rest[1:]
    context = tree.make_context("x", rest)
    return settings_of(question, context.params)


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("question", BY_COMMAND, ids=lambda one: one.name)
def test_random_settings_come_back_from_the_command_line(question, cases):
    draw = random.Random(question.name)
    for _ in range(cases):
        settings = any_settings(draw, question)
        assert parsed(shell_of(question, "ab12", settings), question) == settings


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_random_settings_come_back_from_the_address(question, cases):
    draw, named = random.Random(question.name), {leaf.flag.lstrip("-"): leaf for leaf in question.leaves}
    for _ in range(cases):
        settings = any_settings(draw, question)
        address = urlsplit(address_of(question, "ab12", settings))
        given = {name: values[0] for name, values in parse_qs(address.query, keep_blank_values=True).items()}
        assert address.path == f"/{question.page}"
        assert given["ds"] == "ab12"
        values = {named[name].path: read(named[name], text) for name, text in given.items() if name in named}
        assert put(question.default(), values) == settings


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_the_python_of_random_settings_makes_them(question, cases):
    draw = random.Random(question.name)
    for _ in range(cases):
        settings = any_settings(draw, question)
        code = python_of(question, "ab12", "name", settings)
        lines = code.partition("\nwith ")[0]
        names = {}
        exec(compile(lines, "snippet", "exec"), names)
        assert names["settings"] == settings
        assert f"workbench.{question.call}(dataset, settings)" in code
        assert hasattr(Workbench, question.call)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_every_setting_has_words_a_key_and_a_flag_of_its_own(question):
    flags = [leaf.flag for leaf in question.leaves]
    keys = [leaf.key(question.page) for leaf in question.leaves]
    assert len(set(flags)) == len(flags)
    assert len(set(keys)) == len(keys)
    assert all(leaf.about.help.endswith(".") and leaf.label for leaf in question.leaves)
    notes = [leaf.label for leaf in question.leaves if leaf.about.empty and f"= {leaf.about.empty})" in leaf.label]
    assert [label for label in notes if len(label) > 24] == []  # a column of a form is as wide as that
    assert set(parameters_of(question, question.default())) <= set(keys)


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_what_a_setting_cannot_be_is_refused_in_words(question):
    usual = question.default()
    for leaf in leaves(question.settings):
        wrong = [object(), float("nan")]
        wrong += [leaf.about.least - 1] if leaf.about.least is not None else []
        wrong += [leaf.about.most + 1] if leaf.about.most is not None and leaf.each is not str else []
        wrong += [bound for bound in (leaf.about.above, leaf.about.below) if bound is not None]
        wrong += ["no such choice"] if leaf.about.choices else []
        each = [(value,) if leaf.many else value for value in wrong]
        if isinstance(leaf.default, dict):
            each = [{name: value} for name in leaf.about.choices or ("a",) for value in wrong]
            each += [{"no such name": 1.0}] if leaf.about.choices else []
        for given in each:
            with pytest.raises(SettingsError, match=leaf.name):
                put(usual, {leaf.path: given})


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_a_text_that_no_setting_can_mean_is_refused_in_words(question):
    for leaf in question.leaves:
        if leaf.each in (int, float, bool) or dataclasses.is_dataclass(leaf.kind):
            with pytest.raises(SettingsError, match="maybe"):
                read(leaf, "maybe")


@pytest.mark.parametrize("cases", CASES)
@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.name)
def test_text_and_json_of_a_setting_are_read_as_they_were_written(question, cases):
    draw = random.Random(question.name)
    for _ in range(cases):
        for leaf in question.leaves:
            if leaf.many or leaf.number or leaf.kind in (str, bool):
                value = any_value(draw, leaf)
                assert by_name([leaf], [(leaf.path, to_json(value))]) == {leaf.path: value}
                assert read(leaf, write(leaf, value)) == value


def test_a_number_in_a_form_gives_the_setting_back():
    draw = random.Random(5)
    for unit in ("share", "bytes", "MiB", ""):
        about = Setting("A number.", "bytes", form_unit=unit) if unit == "MiB" else Setting("A number.", unit)
        leaf = Leaf("x", float, False, 0.0, about)
        for _ in range(2000):
            value = draw.choice([draw.uniform(0, 3), draw.uniform(0, 1e12), round(draw.uniform(0, 1), 3)])
            assert abs(from_form(leaf, in_form(leaf, value)) - value) <= 1e-15 * value
    assert form_text(Leaf("x", float, False, 0.0, Setting("A share.", "share")), 0.05) == "5"
    assert form_text(Leaf("x", float, False, 0.0, Setting("A size.", "bytes")), 64e9) == "64"


def test_code_leaves_defaults_out():
    settings = DECLARED["memory.replay"].default()
    assert code_of(settings) == "ReplaySettings()"


def test_a_result_without_words_of_its_own_is_shown_field_by_field():
    @dataclasses.dataclass(frozen=True)
    class Plain:
        n_runs: int
        users: tuple[dict[str, object], ...]
        left_out: dict[str, int]

    shown = plain_text(Plain(3, ({"user": "ann", "runs": 2},), {"running": 1}))
    assert shown == "n runs: 3\n\nusers\nuser  runs\nann   2"


def test_a_text_with_choices_may_be_empty_where_that_means_something():
    assert ProfileSettings(silhouette="").silhouette == ""
    with pytest.raises(SettingsError, match="metric"):
        ProfileSettings(metric="")
    with pytest.raises(SettingsError, match="algorithms"):
        SweepSettings(algorithms=("",))


@pytest.mark.parametrize("by", [(("user",),), (("user", "task_name"), ("workload",)), (("a,b",), ("c",)), ((" d ",),)])
def test_labels_of_several_columns_come_back_from_an_option_that_is_repeated(by):
    question, settings = DECLARED["profiles.baseline"], BaselineSettings(by=by)
    assert parsed(shell_of(question, "ab12", settings), question) == settings


def test_labels_are_given_one_by_one():
    question = DECLARED["profiles.baseline"]
    told = parsed("workprof profiles baseline ab12 --by workload --by workload,task_name", question)
    assert told.by == (("workload",), ("workload", "task_name"))


def test_a_setting_of_a_record_within_is_given_by_its_path():
    question = DECLARED["profiles.stability"]
    told = parsed(
        "workprof profiles stability ab12 --fit 'min-cluster-size=60;metric=manhattan' --with fit.seed=4", question
    )
    assert told.fit == ProfileSettings(min_cluster_size=60, metric="manhattan", seed=4)


def test_a_word_a_switch_and_a_record_stand_in_an_address_as_their_controls_write_them():
    sweep = SweepSettings(
        algorithms=("hdbscan", "optics"), min_samples=20, features=("cpu_usage_percent", "read_bytes")
    )
    assert parameters_of(DECLARED["profiles.sweep"], sweep) == {
        "sweep_algorithms": "both",
        "sweep_min_samples": "one",
        "sweep_one_min_samples": "20",
        "sweep_set": "own",
        "sweep_features": ["cpu_usage_percent", "read_bytes"],
    }
    assert parameters_of(DECLARED["profiles.sweep"], SweepSettings(min_samples=0)) == {"sweep_min_samples": "coupled"}
    clustered = BaselineSettings(rows="clustered")
    assert parameters_of(DECLARED["profiles.baseline"], clustered) == {"profiles_baseline_rows": "clustered"}
    study = StabilitySettings(ProfileSettings(features=("all17",), seed=2), resamples=3)
    assert parameters_of(DECLARED["profiles.stability"], study) == {
        "profiles_set": "all17",
        "profiles_seed": "2",
        "profiles_resamples": "3",
    }


@pytest.mark.parametrize(("name", "value"), [("features", ("auto",)), ("features", ("auto", "all17"))])
def test_a_list_that_reads_like_a_word_for_another_comes_back(name, value):
    leaf = DECLARED["profiles.fit"].leaf(name)
    assert read(leaf, write(leaf, value)) == value


def test_earlier_settings_are_told_as_a_form_has_them():
    earlier = ProfileSettings(min_cluster_size=60, scaler="standard")
    assert earlier_words(earlier, earlier) == ""
    assert earlier_words(earlier, ProfileSettings(scaler="standard")) == "Minimum profile size: 60"
    several = ProfileSettings(min_cluster_size=60, min_samples=9, metric="manhattan", method="leaf", seed=7)
    assert earlier_words(several, ProfileSettings()).count(": ") == 3
    assert earlier_words(several, ProfileSettings()).endswith("; ...")
