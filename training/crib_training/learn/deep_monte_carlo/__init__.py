"""Deep Monte Carlo: agents learned by self-play and regression on what followed each choice."""
