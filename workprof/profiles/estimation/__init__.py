"""The parts of an estimate: history cells, the design matrix, forest and boosting, their combination, its interval."""
