"""The recorder: counters of this host by the second, from /proc, psutil and `perf stat`, around any command.

`Recorder` yields rows; whoever asks writes them. With `counters` (names), `system_files` and `system` (the host),
`process_table` and `process_tree` (the command's processes), `perf_events` and `perf_stat`, `session` (start and end).
"""

from workprof.phases.recorder.outcome import Outcome
from workprof.phases.recorder.recording import Recorder, Row
from workprof.phases.recorder.settings import RecordSettings
from workprof.phases.recorder.usage import Usage

__all__ = ["Outcome", "RecordSettings", "Recorder", "Row", "Usage"]
