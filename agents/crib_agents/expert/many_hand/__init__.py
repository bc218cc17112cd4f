"""`expert` for three and four: worlds drawn by belief, rollouts in each, `learned`'s networks."""
