"""Runtimes on one machine from runs on another."""
