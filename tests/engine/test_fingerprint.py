"""Edits of compiled-in code change the fingerprint; code without one is never cached."""

from __future__ import annotations

import cProfile
import importlib
import json
import sys
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numba import float64, int32, int64
from numba.core import config

from checkout import ROOT, python
from crib_env.engine.cache import ENDING
from crib_env.engine.entries import entries_of
from crib_env.engine.family import FAMILIES, find_family
from crib_env.engine.fingerprint import CannotFingerprint, fingerprint
from crib_env.engine.jit import Entry, kernel, plain
from crib_env.engine.learners import learner_entries
from crib_env.engine.record import tuple_of

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")

SIGNATURE = int64(int64)
# A user's agent of two modules: `act` reads a helper, a constant or a class of the first.
HELPER = """
import enum, functools, types
from collections import namedtuple
from typing import NamedTuple
import numba
import numpy as np
from numba.extending import intrinsic, overload, overload_attribute, overload_method, register_jitable
import mine.deep.helper
"""
AGENT = """
from mine.deep.helper import *
def act(x):
    {}
"""
PLUS = "@numba.njit\ndef add(x): return x + 1\n"


class Edit(NamedTuple):
    """An edit of the first module, and the value of `act`, or its body if that has a ``return``."""

    name: str
    helper: str
    old: str = "x + 1"
    new: str = "x + 2"
    act: str = "add(x)"


SEEN = [
    Edit("a helper", PLUS),
    Edit("a helper called through its module", PLUS, act="mine.deep.helper.add(x)"),
    Edit("a constant read through its module", "N = 1", "1", "2", "mine.deep.helper.N + x"),
    Edit("a helper of a helper, through modules both times",
         PLUS + "@numba.njit\ndef more(x): return mine.deep.helper.add(x)", act="mine.deep.helper.more(x)"),
    Edit("a member's value in an enumeration", "class Suit(enum.IntEnum): SPADES = 1", "1", "2", "x + Suit.SPADES"),
    Edit("one member as a constant", "class Suit(enum.IntEnum): SPADES = 1\nN = Suit.SPADES", "1", "2", "x + N"),
    Edit("the order of a named tuple's fields", "class Pair(NamedTuple):\n    a: int\n    b: int",
         "a: int\n    b: int", "b: int\n    a: int", "pair = Pair(x, 1); return pair.a - pair.b"),
    Edit("a named tuple's default", "class Pair(NamedTuple):\n    a: int\n    b: int = 1", "1", "2", "Pair(x).b"),
    Edit("the fields of a constant named tuple", "P = namedtuple('P', 'a b')(1, 2)", "a b", "b a", "P.a - P.b"),
    Edit("one number within a long table", "T = np.zeros(5000)\nT[2500] = 1", "= 1", "= 2", "T[x]"),
    Edit("a table's order in memory", "T = np.array([[1, 2], [3, 4]], order='C')", "'C'", "'F'", "T.ravel()[x]"),
    Edit("the fields of a record type", "D = np.dtype([('a', 'i8'), ('b', 'i8')])", "'b', 'i8'", "'b', 'i4'",
         "np.zeros(1, dtype=D)[0].a"),
    Edit("helpers in a tuple", PLUS + "HELPERS = (add, add)", act="HELPERS[0](x)"),
    Edit("what a helper is compiled with", PLUS.replace("njit", "njit(boundscheck=False)"), "=False", "=True"),
    Edit("a text within a comprehension", PLUS.replace("x + 1", "len(['a' for _ in range(x)][0])"), "'a'", "'ab'"),
    Edit("what a closure holds", "def make(n):\n    @numba.njit\n    def add(x): return x + n\n    return add\n"
         "add = make(1)", "make(1)", "make(2)"),
    Edit("a module in a closure", "module = types.ModuleType('m')\nmodule.N = 1\ndef make(m):\n    @numba.njit\n"
         "    def add(x): return x + m.N\n    return add\nadd = make(module)", "N = 1", "N = 2"),
    Edit("an intrinsic", "@intrinsic\ndef add(context, x):\n    def generate(context, builder, signature, args):\n"
         "        return builder.add(args[0], args[0].type(1))\n    return x(x), generate", "type(1)", "type(2)"),
]  # fmt: skip

