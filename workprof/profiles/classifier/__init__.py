"""From what is known of a job at submission to its profile, with reasons and honest tests."""
