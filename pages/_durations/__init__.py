"""The Durations page: observed durations, and what predictions missed them by."""
