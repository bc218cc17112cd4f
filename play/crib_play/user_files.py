"""Files stored between games: preferences as configuration, scores as data.

If a folder cannot be read or written, nothing is remembered, and the game continues.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

from platformdirs import user_config_path, user_data_path
from pydantic import AfterValidator, Field

from crib_env.settings import Whole, checked_dataclass
from crib_play.table import table_game

APP = "crib-env"
FASTEST, SLOWEST = 1, 3
Speed = Annotated[Whole, Field(ge=FASTEST, le=SLOWEST)]


@checked_dataclass(frozen=True)
class Preferences:
    """The player's default settings."""

    game: Annotated[str, AfterValidator(lambda name: table_game(name).name)] = "six"
    opponent: str = "expert"
    speed: Speed = 2  # the count speed, 1 (fastest, without a pause) to 3 (H12)
    coach: bool = False  # whether each decision is graded as it is made
    muggins: bool = False  # whether players count their own hands, and opponents claim missed points

    def with_those_given(self, **given: Any) -> Preferences:
        """Return the preferences with those given that are not None."""
        chosen: dict[str, Any] = {name: one for name, one in given.items() if one is not None}
        return replace(self, **chosen)


def preferences_file() -> Path:
    """Return where preferences are stored."""
    return user_config_path(APP) / "preferences.json"


def load_preferences() -> Preferences:
    """Return the stored preferences, and the defaults for those missing or malformed."""
    known = Preferences()
    for name, value in load(preferences_file()).items():
        with suppress(TypeError, ValueError):  # no such field, no such value
            known = replace(known, **{name: value})
    return known


def save_preferences(preferences: Preferences) -> str | None:
    """Store preferences; return why that could not be done, or None."""
    return save(preferences_file(), asdict(preferences))


def data_file(name: str) -> Path:
    """Return the path of stored data that are no preferences, such as scores and games."""
    return user_data_path(APP) / name


def load(path: Path) -> dict[str, Any]:
    """Return a file's stored values, none if it cannot be read."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def save(path: Path, values: dict[str, Any]) -> str | None:
    """Write a file whole or not at all; return why that could not be done, or None."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")
        fresh.replace(path)
    except OSError as error:
        return f"{path} cannot be written: {error.strerror or error}"
    return None
