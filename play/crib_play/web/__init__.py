"""The table in a browser: `crib web`. The server is the referee; the page displays and asks."""
