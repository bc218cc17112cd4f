"""Scripts that fit the agents' tables and networks, and measure them."""
