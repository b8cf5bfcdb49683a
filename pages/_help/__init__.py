"""The Help page: its views, and the table of formats."""
