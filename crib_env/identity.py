"""`ByIdentity`: notes about objects that must neither keep them alive nor ask for their hash."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Generic, TypeVar
from weakref import ref

V = TypeVar("V")


class ByIdentity(Generic[V]):
    """A value for each of some objects, while the object lives; equal objects have their own.

    Objects that take no weak reference are not remembered. Copies and pickles are empty.
    """

    def __init__(self) -> None:
        self._values: dict[int, tuple[ref[Any], V]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[type[ByIdentity[V]], tuple[()]]:
        return ByIdentity, ()

    def get(self, one: object) -> V | None:
        """Return the value of an object, or None."""
        found = self._values.get(id(one))
        return found[1] if found is not None and found[0]() is one else None

    def put(self, one: object, value: V) -> None:
        """Set the value of an object."""
        values, key = self._values, id(one)
        with suppress(TypeError):  # it takes no weak reference
            values[key] = ref(one, lambda _: values.pop(key, None)), value
