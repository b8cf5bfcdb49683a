"""The stops of the tour: a record in, one sentence with its reserve and one or two charts out."""
