"""The Classify page: training, one job, a batch, the model, and drift."""
