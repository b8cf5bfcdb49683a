"""The Memory page: tasks, bins, policies, models, roll-up, kept scenarios."""
