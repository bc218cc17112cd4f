"""The table in a terminal: `crib play` and `crib watch`, in lines that also work in a pipe."""
