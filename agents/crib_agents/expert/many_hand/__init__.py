"""`expert` for three and four: worlds drawn by belief, and rollouts in each."""
