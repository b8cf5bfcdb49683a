"""Runs as the network reads them: which metrics stay, turned and scaled."""
