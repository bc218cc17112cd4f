"""Which fields of the rules the expert honours: its tables are measured under the presets."""

HONOURS = frozenset({"target", "match_target", "partners_confer"})
