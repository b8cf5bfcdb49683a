"""Charts: a result record in, a Plotly figure with its sentence, its text alternative and its table out."""
