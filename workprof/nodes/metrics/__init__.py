"""The metrics by name: unit, direction, aspect."""
