"""The facade: one method per question a page, a command or a program asks. Same question, same numbers.

The only package that uses the store, the cache and the methods together.
"""

from workprof.workbench.asking import Answer
from workprof.workbench.sweeps import SweepQuestions

__all__ = ["Answer", "Workbench"]


class Workbench(SweepQuestions):
    """One home folder, opened: its datasets, its results, its running steps."""
