"""Machines that are alike."""
