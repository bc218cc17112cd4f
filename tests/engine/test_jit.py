"""Helpers are linked into their callers, and can be called from Python too."""

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
    """Print, which needs Python objects."""
    print("of", a, b)
    return difference(a, b)


@kernel
def count_more(first, *more):
    """Take any number of arguments."""
    return first + len(more)


@kernel
def factorial(n):
    """Call itself."""
    return 1 if n < 2 else n * factorial(n - 1)


@kernel
def is_even(n):
    """Call another that calls this one."""
    return True if n == 0 else is_odd(n - 1)


@kernel
def is_odd(n):
    """Call the one above."""
    return False if n == 0 else is_even(n - 1)


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
    with pytest.raises(numba.TypingError, match=r"lt\(unicode_type, int64\)"):
        difference("a", 3)


def test_kernel_for_callers_is_not_made_into_machine_code() -> None:
    assert by_function(7, 3) == by_entry(7, 3) == 8  # the entry may be read from disk
    codes = [each.library for each in difference.overloads.values()]  # type: ignore[attr-defined]
    assert codes
    assert all(isinstance(code, LinkedCode) for code in codes)
    (code,) = by_entry.compiled.overloads.values()  # type: ignore[attr-defined]
    assert not isinstance(code.library, LinkedCode)


def test_kernel_called_from_python_takes_any_number_of_arguments() -> None:
    assert [count_more(1), count_more(1, 2), count_more(1, 2, 3)] == [1, 2, 3]


def test_kernel_may_be_recursive() -> None:
    assert factorial(5) == 120
    assert [is_even(7), is_even(8)] == [False, True]

    @numba.njit
    def literal(n):
        return factorial(4), is_odd(n), is_even(n)

    assert literal(7) == (24, True, False)


def test_kernel_can_be_a_value() -> None:
    signature = numba.int64(numba.int64)
    functions = numba.typed.List.empty_list(numba.types.FunctionType(signature))
    functions.append(factorial)
    functions.append(kernel(lambda n: n + 1))
    assert [each(4) for each in functions] == [24, 5]
