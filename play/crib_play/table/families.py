"""The families of games at a table, by name."""

from __future__ import annotations

from crib_play.table import hands, table_top
from crib_play.table.family import TableFamily

FAMILIES: dict[str, TableFamily] = {
    family.name: family for family in (hands.TWO_HAND, hands.MANY_HAND, table_top.FAMILY)
}
