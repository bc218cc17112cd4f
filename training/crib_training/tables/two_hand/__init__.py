"""Tables of the two-hand games, each made by a module of its own."""
