"""How the files that ship were made: tables, solved strategies, figures and pages.

Run from a checkout: ``python -m research.NAME``. The wheel does not contain this package.
"""
