"""The Nodes page: ranking, degradation, groups, transfer, advice for a profile."""
