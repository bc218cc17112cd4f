"""Rules as one word: a preset, with the fields that differ from it in brackets."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote


def read_changes(word: str) -> tuple[str, dict[str, Any]]:
    """Return a preset's name and the changes of a word such as ``hoyle[target=91,for_last=3]``."""
    if "[" not in word and "]" not in word:
        return word, {}
    found = re.fullmatch(r"([^\[\]]+)\[(.*)\]", word)
    if not found:
        raise ValueError(f"rules must be a preset with its changes, 'hoyle[target=91]': {word!r}")
    changes: dict[str, Any] = {}
    for change in filter(None, found[2].split(",")):
        field, _, value = change.partition("=")
        if field in changes:
            raise ValueError(f"{field!r} is changed twice: {word!r}")
        changes[field] = unquote(value)
        if field != "name" and re.fullmatch("True|False|[0-9]{1,9}", value):
            changes[field] = int(value) if value.isdigit() else value == "True"
    return found[1], changes
