"""One size per task, why, and what it costs."""
