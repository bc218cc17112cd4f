"""The files that tables are kept in."""

from __future__ import annotations

import json
import re
from typing import Any

from crib_agents.data.tables import Table

from crib_training.command_line import command

NO_MATTER = ("out", "check", "show")  # settings that change nothing in a table


def made_by(table: Table, settings: Any) -> str:
    """Return the command that makes a table with these settings."""
    return command(table.made_by, settings, leave_out=NO_MATTER)


def write(table: Table, settings: Any, games: dict[str, Any]) -> None:
    """Write a table of both games to ``settings.out``, one row of a chart a line."""
    data = {"version": table.version, "made_by": made_by(table, settings), "seed": settings.seed,
            "games": games}  # fmt: skip
    text = json.dumps(data, indent=1)
    text = re.sub(r"\[[^\[\]]+\]", lambda row: " ".join(row[0].split()), text)
    settings.out.parent.mkdir(exist_ok=True)
    settings.out.write_text(text + "\n")
