"""On any page: controls, figures with their words, downloads, running work, kept scenarios, earlier results."""
