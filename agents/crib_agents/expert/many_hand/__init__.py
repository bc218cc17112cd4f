"""`expert` for three and four: worlds drawn by belief, and the deal played out in each."""
