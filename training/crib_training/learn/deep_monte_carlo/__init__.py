"""The games of deep Monte Carlo: what their networks see, and what they learn from self-play."""
