"""The table in a terminal: `crib play` and `crib watch`, in lines that a pipe takes as well."""
