"""The tables that agents read, and `tables`, which reads them; see README.md beside this file."""
