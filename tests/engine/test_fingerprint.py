"""An edit of anything that is compiled in is seen, or the code is never read from the cache."""

from __future__ import annotations

import cProfile
import importlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numba
import pytest
from numba.core import config

from checkout import ROOT, python
from crib_env.engine.fingerprint import CannotFingerprint, fingerprint
from crib_env.engine.jit import Entry
from crib_env.engine.record import tuple_of

pytestmark = pytest.mark.skipif(config.DISABLE_JIT, reason="nothing is compiled")


PLUS = "import numba\n@numba.njit\ndef add(x):\n    return x + 1\n"
SUIT = "import enum\nclass Suit(enum.IntEnum):\n    SPADES = 1\n"
NAMED = "from mine.deep.helper import add\ndef act(x):\n    return add(x)\n"
DOTTED = "import mine.deep.helper\ndef act(x):\n    return mine.deep.helper."


class Edit(NamedTuple):
    """An agent that anyone might write, and an edit of something that it is made of."""

    name: str
    helper: str  # the edited module, imported by the agent
    old: str = "x + 1"
    new: str = "x + 2"
    agent: str = NAMED  # a module with a function `act(x)`


SEEN = [
    Edit("a helper", PLUS),
    Edit("a helper called through its module", PLUS, agent=DOTTED + "add(x)\n"),
    Edit("a constant read through its module", "N = 1\n", "1", "2", agent=DOTTED + "N + x\n"),
    Edit("a helper of a helper, through modules both times",
         "import numba\n@numba.njit\ndef add(x):\n    return x + 1\nimport mine.deep.helper\n"
         "@numba.njit\ndef more(x):\n    return mine.deep.helper.add(x)\n",
         agent=DOTTED + "more(x)\n"),
    Edit("a member's value in an enumeration", SUIT, "1", "2",
         agent="from mine.deep.helper import Suit\ndef act(x):\n    return x + Suit.SPADES\n"),
    Edit("one member as a constant",
         "import enum\nclass Suit(enum.IntEnum):\n    SPADES = 1\nN = Suit.SPADES\n", "1", "2",
         agent="from mine.deep.helper import N\ndef act(x):\n    return x + N\n"),
    Edit("the order of a named tuple's fields",
         "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int\n",
         "a: int\n    b: int", "b: int\n    a: int",
         agent="from mine.deep.helper import Pair\ndef act(x):\n    pair = Pair(x, 1)\n"
         "    return pair.a - pair.b\n"),
    Edit("a named tuple's default",
         "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int\n    b: int = 1\n",
         "1", "2",
         agent="from mine.deep.helper import Pair\ndef act(x):\n    return Pair(x).b\n"),
    Edit("the fields of a constant named tuple",
         "from collections import namedtuple\nP = namedtuple('P', 'a b')(1, 2)\n", "a b", "b a",
         agent="from mine.deep.helper import P\ndef act(x):\n    return P.a - P.b\n"),
    Edit("one number within a long table", "import numpy as np\nT = np.zeros(5000)\nT[2500] = 1\n",
         "= 1", "= 2", agent="from mine.deep.helper import T\ndef act(x):\n    return T[x]\n"),
    Edit("a table's order in memory",
         "import numpy as np\nT = np.array([[1, 2], [3, 4]], order='C')\n", "'C'", "'F'",
         agent="from mine.deep.helper import T\ndef act(x):\n    return T.ravel()[x]\n"),
    Edit("the fields of a record type",
         "import numpy as np\nD = np.dtype([('a', 'i8'), ('b', 'i8')])\n", "'b', 'i8'",
         "'b', 'i4'",
         agent="from mine.deep.helper import D\nimport numpy as np\ndef act(x):\n"
         "    return np.zeros(1, dtype=D)[0].a\n"),
    Edit("helpers in a tuple",
         "import numba\n@numba.njit\ndef add(x):\n    return x + 1\nHELPERS = (add, add)\n",
         agent="from mine.deep.helper import HELPERS\ndef act(x):\n    return HELPERS[0](x)\n"),
    Edit("what a helper is compiled with", PLUS.replace("njit", "njit(boundscheck=False)"),
         "boundscheck=False", "boundscheck=True"),
    Edit("a text within a comprehension",
         "import numba\n@numba.njit\ndef add(x):\n    return len(['a' for _ in range(x)][0])\n",
         "'a'", "'ab'"),
    Edit("what a closure holds",
         "import numba\ndef make(n):\n    @numba.njit\n    def add(x):\n        return x + n\n"
         "    return add\nadd = make(1)\n", "make(1)", "make(2)"),
    Edit("a module in a closure",
         "import numba, types\nconstants = types.ModuleType('constants')\nconstants.N = 1\n"
         "def make(m):\n    @numba.njit\n    def add(x):\n        return x + m.N\n    return add\n"
         "add = make(constants)\n", "N = 1", "N = 2"),
    Edit("an intrinsic",
         "from numba.extending import intrinsic\n@intrinsic\ndef add(context, x):\n"
         "    def generate(context, builder, signature, args):\n"
         "        return builder.add(args[0], args[0].type(1))\n    return x(x), generate\n",
         "type(1)", "type(2)"),
]  # fmt: skip

