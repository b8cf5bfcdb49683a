"""Seeded generators that return the data and the truth, for the demo, tests and benchmarks."""

from workprof.synthetic.pai import pai_sample_tables, write_pai_sample
from workprof.synthetic.pai_behaviours import SAMPLE_COLUMNS, TRUTH_COLUMNS
from workprof.synthetic.pai_tables import TABLE_COLUMNS, write_pai_tables
from workprof.synthetic.report import SynthReport

__all__ = [
    "SAMPLE_COLUMNS",
    "TABLE_COLUMNS",
    "TRUTH_COLUMNS",
    "SynthReport",
    "pai_sample_tables",
    "write_pai_sample",
    "write_pai_tables",
]
