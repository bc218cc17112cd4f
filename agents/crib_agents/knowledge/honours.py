"""Which fields of the rules the expert honours: its tables are measured under the presets.

In the two-hand games its judge puts other heels into what was measured.
"""

HONOURS = frozenset({"target", "match_target", "partners_confer", "two_hand.heels"})