REFUSED = [
    Edit("a ufunc", "import numba\n@numba.vectorize\ndef add(x):\n    return x + 1\n"),
    Edit("an overload of a function",
         "from numba.extending import overload\ndef add(x): ...\n@overload(add)\ndef _(x):\n"
         "    return lambda x: x + 1\n"),
    Edit("a function registered to be compiled",
         "from numba.extending import register_jitable\n@register_jitable\ndef add(x):\n"
         "    return x + 1\n"),
    Edit("a method added to a type of Numba",
         "from numba import types\nfrom numba.extending import overload_method\n"
         "@overload_method(types.Integer, 'plus_one')\ndef _(x):\n    return lambda x: x + 1\n",
         agent="import mine.deep.helper\ndef act(x):\n    return x.plus_one()\n"),
    Edit("an attribute added to a type of Numba",
         "from numba import types\nfrom numba.extending import overload_attribute\n"
         "@overload_attribute(types.Integer, 'successor')\ndef _(x):\n    return lambda x: x + 1\n",
         agent="import mine.deep.helper\ndef act(x):\n    return x.successor\n"),
    Edit("a compiled class",
         "import numba\n@numba.experimental.jitclass([('x', numba.int64)])\nclass Adder:\n"
         "    def __init__(self, x):\n        self.x = x\n    def add(self):\n"
         "        return self.x + 1\n", "self.x + 1", "self.x + 2",
         agent="from mine.deep.helper import Adder\ndef act(x):\n    return Adder(x).add()\n"),
    Edit("a module that gets a name while it runs", PLUS,
         agent="import mine.deep.helper\ndef act(x):\n    m = mine.deep.helper\n"
         "    return m.add(x)\n"),
    Edit("a partial function",
         "import functools, numba\n@numba.njit\ndef two(n, x):\n    return n + x\n"
         "add = functools.partial(two, 1)\n", "two, 1", "two, 2"),
    Edit("Python within machine code", "def add(x):\n    return x + 1\n",
         agent="import numba\nfrom mine.deep.helper import add\ndef act(x):\n"
         "    with numba.objmode(y='int64'):\n        y = add(x)\n    return y\n"),
    Edit("Numba's own cache", PLUS.replace("njit", "njit(cache=True)")),
    Edit("another model of errors", PLUS.replace("njit", "njit(error_model='numpy')"), "'numpy'",
         "'python'"),
    Edit("a helper for given types alone", PLUS.replace("njit", "njit('int64(int64)')"),
         "'int64(int64)'", "'int64(int32)'"),
    Edit("types of local variables", PLUS.replace("njit", "njit(locals={'x': numba.int64})"),
         "int64", "int32"),
    Edit("a class", "class Settings:\n    N = 1\n", "1", "2",
         agent="from mine.deep.helper import Settings\ndef act(x):\n"
         "    return Settings.N + x\n"),
    Edit("a function that borrows a name of NumPy's",
         "import functools, numpy\n@functools.wraps(numpy.sum)\ndef add(x):\n    return x + 1\n"),
]  # fmt: skip


@pytest.fixture
def mine(tmp_path: Path) -> Iterator[Path]:
    """Return the folder of a package of anyone's, which can be imported from it again and again."""
    (tmp_path / "mine/deep").mkdir(parents=True)
    (tmp_path / "mine/__init__.py").touch()
    (tmp_path / "mine/deep/__init__.py").touch()
    sys.path.insert(0, str(tmp_path))
    forget()
    yield tmp_path / "mine"
    sys.path.remove(str(tmp_path))
    forget()


def forget() -> None:
    importlib.invalidate_caches()
    for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
        del sys.modules[name]


def write(mine: Path, agent: str, helper: str) -> None:
    (mine / "agent.py").write_text(agent)
    (mine / "deep/helper.py").write_text(helper)
    for kept in mine.rglob("__pycache__"):  # two edits in one second
        shutil.rmtree(kept)
    forget()


def name_of_code(mine: Path, agent: str, helper: str) -> str | None:
    """Return the fingerprint of `act`; None if it has none."""
    write(mine, agent, helper)
    try:
        return fingerprint(importlib.import_module("mine.agent").act)
    except CannotFingerprint:
        return None


