"""What the settings of a command may be: declared with their types, checked in one place.

The settings are a dataclass, and a field's type says what may be given:

    agent: Positional[str]
    pairs: Count = 2000
    until: Annotated[float, Between(0, 100, above=True)] | None = None
    out: NewFolder = Path("runs/mine")

`check` tries them all before any work is done. What stands in ``Annotated`` beside the type and can
be called is a check: it takes a value, and raises a ValueError or an OSError that says what is
wrong.
"""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

A_DAY = 24 * 60 * 60.0
MANY = 10**9  # games, deals, positions: more are a slip of the finger
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Between:
    """A number from ``least`` to ``most``; ``above``: not ``least`` itself. NaN is none."""

    least: float
    most: float
    above: bool = False

    def __call__(self, value: float) -> None:
        """Raise a ValueError unless the number is in the range."""
        if self.least <= value <= self.most and not (self.above and value == self.least):
            return
        kind = "a whole number" if isinstance(value, int) else "a number"
        start = f"above {self.least:,}, up to" if self.above else f"from {self.least:,} to"
        raise ValueError(f"{value} is not {kind} {start} {self.most:,}")


def finite(value: float) -> None:
    """Raise a ValueError unless a number is finite."""
    if not math.isfinite(value):
        raise ValueError(f"{value} is not a finite number")


def countable(value: int) -> None:
    """Raise a ValueError unless a whole number fits a machine word."""
    if abs(value) > LARGEST:
        raise ValueError(f"{value} is too large")


def check_file(path: Path) -> None:
    """Raise unless a file can be written there.

    Raises:
        OSError: it is a folder, its folder is not there, or neither may be written to.
    """
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} to write {path.name} to")
    _check_access(path if path.exists() else path.parent)


def check_folder(path: Path) -> None:
    """Raise unless a folder is there, or can be made, and files can be written to it.

    Raises:
        OSError: a file is in its place, or it may not be written to.
    """
    nearest = path.absolute()
    while not nearest.exists():
        nearest = nearest.parent
    if not nearest.is_dir():
        raise NotADirectoryError(f"{nearest} is a file: name a folder")
    _check_access(nearest)


def check_kept_file(path: Path) -> None:
    """Raise an OSError unless a file can be written there, in a folder that is made if need be."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")
    check_folder(path.parent)


def is_file(path: Path) -> None:
    """Raise an OSError unless a file is there."""
    exists(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder: name a file")


def is_folder(path: Path) -> None:
    """Raise an OSError unless a folder is there."""
    exists(path)
    if not path.is_dir():
        raise NotADirectoryError(f"{path} is a file: name a folder")


def exists(path: Path) -> None:
    """Raise an OSError unless something is there."""
    if not path.exists():
        raise FileNotFoundError(f"there is no {path}")


def _check_access(path: Path) -> None:
    if not os.access(path, os.W_OK):
        raise PermissionError(f"{path} may not be written to")


class _Positional:
    """Marks a setting that is given by its place on the command line."""


POSITIONAL = _Positional()
Positional = Annotated[T, POSITIONAL]

Seed = Annotated[int, Between(0, LARGEST)]
Count = Annotated[int, Between(1, MANY)]  # of what there must be one
Several = Annotated[int, Between(2, MANY)]  # of what has an interval
CountOrNone = Annotated[int, Between(0, MANY)]
Players = Literal[2, 4]
Seat = Annotated[int, Between(0, 3)]  # of four; the game says how many it has
NewFile = Annotated[Path, check_file]
KeptFile = Annotated[Path, check_kept_file]
NewFolder = Annotated[Path, check_folder]
File = Annotated[Path, is_file]
Folder = Annotated[Path, is_folder]
FileOrFolder = Annotated[Path, exists]

# What is checked where a type declares no more.
ALWAYS: dict[Any, Callable[[Any], None]] = {int: countable, float: finite}


def check(settings: Any) -> None:
    """Raise unless all settings are what their types declare.

    Raises:
        ValueError: one is not; the message names it as the command line does.
    """
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        for test, value in checks(hint, getattr(settings, name)):
            try:
                test(value)
            except (ValueError, OSError) as error:
                raise ValueError(f"{option(name, hint)}: {error}") from None


def checks(hint: Any, value: Any) -> Iterator[tuple[Callable[[Any], None], Any]]:
    """Yield the checks that a type declares, each with the value, or the part of it, to check."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        yield from ((test, value) for test in hint.__metadata__ if callable(test))
        yield from checks(parts[0], value)
    elif kind in (Union, types.UnionType):
        if value is not None:
            yield from checks(without_none(hint), value)
    elif kind is tuple:
        for i, one in enumerate(value):
            yield from checks(parts[0] if parts[-1] is ... else parts[i], one)
    elif hint in ALWAYS:
        yield ALWAYS[hint], value


def without_none(hint: Any) -> Any:
    """Return the type that an optional one is besides None."""
    (one,) = (part for part in get_args(hint) if part is not type(None))
    return one


def is_positional(hint: Any) -> bool:
    """Return whether a setting of this type is given by its place."""
    return POSITIONAL in getattr(hint, "__metadata__", ())


def option(name: str, hint: Any) -> str:
    """Return what a setting is called on the command line."""
    return name.upper() if is_positional(hint) else "--" + name.replace("_", "-")
