"""What tasks ask for and use, and which facts go with it."""
