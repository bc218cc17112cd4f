"""What others have added to Numba: overloads of its functions, attributes of its types.

Numba finds these by the types of what it compiles. So a kernel may use one that it does not name,
and whose edits its own code does not show.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from typing import Any, NamedTuple

from numba.core.typing.templates import builtin_registry

# The packages whose code is known by their versions.
OUTSIDE = ("numba", "numpy", "llvmlite", "builtins", "math", "cmath", "_operator")
IMPLICIT = ("builtins", "_operator")  # called by syntax, without being named
MADE = (None, "abc")  # the module of classes that Numba makes of a function


class Extension(NamedTuple):
    """One overload: of a function ``key``, or of the attribute of a type ``key``."""

    key: Any
    attribute: str | None
    home: str


_extensions: list[Extension] = []
_scanned = {"functions": 0, "attributes": 0, "globals": 0}


def find_extension(names: set[str], reached: Iterable[object]) -> Extension | None:
    """Return an extension that could be compiled into code; None if there is none."""
    _scan()
    called = {id(value) for value in reached}
    for extension in _extensions:
        if extension.attribute is not None:
            matches = extension.attribute in names
        elif callable(extension.key) and not isinstance(extension.key, type):
            home = getattr(extension.key, "__module__", None)
            matches = id(extension.key) in called or home in IMPLICIT
        else:
            matches = True
        if matches:
            return extension
    return None


@cache
def is_outside(module: object) -> bool:
    """Return whether a module's name is one of the packages `OUTSIDE`, or in one."""
    return isinstance(module, str) and module.partition(".")[0] in OUTSIDE


def _scan() -> None:
    """Look through what was registered since the last time: the lists only grow."""
    for name, begin in _scanned.items():
        items = getattr(builtin_registry, name)
        for item in items[begin:]:
            if name == "globals":
                key, templates = item[0], getattr(item[1], "templates", ())
            else:
                key, templates = item.key, (item,)
            if is_outside(getattr(key, "__module__", "builtins")):  # else it must be named
                for template in templates:
                    if home := next(_homes(template), None):
                        _extensions.append(Extension(key, getattr(template, "_attr", None), home))
        _scanned[name] = len(items)


def _homes(template: Any) -> Iterator[str]:
    """Yield the modules of others in which a template was written."""
    functions = (getattr(template, name, None) for name in ("_overload_func", "_definition_func"))
    for source in (*functions, template, *template.__bases__):
        module = getattr(source, "__module__", None)
        if not (module in MADE or is_outside(module)):
            yield module