REFUSED = [
    Edit("a ufunc", PLUS.replace("njit", "vectorize")),
    Edit("an overload of a function", "def add(x): ...\n@overload(add)\ndef _(x): return lambda x: x + 1"),
    Edit("a function registered to be compiled", PLUS.replace("numba.njit", "register_jitable")),
    Edit("a method added to a type of Numba", "@overload_method(numba.types.Integer, 'plus_one')\ndef _(x):\n"
         "    return lambda x: x + 1", act="x.plus_one()"),
    Edit("an attribute added to a type of Numba", "@overload_attribute(numba.types.Integer, 'successor')\ndef _(x):\n"
         "    return lambda x: x + 1", act="x.successor"),
    Edit("a compiled class", "@numba.experimental.jitclass([('x', numba.int64)])\nclass Adder:\n"
         "    def __init__(self, x): self.x = x\n    def add(self): return self.x + 1", act="Adder(x).add()"),
    Edit("a module that gets a name while it runs", PLUS, act="m = mine.deep.helper; return m.add(x)"),
    Edit("a partial function", "@numba.njit\ndef two(n, x): return n + x\nadd = functools.partial(two, 1)",
         "two, 1", "two, 2"),
    Edit("Python within machine code", "def add(x): return x + 1",
         act="with numba.objmode(y='int64'): y = add(x)\n    return y"),
    Edit("Numba's own cache", PLUS.replace("njit", "njit(cache=True)")),
    Edit("another model of errors", PLUS.replace("njit", "njit(error_model='numpy')"), "'numpy'", "'python'"),
    Edit("a helper for given types alone", PLUS.replace("njit", "njit('int64(int64)')"), "(int64)", "(int32)"),
    Edit("types of local variables", PLUS.replace("njit", "njit(locals={'x': numba.int64})"), "int64", "int32"),
    Edit("a class", "class Settings: N = 1", "1", "2", "Settings.N + x"),
    Edit("a function that borrows a name of NumPy's", "@functools.wraps(np.sum)\ndef add(x): return x + 1"),
]  # fmt: skip


def make(edit: Edit, *, edited: bool = False, above: str = "") -> Callable[[int], int]:
    """Return `act` of an agent before or after an edit."""
    assert edit.helper.count(edit.old) == 1
    helper = edit.helper.replace(edit.old, edit.new) if edited else edit.helper
    act = AGENT.format(edit.act if "return" in edit.act else f"return {edit.act}")
    modules = {name: ModuleType(name) for name in ("mine", "mine.deep", "mine.deep.helper", "mine.agent")}
    modules["mine"].deep, modules["mine.deep"].helper = modules["mine.deep"], modules["mine.deep.helper"]  # type: ignore[attr-defined]
    sys.modules.update(modules)
    exec(compile(above + HELPER + helper, __file__, "exec"), vars(modules["mine.deep.helper"]))
    exec(compile(act, __file__, "exec"), vars(modules["mine.agent"]))
    found: Callable[[int], int] = modules["mine.agent"].act
    return found


def print_of(*code: Any, **keywords: Any) -> str | None:
    """Return the fingerprint of an edit's `act`; None if it has none."""
    try:
        return fingerprint(make(*code, **keywords))
    except CannotFingerprint:
        return None


@pytest.mark.parametrize("edit", [pytest.param(edit, id=edit.name) for edit in SEEN])
def test_fingerprint_changes_with_edits_of_compiled_code(edit: Edit) -> None:
    before = print_of(edit)
    assert before is not None
    assert print_of(edit, edited=True) != before
    assert print_of(edit, above="# A comment.\n\n") == before


@pytest.mark.parametrize("edit", [pytest.param(edit, id=edit.name) for edit in REFUSED])
def test_fingerprint_is_none_where_edits_cannot_be_seen(edit: Edit) -> None:
    assert None in (print_of(edit, edited=True), print_of(edit))


def test_fingerprint_includes_numba_extensions_only_where_used() -> None:
    make(next(edit for edit in REFUSED if edit.name.startswith("a method")))
    assert fingerprint(lambda x: len(x))


