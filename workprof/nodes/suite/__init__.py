"""The benchmark suite: what is run on a machine, how, and what is written down."""
