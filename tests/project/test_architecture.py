"""The rules of structure for every module of the four packages, and for the tests.

`make lint` checks the direction of imports; these tests check the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from inspect import cleandoc
from pathlib import Path

import pytest

from checkout import ROOT, TESTS
from crib_env.engine.family import FAMILIES

PACKAGES = [ROOT / path for path in ("crib_env", "agents/crib_agents", "play/crib_play", "training/crib_training")]
MOST_LINES = 700

MODULES = {
    ".".join(path.relative_to(package.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for package in PACKAGES
    for path in sorted(package.rglob("*.py"))
}


TREES = {module: ast.parse(path.read_text()) for module, path in MODULES.items()}


def test_modules_have_700_lines_at_most() -> None:
    lines = {module: len(path.read_text().splitlines()) for module, path in MODULES.items()}
    assert not {m: n for m, n in lines.items() if n > MOST_LINES}


def branches_by_family(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield line and name where the name of a family is compared with, or looked up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.MatchValue | ast.Subscript):
            for one in ast.walk(node):
                if isinstance(one, ast.Constant) and one.value in FAMILIES:
                    yield one.lineno, one.value


def test_modules_do_not_branch_on_a_familys_name() -> None:
    """Presets and families share names; code may compare with a preset's name only."""
    found = [
        f"{module}, line {line}: {name!r}"
        for module, tree in TREES.items()
        for line, name in branches_by_family(tree)
        if not module.startswith(f"crib_env.engine.{name}") and module != "crib_env.rules"  # which defines them
    ]
    assert not found, "these ask which game it is, not what the rules say"


def imports(tree: ast.Module) -> Iterator[tuple[str, str | None]]:
    """Yield each imported module with the name imported from it, at any depth."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, None) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.module, alias.name) for alias in node.names)


def test_modules_have_no_import_cycle() -> None:
    """Imports inside functions and imports for types alone count too."""
    graph: dict[str, set[str]] = {}
    for module in MODULES:
        graph[module] = {
            name
            for source, taken in imports(TREES[module])
            for name in (f"{source}.{taken}" if f"{source}.{taken}" in MODULES else source,)
            if name in MODULES and name != module
        }
    try:
        list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_library_names_no_agents_and_training() -> None:
    """`make lint` reads import statements; this test finds `import_module` with a name."""
    by_name = re.compile(r"import_module\(.crib_(agents|play|training)")
    assert not [m for m, path in MODULES.items() if m.startswith("crib_env") and by_name.search(path.read_text())]


def described(text: str | None, section: str) -> set[str]:
    """Return the names that a section of a docstring describes."""
    text = cleandoc(text or "")
    found = re.search(rf"^{section}:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    lines = re.findall(r"^    (\w[\w, ]*): ", found[1], re.MULTILINE) if found else []
    return {name.strip() for line in lines for name in line.split(",")}


def test_docstrings_describe_arguments_and_fields_by_name() -> None:
    """Docstrings are the help of commands: a setting without a description has an empty help."""
    for module, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                known = {one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)}
                assert described(ast.get_docstring(node), "Args") <= known, f"{module}, line {node.lineno}"
            elif isinstance(node, ast.ClassDef) and node.name == "Settings":
                kind = import_module(module).Settings
                names = [described(one.__doc__, "Attributes") for one in kind.__mro__[:-1]]
                assert {field.name for field in fields(kind)} <= set().union(*names), module
                assert names[0] <= {field.name for field in fields(kind)}, module


def undecided(tree: ast.Module) -> Iterator[int]:
    """Yield the lines at which text is read or written in the encoding of the system."""
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        function, words = call.func, [word.arg for word in call.keywords]
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if name in ("read_text", "write_text"):
            chosen = len(call.args) > (name == "write_text") or "encoding" in words
        elif name in ("open", "fdopen") and len(call.args) < 4:
            modes = [one.value for one in call.args if isinstance(one, ast.Constant)]
            of_file = isinstance(function, ast.Name) or name == "fdopen"
            # `path.open("a")` opens a file; `Image.open(file)` and our own `open` do not.
            is_text = of_file or any(str(mode).strip("rwax+b") == "" for mode in modes) or words
            binary = any("b" in str(mode) for mode in modes)
            chosen = not is_text or binary or "encoding" in words
        else:
            chosen = name != "Popen" or "text" not in words or "encoding" in words
        if not chosen:
            yield call.lineno


def test_text_files_are_read_and_written_as_utf_8() -> None:
    """The default encoding of Windows is a code page."""
    found = [f"{one}:{line}" for one, tree in TREES.items() for line in undecided(tree)]
    assert not found


# --- every clause of seeds/ has a test that carries its id, and no test another id ----------------


def ids(pattern: str, paths: Iterable[Path]) -> set[str]:
    return {one.upper() for path in paths for one in re.findall(pattern, path.read_text(), re.MULTILINE)}


CLAUSES = ids(r"^### ([A-Z]\d+) ", (ROOT / "seeds").glob("*.md"))


def test_seeds_hold_every_clause() -> None:
    """The clause ids of the games; later ones continue the numbering."""
    for letter, least in zip("CHFMT", (5, 12, 7, 12, 13), strict=True):
        numbers = sorted(int(clause[1:]) for clause in CLAUSES if clause[0] == letter)
        assert numbers == list(range(1, max(least, len(numbers)) + 1))
    assert {clause[0] for clause in CLAUSES} == set("CHFMT")


def test_every_clause_has_a_test_and_every_id_its_clause() -> None:
    assert ids(r"^def test_([a-z]\d+)_", TESTS.rglob("test_*.py")) == CLAUSES
