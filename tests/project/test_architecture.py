"""How the house is built: what every module of the four packages keeps to, and the tests.

`make lint` holds in which direction imports go; here is what its contracts do not say.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from inspect import cleandoc

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
    """Yield line and name where the name of a family is compared with, or looked up in a dict."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Dict):
            sides = [key for key in node.keys if key is not None]
        elif isinstance(node, ast.MatchValue):
            sides = [node.value]
        elif isinstance(node, ast.Subscript):
            sides = [node.slice]
        else:
            continue
        for side in sides:
            constants = side.elts if isinstance(side, (ast.Tuple, ast.List, ast.Set)) else [side]
            for constant in constants:
                if isinstance(constant, ast.Constant) and constant.value in FAMILIES:
                    yield constant.lineno, constant.value


def tables_by_family(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of a module's own dicts whose every key is a family: its parts by family."""
    for node in tree.body:
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(node.value, ast.Dict):
            keys = node.value.keys
            if all(isinstance(key, ast.Constant) and key.value in FAMILIES for key in keys):
                yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


def acts(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of assignments to ``acts``, the games an agent plays."""
    for node in ast.walk(tree):
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        if any(isinstance(target, ast.Name) and target.id == "acts" for target in targets):
            yield from range(node.lineno, node.end_lineno + 1)


def test_modules_do_not_branch_on_a_familys_name() -> None:
    """Presets and families share names; code may compare with a preset's name only."""
    found = []
    for module, tree in TREES.items():
        here = {*acts(tree), *tables_by_family(tree)}
        found += [
            f"{module}, line {line}: {name!r}"
            for line, name in branches_by_family(tree)
            if line not in here and not module.startswith(f"crib_env.engine.{name}")
            if module != "crib_env.rules"  # which defines them
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
    """Nor one of imports inside functions, or for types alone."""
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


def test_library_runs_without_agents_and_training() -> None:
    """`make lint` reads imports; this one also sees those made by name."""
    assert {"crib_agents", "crib_play", "crib_training"}.isdisjoint(
        source.partition(".")[0]
        for module in MODULES
        if module.startswith("crib_env")
        for node in ast.walk(TREES[module])
        for source in _imported(node)
    )


def _imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
        return [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
    return []


def described(text: str | None, section: str) -> set[str]:
    """Return the names that a section of a docstring describes."""
    text = cleandoc(text or "")
    found = re.search(rf"^{section}:\n((?:    .*\n?|\n)+)", text, re.MULTILINE)
    lines = re.findall(r"^    (\w[\w, ]*): ", found[1], re.MULTILINE) if found else []
    return {name.strip() for line in lines for name in line.split(",")}


def test_docstrings_describe_arguments_and_fields_by_name() -> None:
    """The help of the commands is made of them: a setting without words has an empty help."""
    nodes = ((module, node) for module, tree in TREES.items() for node in ast.walk(tree))
    for module, node in nodes:
        where = f"{module}, line {getattr(node, 'lineno', 0)}"
        if isinstance(node, ast.FunctionDef):
            every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            extra = [one for one in (node.args.vararg, node.args.kwarg) if one is not None]
            known = {one.arg for one in [*every, *extra]}
            assert described(ast.get_docstring(node), "Args") <= known, where
        elif isinstance(node, ast.ClassDef) and node.name == "Settings":
            known = {
                one.target.id
                for one in node.body
                if isinstance(one, ast.AnnAssign)
                and isinstance(one.target, ast.Name)
                and "ClassVar" not in ast.unparse(one.annotation)
            }
            names = described(ast.get_docstring(node), "Attributes")
            assert names <= known, where
            if rest := known - names - {"_"}:  # KW_ONLY
                kinds = import_module(module).Settings.__mro__[1:-1]
                assert rest <= set().union(*(described(k.__doc__, "Attributes") for k in kinds))


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
    """Windows would take its own code page."""
    found = [f"{one}:{line}" for one, tree in TREES.items() for line in undecided(tree)]
    assert not found


# --- every clause of seeds/ has a test that carries its id, and no test another id ----------------


HEADING = re.compile(r"^### ([A-Z]\d+) ", re.MULTILINE)
TEST = re.compile(r"^def test_([a-z]\d+)_", re.MULTILINE)


def clause_ids(pages: list[str]) -> set[str]:
    return {clause for page in pages for clause in HEADING.findall(page)}


def test_ids(sources: list[str]) -> set[str]:
    return {clause.upper() for source in sources for clause in TEST.findall(source)}


test_ids.__test__ = False  # type: ignore[attr-defined]

PAGES = [path.read_text() for path in sorted((ROOT / "seeds").glob("*.md"))]
SOURCES = [path.read_text() for path in sorted(TESTS.rglob("test_*.py"))]


def test_seeds_hold_every_clause() -> None:
    """The clause ids of the games; later ones continue the numbering."""
    found = clause_ids(PAGES)
    for letter, least in zip("CHFMT", (5, 12, 7, 12, 13), strict=True):
        numbers = sorted(int(clause[1:]) for clause in found if clause[0] == letter)
        assert numbers == list(range(1, max(least, len(numbers)) + 1))
    assert {clause[0] for clause in found} == set("CHFMT")


def test_every_clause_has_a_test_that_carries_its_id() -> None:
    assert clause_ids(PAGES) - test_ids(SOURCES) == set()


def test_test_names_use_known_clause_ids() -> None:
    assert test_ids(SOURCES) - clause_ids(PAGES) == set()
