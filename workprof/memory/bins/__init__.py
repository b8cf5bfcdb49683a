"""The best sizes for a task: the exact search, and what given edges do."""
