"""The table in a terminal: `crib play`, in lines that also work in a pipe."""
