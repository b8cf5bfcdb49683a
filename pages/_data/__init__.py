"""The Data page: where a trace comes from, how it is read and mapped, what was loaded."""
