"""A table's maker: a function whose arguments are the settings of its command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import getdoc, signature
from typing import Any, get_type_hints

from crib_agents.data.tables import Table, save
from crib_training.outputs import command

from crib_env.settings import NewFile, checked_dataclass


@dataclass(frozen=True)
class Maker:
    """The maker of a table: its settings, and the function that takes them."""

    Settings: type[Any]
    run: Callable[[Any], None]


def makes(table: Table | None) -> Callable[[Callable[..., Any]], Maker]:
    """Decorator: make a `Maker` of a function that returns the arrays of a table by name.

    The function's arguments, one of them ``seed``, become the settings; ``out`` is added if there
    is a ``table`` to write. The function's docstring is their help.
    """

    def decorate(make: Callable[..., Any]) -> Maker:
        values = {name: one.default for name, one in signature(make).parameters.items()}
        types, help = get_type_hints(make, include_extras=True), getdoc(make) or ""
        help = help.replace("Args:", "Attributes:").rstrip()
        help += "\n    seed: fixes all random numbers."
        if table is not None:
            values["out"], types["out"] = table.path, NewFile
            help += "\n    out: the file to write."
        about = {"__annotations__": {name: types[name] for name in values}, "__doc__": help}
        bare = type("Settings", (), values | about)
        settings: type[Any] = checked_dataclass(frozen=True, kw_only=True)(bare)

        def run(chosen: Any) -> None:
            try:
                made = make(**{name: getattr(chosen, name) for name in values if name != "out"})
            except KeyboardInterrupt:
                state = "nothing is written" if table is None else f"{chosen.out} is as it was"
                raise KeyboardInterrupt(state) from None
            if table is not None:
                save(table, chosen.out, made_by=command(table.made_by, chosen, ("out",)), **made)

        return Maker(settings, run)

    return decorate
