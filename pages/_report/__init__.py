"""The Report page: what goes in, and the files that come out."""
