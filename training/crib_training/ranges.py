"""What numbers a setting can be, written where the setting is declared and checked in one place.

    deals: Count = 400_000

A class of settings calls `check` when it is made, so that none with an impossible number exists.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_type_hints

MOST = 10**15  # more than any run counts, and exact wherever it is computed with


@dataclass(frozen=True)
class Range:
    """The numbers that a setting can be.

    Attributes:
        least, most: the bounds. above: whether ``least`` itself is none of them.
        whole: whether they are whole numbers. never: a number between the bounds that is not.
    """

    least: float
    most: float = math.inf
    above: bool = False
    whole: bool = True
    never: float | None = None

    def holds(self, value: object) -> bool:
        """Return whether a value is one of the numbers."""
        kinds = (int,) if self.whole else (int, float)
        if not isinstance(value, kinds) or isinstance(value, bool) or not math.isfinite(value):
            return False
        if value == self.never or (self.above and value == self.least):
            return False
        return self.least <= value <= self.most

    def __str__(self) -> str:
        kind = "a whole number" if self.whole else "a number"
        start = f"above {self.least:,}" if self.above else f"from {self.least:,}"
        end = "" if self.above else " up"
        said = f"{kind} {start}{end if math.isinf(self.most) else f' to {self.most:,}'}"
        return said if self.never is None else f"{said}, but not {self.never:,}"


Count = Annotated[int, Range(1, MOST)]
Whole = Annotated[int, Range(0, MOST)]
Pairs = Annotated[int, Range(0, MOST, never=1)]  # an interval needs two
Seed = Annotated[int, Range(0, 2**32 - 1)]  # of NumPy's and PyTorch's generators
Threads = Annotated[int, Range(1, 256)]
Workers = Annotated[int, Range(1, 4096)]
Positive = Annotated[float, Range(0, above=True, whole=False)]
NotNegative = Annotated[float, Range(0, whole=False)]
Share = Annotated[float, Range(0, 1, whole=False)]
Portion = Annotated[float, Range(0, 1, above=True, whole=False)]


def check(settings: Any) -> None:
    """Raise a ValueError unless the numbers of settings, a dataclass, are within their ranges."""
    for name, hint in get_type_hints(type(settings), include_extras=True).items():
        value = getattr(settings, name)
        for allowed in _of(hint):
            if value is not None and not allowed.holds(value):
                raise ValueError(f"{name} must be {allowed}, got {value!r}")


def _of(hint: Any) -> Iterator[Range]:
    """Yield the ranges in a type, which may be one of several that a setting can have."""
    for one in (*getattr(hint, "__metadata__", ()), *get_args(hint)):
        if isinstance(one, Range):
            yield one
        elif not isinstance(one, type):
            yield from _of(one)
