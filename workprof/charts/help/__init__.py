"""What the Help page says: terms, methods, published and corrected definitions, formats, limits, diagnostics."""

from workprof.charts.help.definitions import DEFINITIONS, definition_table
from workprof.charts.help.diagnostics import diagnostics_text
from workprof.charts.help.explained import explained, glossary_of
from workprof.charts.help.formats import field_table, format_table, rule_table
from workprof.charts.help.glossary import TERMS, Term, found_terms, meaning_of, term_table
from workprof.charts.help.limits import KEYS, LIMITS
from workprof.charts.help.methods import METHODS, Method

__all__ = [
    "DEFINITIONS",
    "KEYS",
    "LIMITS",
    "METHODS",
    "TERMS",
    "Method",
    "Term",
    "definition_table",
    "diagnostics_text",
    "explained",
    "field_table",
    "format_table",
    "found_terms",
    "glossary_of",
    "meaning_of",
    "rule_table",
    "term_table",
]