@numba.njit
def divide(x, y):
    return x // y


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_fingerprint_includes_numba_settings(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    before = fingerprint(plain(divide))
    monkeypatch.setattr(config, setting, 1)
    assert fingerprint(plain(divide)) != before


def test_fingerprint_is_none_for_changing_constants() -> None:
    table = [1, 2]
    helper = numba.njit(lambda x: table[x])
    assert fingerprint(lambda x: helper(x))
    table[0] = 3
    with pytest.raises(CannotFingerprint, match="has changed since it was first compiled"):
        fingerprint(lambda x: helper(x))


def test_fingerprint_separates_compiled_in_values() -> None:
    def of(value: Any) -> str:
        return fingerprint(lambda: value)

    values = [1, 2, 1.0, "a", (1, 2), (1, 3), int64, int32, np.int64, np.int32, np.dtype("i8"), np.sum, min]
    values += [np.arange(3), np.arange(4), kernel(lambda x: x + 1), kernel(lambda x: x + 2)]
    prints = [of(value) for value in values]
    assert len(set(prints)) == len(values)
    assert prints == [of(value) for value in values]


def test_fingerprint_includes_named_tuples_of_signature() -> None:
    kinds = tuple, namedtuple("Pair", "a b"), namedtuple("Pair", "b a")
    signatures = [tuple_of(kind, int64, last) for kind in kinds for last in (float64, int64)]
    assert len({fingerprint(plain(divide), signature) for signature in signatures}) == 6


def test_entries_called_from_python_can_be_stored() -> None:
    entries = []
    for package in (ROOT / "crib_env", ROOT / "agents/crib_agents", ROOT / "training/crib_training", ROOT / "research"):
        for file in package.rglob("*.py"):
            if "\n@entry(" in file.read_text(encoding="utf-8"):
                name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
                entries += [each for each in vars(importlib.import_module(name)).values() if isinstance(each, Entry)]
    for family in map(find_family, FAMILIES):
        entries += [*vars(entries_of(family)).values(), *vars(learner_entries(family)).values()]
    assert len(entries) > 100
    for each in entries:
        assert fingerprint(each.function, each.signature), each.name


def test_fingerprint_is_unchanged_by_a_profiler() -> None:
    entry = Entry(lambda x: x + 1, SIGNATURE, "test.profiled")
    before = fingerprint(entry.function)
    with cProfile.Profile():
        entry(1)
    assert fingerprint(entry.function) == before


# ---------------------------------------------------------------- whole processes

# Six edits that once went unnoticed, and the value of `act(5)` before and after each.
PLAYED = {
    "a helper called through its module": (6, 7),
    "a constant read through its module": (6, 7),
    "a member's value in an enumeration": (6, 7),
    "the order of a named tuple's fields": (4, -4),
    "a ufunc": (6, 7),
    "an overload of a function": (6, 7),
}


def adding(n: int) -> Entry:
    @kernel
    def helper(x):  # too long to be inlined
        for i in range(x):
            for j in range(i):
                if x % (i + 2) == n:
                    x += i * n
                elif x % (j + 3) == n:
                    x -= j * n
                elif (x + j) % (i + 5) == n:
                    x ^= n
        return x + n

    return Entry(lambda x: helper(x) + helper(x + 1) + helper(2 * x) + helper(x // 3), SIGNATURE, f"test.add{n}")


def start(turn: int) -> None:
    """Print the results of a process: the first, the second or the third that shares a folder."""

    @kernel
    def total(x):
        y = 0.0
        for i in range(100):
            y += x / (i + 1)
        return y

    added = [adding(n)(0) for n in ([5], [7], [5, 7])[turn]]  # first: Numba numbers them alike in each process
    if turn == 0:  # other callers are the first to compile these helpers
        numba.njit(fastmath=True)(lambda x: total(x))(1.1)
        numba.njit(lambda x, y: divide(x, y))(1, 1)
    played = [make(edit, edited=turn > 0) for edit in SEEN + REFUSED if edit.name in PLAYED]
    results = {
        "played": [Entry(act, SIGNATURE, f"test.act{n}")(5) for n, act in enumerate(played)],
        "added": added,
        "total": Entry(lambda x: total(x), float64(float64), "test.total")(1.1) - plain(total)(1.1),
        "print": fingerprint(lambda x: x in {"a", "b", "c", "d"}),
    }
    try:
        results["divided"] = Entry(lambda x: divide(x + 1, x), SIGNATURE, "test.divide")(0)
    except ZeroDivisionError:
        results["divided"] = "refused"
    print(json.dumps(results))


def test_cache_of_several_processes_keeps_code_apart(tmp_path: Path) -> None:
    code = "import test_fingerprint; test_fingerprint.start({})"
    starts = [
        json.loads(python(code.format(turn), NUMBA_CACHE_DIR=str(tmp_path), PYTHONHASHSEED=str(turn)))
        for turn in range(3)
    ]
    played, added, totals, prints, divided = ([each[key] for each in starts] for key in starts[0])
    # An edited agent plays as edited.
    before, after = ([results[i] for results in PLAYED.values()] for i in range(2))
    assert played == [before, after, after]
    # Closures from one text share symbols unless the compiler separates them.
    assert added == [[21], [29], [21, 29]]
    # A compiled helper takes error model and fastmath from the first caller that compiles it.
    assert totals == [0, 0, 0]
    assert divided == ["refused", 0, 0]
    stored = {path.name.partition("-")[0].removeprefix("test.") for path in tmp_path.glob(f"*{ENDING}")}
    assert stored == {"act0", "act1", "act2", "act3", "add5", "add7", "divide", "total"}
    # The order of a set differs between processes.
    assert len(set(prints)) == 1
