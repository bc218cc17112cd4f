"""The families of games that are played at the table, by name."""

from __future__ import annotations

from crib_play.table import table_top, two_hand
from crib_play.table.family import TableFamily

FAMILIES: dict[str, TableFamily] = {
    known.name: known for known in (two_hand.FAMILY, table_top.FAMILY)
}
