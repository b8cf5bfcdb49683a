"""One run, or two laid over each other, to look at."""
