"""Policies: each turns the runs of one task that are known into the size of the next one. One file each."""