@pytest.mark.parametrize("edit", [pytest.param(edit, id=edit.name) for edit in SEEN])
def test_fingerprint_changes_with_edits_of_compiled_code(mine: Path, edit: Edit) -> None:
    assert edit.helper.count(edit.old) == 1
    before = name_of_code(mine, edit.agent, edit.helper)
    after = name_of_code(mine, edit.agent, edit.helper.replace(edit.old, edit.new))
    again = name_of_code(mine, edit.agent, "# A comment.\n\n" + edit.helper)
    assert before is not None
    assert after != before
    assert again == before


@pytest.mark.parametrize("edit", [pytest.param(edit, id=edit.name) for edit in REFUSED])
def test_fingerprint_is_none_where_edits_cannot_be_seen(mine: Path, edit: Edit) -> None:
    assert edit.helper.count(edit.old) == 1
    after = name_of_code(mine, edit.agent, edit.helper.replace(edit.old, edit.new))
    before = name_of_code(mine, edit.agent, edit.helper)
    assert None in (before, after)


def test_fingerprint_includes_numba_extensions_only_where_used(mine: Path) -> None:
    write(mine, "", next(e.helper for e in REFUSED if e.name.startswith("a method")))
    importlib.import_module("mine.deep.helper")

    def apart(x):
        return len(x)

    assert fingerprint(apart)


@pytest.mark.parametrize("setting", ["BOUNDSCHECK", "OPT"])
def test_fingerprint_includes_numba_settings(monkeypatch: pytest.MonkeyPatch, setting: str) -> None:
    def act(x):
        return x

    before = fingerprint(act)
    monkeypatch.setattr(config, setting, 1)
    assert fingerprint(act) != before


def test_fingerprint_is_none_for_changing_constants() -> None:
    table = [1, 2]

    @numba.njit
    def helper(x):
        return table[x]

    def act(x):
        return helper(x)

    assert fingerprint(act)
    table[0] = 3
    with pytest.raises(CannotFingerprint, match="has changed since it was first compiled"):
        fingerprint(act)


def test_fingerprint_includes_named_tuples_of_signature() -> None:
    def act(x):
        return x

    class Pair(NamedTuple):
        a: int
        b: int

    class Other(NamedTuple):
        b: int
        a: int

    kinds = (tuple, Pair, Other)
    mixed, alike = (
        {fingerprint(act, tuple_of(kind, numba.int64, last)) for kind in kinds} for last in (numba.float64, numba.int64)
    )
    assert len(mixed | alike) == 6


def test_entries_called_from_python_can_be_stored() -> None:
    entries = []
    for package in (ROOT / "crib_env", ROOT / "agents/crib_agents", ROOT / "training/crib_training", ROOT / "research"):
        for file in package.rglob("*.py"):
            if "\n@entry(" in file.read_text(encoding="utf-8"):
                name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
                module = importlib.import_module(name)
                entries += [each for each in vars(module).values() if isinstance(each, Entry)]
    assert len(entries) > 50
    for each in entries:
        assert fingerprint(each.function, each.signature), each.name


def test_fingerprint_is_unchanged_by_a_profiler() -> None:
    def add(x):
        return x + 1

    before, entry = fingerprint(add), Entry(add, numba.int64(numba.int64), "test.profiled")
    with cProfile.Profile():
        entry(1)
    assert fingerprint(add) == before


# ---------------------------------------------------------------- whole processes

# The six that once played on as before, and what `act(5)` is before and after the edit.
PLAYED = {
    "a helper called through its module": (6, 7),
    "a constant read through its module": (6, 7),
    "a member's value in an enumeration": (6, 7),
    "the order of a named tuple's fields": (4, -4),
    "a ufunc": (6, 7),
    "an overload of a function": (6, 7),
}


def test_cache_edited_agents_play_as_edited(tmp_path: Path) -> None:
    edits = [edit for edit in SEEN + REFUSED if edit.name in PLAYED]
    packages = {edit.name: f"mine_{i}" for i, edit in enumerate(edits)}
    code = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\n"
        "from importlib import import_module\n"
        "from numba import int64\n"
        "from crib_env.engine.jit import Entry\n"
        f"for name in {list(packages.values())}:\n"
        "    act = import_module(name + '.agent').act\n"
        "    print(Entry(act, int64(int64), name + '.act')(5))\n"
    )

    def play(edited: bool) -> dict[str, int]:
        for edit, package in zip(edits, packages.values(), strict=True):
            (tmp_path / package / "deep").mkdir(parents=True, exist_ok=True)
            helper = edit.helper.replace(edit.old, edit.new) if edited else edit.helper
            write(tmp_path / package, edit.agent.replace("mine", package), helper)
        output = python(code, NUMBA_CACHE_DIR=str(tmp_path / "code")).split()
        return dict(zip(packages, map(int, output), strict=True))

    assert play(edited=False) == {name: before for name, (before, _) in PLAYED.items()}
    assert play(edited=True) == {name: after for name, (_, after) in PLAYED.items()}
