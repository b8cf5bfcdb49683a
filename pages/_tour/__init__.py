"""The tour: its stops, what they stand on, and how one looks on a large screen."""
