"""The weights of `learned`: networks for one set of rules, in a file that names those rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from crib_agents.files import check_format, reading, shown, to_bytes, write_whole
from crib_agents.honours import fields_of, read_rules
from crib_agents.learned import many_hand, table_top, two_hand
from crib_agents.learned.network import LAYERS, WIDEST, Layers, LearnedFamily, Net, flatten
from crib_env.arrays import Array, Doubles, Floats
from crib_env.rules import Rules

FAMILIES: dict[str, LearnedFamily] = {one.name: one for one in (two_hand.FAMILY, table_top.FAMILY, many_hand.FAMILY)}
FORMAT = "crib_env values"
FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False)
class Weights:
    """The nets for one set of rules."""

    rules: Rules
    nets: Mapping[str, Layers]  # the layers of each net, by name; float32
    made_by: str = ""  # the command that made them
    # the numbers of each table, by name; float32
    tables: Mapping[str, Floats] = field(default_factory=dict)
    # of the softmax over the nets' values, in points; 0: take the highest value
    temperature: float = 0.0

    def header(self) -> dict[str, Any]:
        """Return the header of the file."""
        return {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "family": self.rules.family,
            "rules": self.rules.name,
            "rules_fields": fields_of(self.rules),
            "features": {name: _features(net) for name, net in self.known.nets.items()},
            "made_by": self.made_by,
            "temperature": self.temperature,
        }

    def to_bytes(self, dtype: npt.DTypeLike = np.float32) -> bytes:
        """Return the bytes of the file, with numbers of ``dtype``."""
        tensors = {name: np.ascontiguousarray(numbers, dtype=dtype) for name, numbers in self.tables.items()}
        for name, layers in self.nets.items():
            for i, (weight, bias) in enumerate(layers):
                tensors[f"{name}.{i}.weight"] = np.ascontiguousarray(weight, dtype=dtype)
                tensors[f"{name}.{i}.bias"] = np.ascontiguousarray(bias, dtype=dtype)
        return to_bytes(self.header(), tensors)

    def save(self, path: str | Path, dtype: npt.DTypeLike = np.float32) -> None:
        """Write the file."""
        write_whole(Path(path), self.to_bytes(dtype))

    @classmethod
    def load(cls, path: str | Path) -> Weights:
        """Read a file written by `save`."""
        with reading(path) as (about, tensors):
            check_format(about, FORMAT, FORMAT_VERSION)
            known = find_learned(about.get("family"))
            expected = {name: _features(net) for name, net in known.nets.items()}
            if about.get("features") != expected:
                raise ValueError(f"expected nets over the features {expected}, found {shown(about.get('features'))}")
            names = {
                f"{name}.{i}.{part}" for name in known.nets for i in range(LAYERS) for part in ("weight", "bias")
            } | set(known.tables)
            if set(tensors) != names:
                raise ValueError(
                    f"expected the tensors {', '.join(sorted(names))}, found {', '.join(sorted(tensors)) or 'none'}"
                )
            rules = read_rules(known.name, about.get("rules"), about.get("rules_fields"), known.fields)
            nets = {name: _layers(name, net, tensors) for name, net in known.nets.items()}
            numbers = {name: _table(name, shape, tensors[name]) for name, shape in known.tables.items()}
            temperature = about.get("temperature", 0.0)
            if type(temperature) not in (int, float) or not 0.0 <= temperature < math.inf:
                raise ValueError(f"expected a temperature of 0 or more, found {shown(temperature)}")
            return cls(rules, nets, str(about.get("made_by")), numbers, float(temperature))

    @property
    def known(self) -> LearnedFamily:
        """The family of its rules."""
        return FAMILIES[self.rules.family]

    def key(self) -> int:
        """Return the key by which kernels find the nets for these rules."""
        return self.known.key(self.rules)

    def flat(self) -> Doubles:
        """Return nets, tables and further values as one array that begins with their offsets."""
        known = self.known
        parts = [flatten(self.nets[name]) for name in known.nets]
        parts += [self.tables[name].astype(np.float64).ravel() for name in known.tables]
        if known.knows is not None:
            parts.append(known.knows(self.rules))
        sizes = [len(part) for part in parts]
        places = len(parts) + np.cumsum([0, *sizes[:-1]])
        return np.concatenate([places.astype(np.float64), *parts])


def find_learned(family: object) -> LearnedFamily:
    """Return a family's description by its name."""
    if not isinstance(family, str) or family not in FAMILIES:
        raise ValueError(
            f"expected a family that the learned agent plays ({', '.join(FAMILIES)}), found {shown(family)}"
        )
    return FAMILIES[family]


def _features(net: Net) -> dict[str, Any]:
    return {"name": net.features, "version": net.version, "size": net.inputs}


def _layers(name: str, net: Net, tensors: Mapping[str, Array]) -> Layers:
    """Return the layers of a net."""
    layers = []
    size = net.inputs
    for i in range(LAYERS):
        weight, bias = tensors[f"{name}.{i}.weight"], tensors[f"{name}.{i}.bias"]
        last = i == LAYERS - 1
        rows = net.outputs if last else len(bias) if bias.ndim == 1 else 0
        if weight.shape != (rows, size) or bias.shape != (rows,) or not 0 < rows <= WIDEST:
            wanted = str(net.outputs) if last else f"1 to {WIDEST}"
            raise ValueError(
                f"expected layer {i} of the net {name!r} to lead from {size} to {wanted} numbers, "
                f"found a weight of shape {weight.shape} and a bias of shape {bias.shape}"
            )
        if weight.dtype.kind != "f" or bias.dtype.kind != "f":
            raise ValueError(f"layer {i} of the net {name!r}: expected floats, found {weight.dtype} and {bias.dtype}")
        layers.append((weight.astype(np.float32), bias.astype(np.float32)))
        size = rows
    return layers


def _table(name: str, shape: tuple[int, ...], numbers: Array) -> Floats:
    """Return a table's numbers."""
    if numbers.shape != shape or numbers.dtype.kind != "f":
        raise ValueError(
            f"expected the table {name!r} to be floats of shape {shape}, found {numbers.dtype} of shape {numbers.shape}"
        )
    return numbers.astype(np.float32)
