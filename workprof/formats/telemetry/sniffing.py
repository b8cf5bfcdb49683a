"""Which tool wrote a text, told by its first bytes."""

import re

PERF_LINE = re.compile(
    r"\s*\d+[.,]\d{6,}(?P<sep>[^\w.\s]|\t)(?:[\d.,]+|<not (?:counted|supported)>|[A-Z][\w-]*(?P=sep)|"
    r"[^\W\d][^,;\t|\n]*-\d+(?P=sep))"
)
PERF_METRICS = "time,"
"""How the names of --metric-only begin, below which stand no counts."""

PERF_PADDED = re.compile(r" +\d+[.,]\d{9}[^\w.\s]")
PERF_STARTED = "# started on "
"""How perf begins a file of its own (-o); what it warns of may stand before its first counts."""

PERF_JSON_LINE = re.compile(r'\s*\{\s*"interval"\s*:\s*[\d.]+\s*,.*"(?:counter|metric)-value"')
HEAD_CHARACTERS = 20_000
PERFSPECT_STARTS = ("TS,SKT,CPU,", "metric,mean,min,max,stddev", "metrics,avg,p95,min,max", "time,metric_")
PERFSPECT_TEXT = re.compile(r"Timestamp {4,}\S|-{10,}\s*\n- Metrics captured at ")
PSRECORD_STARTS = ("# Elapsed time", "elapsed_time,nproc,cpu,")
SADF_HEADER = re.compile(r"# hostname([;,\t|])interval\1timestamp")
FLAT_SAR = re.compile(r"timestamp,(?:[\w]+\.[^,]*,)*cpu\.%")
PROMETHEUS_KEYS = re.compile(r'"(?:resultType|errorType)"')
PROMETHEUS_SERIES = re.compile(r'\s*\[\s*\{\s*"metric":\s*\{[^{}]*\},\s*"values":\s*\[\s*\[')
PERFSPECT_FRAME = re.compile(r"""\{\s*"Metrics"\s*:\s*\[\s*\{\s*"Name"\s*:""")
PERFSPECT_TABLE = re.compile(r'"[\w /()-]+ Telemetry"\s*:\s*\[')


def sniffed(content: str) -> str | None:
    """The name of the telemetry format that a text's beginning (up to 1 MiB) is of, None for any other text."""
    head = content[:HEAD_CHARACTERS].lstrip("\ufeff\r\n")
    if head.startswith(("{", "[")):
        return _of_json(content)
    if head.startswith("workload,run,t,"):
        return "telemetry"
    if SADF_HEADER.match(head) or FLAT_SAR.match(head):
        return "sadf"
    if head.startswith(PERFSPECT_STARTS) or PERFSPECT_TEXT.match(head):
        return "perfspect"
    if head.startswith(PSRECORD_STARTS):
        return "psrecord"
    return "perf-stat" if _is_perf(head) else None


def _of_json(content: str) -> str | None:
    head = content[:HEAD_CHARACTERS].lstrip("\ufeff\r\n")
    if (PROMETHEUS_KEYS.search(head) and '"status"' in content) or PROMETHEUS_SERIES.match(head):
        return "prometheus"
    if PERFSPECT_TABLE.search(head) or PERFSPECT_FRAME.match(head):
        return "perfspect"
    return "perf-stat" if PERF_JSON_LINE.match(head) else None


def _is_perf(head: str) -> bool:
    lines = [line for line in head.splitlines() if line.strip() and not line.startswith("#")]
    if lines and lines[0].startswith(PERF_METRICS):
        return False
    started = head.startswith(PERF_STARTED)
    return any(_is_perf_line(line) for at, line in enumerate(lines) if not at or started or PERF_PADDED.match(line))


def _is_perf_line(line: str) -> bool:
    match = PERF_LINE.match(line)
    return bool(PERF_JSON_LINE.match(line)) or (match is not None and line.count(match["sep"]) >= 3)
