"""Errors that a user can act on: each says what was wrong, the value, and the next step."""

LONGEST = 4_000
"""Characters of a message: a name in a file may be of any length."""


class WorkprofError(Exception):
    """A refusal that the caller can act on: what was wrong, the value, the next step."""

    def __str__(self) -> str:
        """The message; of one that is too long the beginning and the end."""
        text = super().__str__()
        return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


class TraceError(WorkprofError):
    """The trace cannot be read as asked."""


class ColumnMissing(TraceError):
    """A required column is absent."""


class WrongKind(TraceError):
    """The dataset holds something else than what the question is about."""


class UnitUnknown(TraceError):
    """A unit that `workprof.core.units` does not know."""


class NoRows(TraceError):
    """Nothing is left after reading and checking."""


class SettingsError(WorkprofError):
    """A setting outside its bounds."""


class NotEnoughData(WorkprofError):
    """The method needs more rows, columns or clusters than there are."""


class NotAllowed(WorkprofError):
    """The role of whoever asks does not permit it."""


class DatasetUnknown(WorkprofError):
    """No dataset of that name or hash."""


class EntryDamaged(WorkprofError):
    """What the database keeps about a dataset cannot be read, or is of another shape."""


class HomeBusy(WorkprofError):
    """Another process reads or writes the home folder for longer than one waits."""


class DiskFull(WorkprofError):
    """There is no room for what was to be written."""


class Cancelled(WorkprofError):
    """The user stopped a running step."""


class StepFailed(WorkprofError):
    """A step's child process died."""
