"""The expert as a teacher: every choice in a position, ranked, with what each is worth."""
