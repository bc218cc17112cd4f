"""Do the tests notice a changed rule? Change one operator, constant or statement at a time.

    NUMBA_DISABLE_JIT=1 python -m research.mutants --sample 300 --seed 1 --out mutants.json

Each change (a mutant) is made in a fork of a process that has collected the tests. The fork
replaces the function's code, so every importer of the function runs the change. The kernels run as
ordinary Python. Tests that call the function run against the mutant, the best at noticing first,
until one fails. If the tests take more than ten times their processor time, as in an endless loop,
the mutant counts as noticed. Some runs change nothing: if a test fails there, no result can be
trusted.
"""

from __future__ import annotations

import ast
import importlib
import json
import os
import random
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import pytest
from _pytest.runner import runtestprotocol
from crib_training.command_line import start
from crib_training.outputs import write_json

from crib_env.settings import CountOrNone, NewFile, Seed, Workers, checked_dataclass

MODULES = (
    "crib_env.engine.show",
    "crib_env.scoring.explained",
    "crib_env.scoring.many",
    "crib_env.engine.hands.transitions",
    "crib_env.engine.hands.slots",
    "crib_env.engine.table_top.records",
    "crib_env.engine.table_top.transitions",
)
TESTS = (
    "tests/engine/test_clauses_six_card.py",
    "tests/engine/test_clauses_five_card.py",
    "tests/engine/test_clauses_common.py",
    "tests/engine/test_clauses_many_hand.py",
    "tests/engine/test_scoring.py",
    "tests/engine/test_worked_examples.py",
    "tests/engine/test_lockstep.py",
    "tests/engine/test_game.py",
    "tests/engine/test_table_top_engine.py",
    "tests/engine/test_notation.py",
    "tests/engine/test_trajectories.py",
)
SLOWEST = 25.0  # CPU seconds; a test that takes longer as Python is left out
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.Add,
    ast.FloorDiv: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any"}


@checked_dataclass(frozen=True, kw_only=True)
class Settings:
    """Change one operator, constant or statement at a time, and run the tests that call it.

    Attributes:
        modules: the modules to change.
        tests: the files of tests to run.
        sample: how many mutants; 0 for all.
        seed: of the sample.
        processes: mutants run at a time.
        out: a JSON file for all results.
    """

    modules: tuple[str, ...] = MODULES
    tests: tuple[str, ...] = TESTS
    sample: CountOrNone = 0
    seed: Seed = 1
    processes: Workers = 1
    out: NewFile | None = None


class Mutant(NamedTuple):
    """A change of one syntax node: ``setattr`` or item assignment of ``new`` at ``key``."""

    module: str
    function: str
    line: int
    words: str
    holder: Any
    key: str | int
    new: Any

    def where(self) -> tuple[str, str, int, str]:
        """Return the mutant's name; equal changes in one line share it."""
        return self.module, self.function, self.line, self.words


def places(module: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    """Yield every mutant of a function's body; error messages are not changed."""

    def change(node: ast.AST, words: str, holder: Any, key: str | int, new: Any) -> Mutant:
        line: int = getattr(node, "lineno", function.lineno)
        return Mutant(module, function.name, line, words, holder, key, new)

    def removals(lines: Any) -> Iterator[Mutant]:
        for i, line in enumerate(lines if isinstance(lines, list) else ()):
            called = isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)
            if called or isinstance(line, (ast.AugAssign, ast.Break, ast.Continue)):
                yield change(line, f"removed: {ast.unparse(line)}", lines, i, ast.Pass())

    def visit(node: ast.AST) -> Iterator[Mutant]:
        if isinstance(node, (ast.Raise, ast.JoinedStr)):
            return
        if isinstance(node, (ast.BinOp, ast.AugAssign, ast.BoolOp)):
            if new := OTHER.get(type(node.op)):
                words = f"{type(node.op).__name__} -> {new.__name__}"
                yield change(node, words, node, "op", new())
        elif isinstance(node, ast.Compare):
            for i, op in enumerate(node.ops):
                if new := OTHER.get(type(op)):
                    yield change(node, f"{type(op).__name__} -> {new.__name__}", node.ops, i, new())
        elif isinstance(node, ast.Constant) and type(node.value) is int:
            yield change(node, f"{node.value} -> {node.value + 1}", node, "value", node.value + 1)
        elif isinstance(node, ast.Constant) and type(node.value) is bool:
            yield change(node, f"{node.value} -> {not node.value}", node, "value", not node.value)
        elif isinstance(node, ast.Name) and node.id in OTHER_NAME:
            yield change(node, f"{node.id} -> {OTHER_NAME[node.id]}", node, "id", OTHER_NAME[node.id])
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield change(node, "condition negated", node, "test", ast.UnaryOp(ast.Not(), node.test))
        for block in ("body", "orelse"):
            yield from removals(getattr(node, block, None))
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    for line in function.body:
        yield from visit(line)
    yield from removals(function.body)


