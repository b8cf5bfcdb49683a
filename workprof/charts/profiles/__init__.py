"""Figures and tables of a clustering, one idea a file."""
