"""The facade: one method per question a page, a command or a program asks. Same question, same numbers.

The only package that uses the store, the cache and the methods together. Its modules name the questions of a room each;
`whole` has all, and is imported when it is first used: a command of one room does with that room's module.
"""

from typing import TYPE_CHECKING

from workprof.core.lazily import lazily

if TYPE_CHECKING:  # the public names, each where it is defined
    from workprof.workbench.question_methods import (
        JOBS as JOBS,
        WORDS as WORDS,
        CachedResult as CachedResult,
    )
    from workprof.workbench.whole import Workbench as Workbench, passing_workbench as passing_workbench

__getattr__, __dir__, __all__ = lazily(__name__)