def apply(mutant: Mutant, tree: ast.Module) -> None:
    """Replace the function's code in this process by the changed code."""
    if isinstance(mutant.key, str):
        setattr(mutant.holder, mutant.key, mutant.new)
    else:
        mutant.holder[mutant.key] = mutant.new
    module = importlib.import_module(mutant.module)
    compiled = compile(ast.fix_missing_locations(tree), str(module.__file__), "exec")
    (code,) = (one for one in compiled.co_consts if isinstance(one, CodeType) and one.co_name == mutant.function)
    plain(getattr(module, mutant.function)).__code__ = code


def plain(function: Any) -> Any:
    """Return the function that an entry or a cache holds."""
    function = getattr(function, "function", function)
    return getattr(function, "__wrapped__", function)


def refill() -> None:
    """Rebuild the table of points and its sums in place, so that every holder sees the change."""
    from crib_env.engine import show

    held = show.show_table()
    show.show_table.cache_clear()
    held[:] = show.show_table()


class Mutations:
    """A pytest plugin: runs the collected tests once, then against each mutant."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.results: list[dict[str, Any]] = []
        self.noticed: Counter[str] = Counter()
        self.control = 0
        self.running: dict[int, tuple[Mutant | None, int, Any]] = {}

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Replace pytest's own loop."""
        trees, mutants = self.find()
        self.items = {item.nodeid: item for item in session.items}
        self.measure()
        sample = min(self.settings.sample or len(mutants), len(mutants))
        chosen = random.Random(self.settings.seed).sample(mutants, sample)
        slow = len(self.items) - len(self.seconds)
        print(f"{slow} tests take more than {SLOWEST:.0f} s as Python and are left out")
        print(
            f"{len(mutants)} mutants, {len(chosen)} of them run; {len(self.seconds)} tests, "
            f"{sum(self.seconds.values()):.0f} s of them as Python",
            flush=True,
        )
        for i, mutant in enumerate(chosen):
            for one in [None, mutant] if i % 50 == 0 else [mutant]:
                while len(self.running) >= self.settings.processes:
                    self.end()
                self.start(one, trees[mutant.module])
        while self.running:
            self.end()
        return True

    def find(self) -> tuple[dict[str, ast.Module], list[Mutant]]:
        """Return the modules' syntax, and every mutant."""
        trees: dict[str, ast.Module] = {}
        mutants: list[Mutant] = []
        self.codes: dict[CodeType, str] = {}
        for name in self.settings.modules:
            module = importlib.import_module(name)
            trees[name] = ast.parse(Path(str(module.__file__)).read_text("utf-8"))
            for node in trees[name].body:
                if isinstance(node, ast.FunctionDef):
                    mutants += places(name, node)
                    self.codes[plain(getattr(module, node.name)).__code__] = f"{name}:{node.name}"
        return trees, mutants

    def measure(self) -> None:
        """Run every test once unchanged: its seconds, and the functions it calls."""
        with tempfile.NamedTemporaryFile("w+", encoding="utf-8") as file:
            if os.fork() == 0:
                self.quiet()
                file.write(json.dumps([self.tables(), *map(self.watch, self.items.values())]))
                file.flush()
                os._exit(0)
            os.wait()
            file.seek(0)
            self.building, *watched = json.load(file)
        quick = [one for one in watched if one[1] < SLOWEST]
        failing = [item for item, _, failed, _ in quick if failed]
        if failing:
            raise RuntimeError(f"these tests fail without any change: {failing}")
        self.seconds = {item: seconds for item, seconds, _, _ in quick}
        self.calls = {item: set(called) for item, _, _, called in quick}

    def tables(self) -> list[str]:
        """Return the functions that fill the table of points, before any test."""
        with self.profile() as called:
            refill()
        return sorted(called)

    def watch(self, item: pytest.Item) -> tuple[str, float, bool, list[str]]:
        """Run a test; return its name, CPU seconds, whether it failed, and the functions called."""

        def stop(*_: object) -> None:
            raise TimeoutError

        signal.signal(signal.SIGVTALRM, stop)
        with self.profile() as called:
            began = time.process_time()
            signal.setitimer(signal.ITIMER_VIRTUAL, SLOWEST)
            failed = self.fails(item, None)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            seconds = time.process_time() - began
        return item.nodeid, seconds, failed, sorted(called)

    @contextmanager
    def profile(self) -> Iterator[set[str]]:
        """Collect the functions called in a block."""
        called: set[str] = set()

        def see(frame: FrameType, event: str, _: object) -> None:
            if event == "call" and frame.f_code in self.codes:
                called.add(self.codes[frame.f_code])

        sys.setprofile(see)
        try:
            yield called
        finally:
            sys.setprofile(None)

    @staticmethod
    def quiet() -> None:
        """Discard all output of a fork."""
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)

    @staticmethod
    def fails(item: pytest.Item, following: pytest.Item | None) -> bool:
        """Run a test; return whether it failed."""
        return any(one.failed for one in runtestprotocol(item, log=False, nextitem=following))

    def start(self, mutant: Mutant | None, tree: ast.Module | None) -> None:
        """Fork, change, and run the tests that call the function; None changes nothing."""
        function = f"{mutant.module}:{mutant.function}" if mutant else ""
        every = not mutant or function in self.building
        tests = [item for item in self.seconds if every or function in self.calls[item]]
        tests.sort(key=lambda item: -(self.noticed[item] + 1) / (self.seconds[item] + 0.05))
        file = tempfile.NamedTemporaryFile("w+", encoding="utf-8")  # noqa: SIM115
        child = os.fork()
        if child == 0:
            self.quiet()
            limit = int(10 + 10 * sum(self.seconds[item] for item in tests))
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            os._exit(self.attack(mutant, tree, tests, file))
        self.running[child] = mutant, len(tests), file

    def end(self) -> None:
        """Wait for one fork and record its result."""
        child, status = os.wait()
        mutant, tests, file = self.running.pop(child)
        file.seek(0)
        by = file.read() or ("processor time" if os.WIFSIGNALED(status) else "")
        file.close()
        if mutant is None:
            self.control += 1
            if by:
                raise RuntimeError(f"{by} fails without any change")
            return
        self.noticed[by] += 1
        self.results.append({"where": mutant.where(), "noticed_by": by, "tests": tests})
        if not by:
            print("survived:", *mutant.where(), f"({tests} tests)", flush=True)
        if self.settings.out:
            write_json(self.settings.out, self.results)

    def attack(self, mutant: Mutant | None, tree: ast.Module | None, tests: list[str], file: Any) -> int:
        """Change and test, in a fork; write the name of the first test that fails."""
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        try:
            if mutant and tree:
                apply(mutant, tree)
                if f"{mutant.module}:{mutant.function}" in self.building:
                    refill()
            items = [self.items[name] for name in tests]
            for item, following in zip(items, [*items[1:], None], strict=False):
                if self.fails(item, following):
                    file.write(item.nodeid)
                    file.flush()
                    return 1
        except BaseException as error:
            file.write(f"{type(error).__name__}: {error}")
            file.flush()
            return 1
        return 0


def run(settings: Settings) -> None:
    """Print the survivors and the share noticed, by module."""
    if os.environ.get("NUMBA_DISABLE_JIT") != "1":
        raise ValueError("set NUMBA_DISABLE_JIT=1: only Python's functions can be changed")
    from hypothesis import settings as hypothesis

    hypothesis.register_profile("mutants", deadline=None, derandomize=True, database=None)
    hypothesis.load_profile("mutants")
    plugin = Mutations(settings)
    code = pytest.main(["-q", "-p", "no:cacheprovider", "-n", "0", *settings.tests], [plugin])
    if not plugin.results:
        sys.exit(int(code) or 1)
    for name in (*settings.modules, ""):
        some = [one for one in plugin.results if name in ("", one["where"][0])]
        seen = sum(bool(one["noticed_by"]) for one in some)
        if some:
            print(f"{name or 'all':40} {seen:4} of {len(some):4} noticed, {seen / len(some):.1%}")
    print(f"{plugin.control} runs without a change: no test failed")


if __name__ == "__main__":
    start(Settings, run)
