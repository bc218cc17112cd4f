"""The games of deep Monte Carlo: their networks' inputs and their targets from self-play."""
