"""Games for three and four: the probability of winning from a score."""
