"""Who may come in: the optional login with the way there and back, and what pages of other sites may do."""
