"""Around every page: the menu, the head, the dataset, the open home, empty states, errors, links, Reset."""
