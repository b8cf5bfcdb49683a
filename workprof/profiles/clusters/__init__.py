"""The clustering itself: neighbours, the spanning tree, and the flat clusters that are cut from it."""
