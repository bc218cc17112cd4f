"""Helpers are linked into whoever calls them, and can be called from Python too."""

from __future__ import annotations

from typing import Any

import numba
import pytest

from compiled import compiled_alone
from crib_env.engine.jit import entry, kernel
from crib_env.engine.linked import LinkedCode

pytestmark = compiled_alone


@kernel
def difference(a, b):
    """Subtract, and refuse a negative difference."""
    if a < b:
        raise ValueError("negative")
    return a - b


@kernel
def announced(a, b):
    """Print, for which code needs Python objects."""
    print("of", a, b)
    return difference(a, b)


@entry(numba.int64(numba.int64, numba.int64), "tests.by_entry")
def by_entry(a, b):
    """Call one helper directly and through another."""
    return announced(a, b) + difference(a, b)


@numba.njit
def by_function(a, b):
    """Do the same in a user's own function."""
    return announced(a, b) + difference(a, b)


@pytest.mark.parametrize("caller", [by_entry, by_function])
def test_kernel_prints_and_raises_in_its_callers(caller: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert caller(7, 3) == 8
    assert capfd.readouterr().out.split() == ["of", "7", "3"]
    with pytest.raises(ValueError, match="negative"):
        caller(3, 7)


def test_kernel_called_from_python_takes_any_types(capfd: pytest.CaptureFixture[str]) -> None:
    assert by_function(7, 3) == 8  # which compiles the helper for its callers first
    assert announced(7, 3) == 4
    assert difference(2.5, 1) == 1.5
    with pytest.raises(ValueError, match="negative"):
        difference(b=7, a=3)
    with pytest.raises(numba.TypingError):
        difference("a", 3)


def test_kernel_for_callers_is_not_made_into_machine_code() -> None:
    assert by_function(7, 3) == by_entry(7, 3) == 8  # the entry may be read from disk
    codes = [each.library for each in difference.overloads.values()]  # type: ignore[attr-defined]
    assert codes
    assert all(isinstance(code, LinkedCode) for code in codes)
    (code,) = by_entry.compiled.overloads.values()  # type: ignore[attr-defined]
    assert not isinstance(code.library, LinkedCode)
