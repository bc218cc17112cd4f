"""The table in a browser: `crib web`. The server is the referee, the page only shows and asks."""
