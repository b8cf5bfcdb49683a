"""Every result shows itself in few words, and every settings class is found in its package."""

import dataclasses
import importlib
import typing

import numpy as np
import pytest

from workprof.core.shown import LONGEST, Shown
from workprof.nodes.questions import TRANSFER
from workprof.workbench.declared import DECLARED

QUESTIONS = [*DECLARED.values(), TRANSFER]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda question: question.name)
def test_every_result_shows_itself(question):
    assert issubclass(question.result, Shown)
    assert question.result.__repr__ is Shown.__repr__


@dataclasses.dataclass(frozen=True, repr=False)
class Large(Shown):
    values: np.ndarray
    names: tuple[str, ...]
    parts: dict


def test_a_large_record_is_short():
    record = Large(np.zeros((1000, 3)), tuple(map(str, range(10_000))), {"a": np.zeros(3)})
    assert "float64 (1000, 3)" in repr(record)
    assert len(repr(record)) <= LONGEST


def settings_within(kind):
    yield kind
    for one in typing.get_type_hints(kind).values():
        if dataclasses.is_dataclass(one) and one.__name__.endswith("Settings"):
            yield from settings_within(one)


def test_settings_are_found_in_their_package():
    for kind in {one for question in QUESTIONS for one in settings_within(question.settings)}:
        package = ".".join(kind.__module__.split(".")[:2])
        assert getattr(importlib.import_module(package), kind.__name__) is kind
