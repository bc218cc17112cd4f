"""What is known of the games for three and four: the chance of winning from a score."""
