"""The rules fields that the expert honours: its tables are measured under the presets.

In the two-hand games its judge adjusts the measured points to other heels.
"""

HONOURS = frozenset({"target", "match_target", "partners_confer", "two_hand.heels"})
