"""Checks of a command's settings, declared with their types.

The settings are a dataclass. A field's type says which values are allowed:

    agent: Positional[str]
    pairs: Count = 2000
    until: Annotated[float, Between(0, 100, above=True)] | None = None
    out: NewFolder = Path("runs/mine")

`check` tests all of them before any work starts. A callable in ``Annotated`` beside the type is a
check: it takes a value, and raises a ValueError or an OSError that says what is wrong.
"""

from __future__ import annotations

import math
import os
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T")

A_DAY = 24 * 60 * 60.0
MANY = 10**9  # games, deals, positions: more are a slip of the finger
LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Between:
    """A number from ``least`` to ``most``.

    Attributes:
        least: the lower bound.
        most: the upper bound.
        above: whether ``least`` itself is refused.
        never: a number between the bounds that is refused.
    """

    least: float
    most: float = math.inf
    above: bool = False
    never: float | None = None

    def __call__(self, value: float) -> None:
        """Raise a ValueError unless the number is in the range; NaN and infinity are in none."""
        if not self.holds(value):
            raise ValueError(f"{value} is not {self.words(isinstance(value, int))}")

    def holds(self, value: float) -> bool:
        """Return whether a number is in the range."""
        if not math.isfinite(value) or value == self.never:
            return False
        return self.least <= value <= self.most and not (self.above and value == self.least)

    def words(self, whole: bool) -> str:
        """Return the range in words, of whole numbers or of all."""
        kind = "a whole number" if whole else "a number"
        start = f"above {self.least:,}" if self.above else f"from {self.least:,}"
        if math.isinf(self.most):
            end = "" if self.above else " up"
        else:
            end = f", up to {self.most:,}" if self.above else f" to {self.most:,}"
        but = "" if self.never is None else f", but not {self.never:,}"
        return f"{kind} {start}{end}{but}"


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


def check_store_file(path: Path) -> None:
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
        raise PermissionError(f"no permission to write to {path}")


class _Positional:
    """Marks a setting that is given by its place on the command line."""


POSITIONAL = _Positional()
Positional = Annotated[T, POSITIONAL]

Seed = Annotated[int, Between(0, LARGEST)]
Count = Annotated[int, Between(1, MANY)]  # of what there must be one
Several = Annotated[int, Between(2, MANY)]  # of what has an interval
CountOrNone = Annotated[int, Between(0, MANY)]
Pairs = Annotated[int, Between(0, MANY, never=1)]  # an interval needs two
Threads = Annotated[int, Between(1, 256)]
Workers = Annotated[int, Between(1, 4096)]
Positive = Annotated[float, Between(0, above=True)]
NotNegative = Annotated[float, Between(0)]
Share = Annotated[float, Between(0, 1)]
Portion = Annotated[float, Between(0, 1, above=True)]  # more than none of it
Players = Literal[2, 3, 4]  # the game says which of them it has
Seat = Annotated[int, Between(0, 3)]  # of four; the game says how many it has
NewFile = Annotated[Path, check_file]
StoreFile = Annotated[Path, check_store_file]
NewFolder = Annotated[Path, check_folder]
File = Annotated[Path, is_file]
Folder = Annotated[Path, is_folder]
FileOrFolder = Annotated[Path, exists]

# What is checked where a type declares no more.
ALWAYS: dict[Any, Callable[[Any], None]] = {int: countable, float: finite}


def check(kind: type[Any], values: Mapping[str, Any]) -> None:
    """Raise unless values are what the types of settings declare.

    Args:
        kind: the dataclass of the settings.
        values: some of them, by name.

    Raises:
        ValueError: one is not; the message names it as the command line does.
    """
    for name, hint in get_type_hints(kind, include_extras=True).items():
        for test, value in checks(hint, values[name]) if name in values else ():
            try:
                test(value)
            except (ValueError, OSError) as error:
                raise ValueError(f"{option(name, hint)}: {error}") from None


def check_settings(settings: Any) -> None:
    """Raise unless numbers are in their ranges and choices among those, for a ``__post_init__``.

    Raises:
        ValueError: one is not; the message names the field.
    """
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        given = getattr(settings, name)
        if (choices := _choices(hint)) and given not in choices:
            listed = ", ".join(map(repr, choices))
            raise ValueError(f"{name} must be one of {listed}, got {given!r}")
        for test, whole, value in _ranges(name, hint, given):
            right = isinstance(value, int if whole else (int, float)) and value is not True
            if not right or value is False or not test.holds(value):
                raise ValueError(f"{name} must be {test.words(whole)}, got {value!r}")


def _choices(hint: Any) -> tuple[Any, ...]:
    """Return what a type of choices has, such as ``Literal["a", "b"] | None``; else nothing."""
    if get_origin(hint) is Literal:
        return get_args(hint)
    if get_origin(hint) in (Union, types.UnionType):
        found = [one for part in get_args(hint) for one in _choices(part)]
        return (*found, None) if found else ()
    return ()


def _ranges(name: str, hint: Any, value: Any) -> Iterator[tuple[Between, bool, Any]]:
    """Yield the ranges that a type declares, whether of whole numbers, and the number in each."""
    kind, parts = get_origin(hint), get_args(hint)
    if kind is Annotated:
        ranges = (test for test in hint.__metadata__ if isinstance(test, Between))
        yield from ((test, parts[0] is int, value) for test in ranges)
    elif kind in (Union, types.UnionType) and type(None) in parts:
        if value is not None:
            yield from _ranges(name, without_none(hint), value)
    elif kind is tuple:
        if not isinstance(value, tuple) or (parts[-1] is not ... and len(value) != len(parts)):
            many = "" if parts[-1] is ... else f" of {len(parts)}"
            raise ValueError(f"{name} must be a tuple{many}, got {value!r}")
        hints = parts[:1] * len(value) if parts[-1] is ... else parts
        for one, part in zip(hints, value, strict=True):
            yield from _ranges(name, one, part)


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
