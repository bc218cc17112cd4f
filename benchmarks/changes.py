"""Changes of one place in a function, for `benchmarks.mutants`."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple

OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Mod: ast.Add,
    ast.FloorDiv: ast.Mult, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.BitXor: ast.BitAnd, ast.And: ast.Or, ast.Or: ast.And,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
OTHER_NAME = {"min": "max", "max": "min", "any": "all", "all": "any"}


class Mutant(NamedTuple):
    """A change of one place: ``setattr`` or item assignment of ``new`` at ``key``."""

    module: str
    function: str
    line: int
    words: str
    holder: Any
    key: str | int
    new: Any

    def where(self) -> tuple[str, str, int, str]:
        """Return what names it; changes alike of one line share it."""
        return self.module, self.function, self.line, self.words


def places(module: str, function: ast.FunctionDef) -> Iterator[Mutant]:
    """Yield what can be changed in a function's body; what is raised keeps its words."""

    def change(node: ast.AST, words: str, holder: Any, key: str | int, new: Any) -> Mutant:
        line: int = getattr(node, "lineno", function.lineno)
        return Mutant(module, function.name, line, words, holder, key, new)

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
            yield change(node, f"{node.id} -> {OTHER_NAME[node.id]}", node, "id",
                         OTHER_NAME[node.id])  # fmt: skip
        if isinstance(node, (ast.If, ast.IfExp, ast.While)):
            yield change(node, "condition negated", node, "test",
                         ast.UnaryOp(ast.Not(), node.test))  # fmt: skip
        for block in ("body", "orelse"):
            lines = getattr(node, block, None)
            for i, line in enumerate(lines if isinstance(lines, list) else ()):
                called = isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)
                if called or isinstance(line, (ast.AugAssign, ast.Break, ast.Continue)):
                    yield change(line, f"removed: {ast.unparse(line)}", lines, i,
                                 ast.Pass())  # fmt: skip
        for child in ast.iter_child_nodes(node):
            yield from visit(child)

    for line in function.body:
        yield from visit(line)
    for i, line in enumerate(function.body):
        if isinstance(line, ast.AugAssign) or (
            isinstance(line, ast.Expr) and isinstance(line.value, ast.Call)
        ):
            yield change(line, f"removed: {ast.unparse(line)}", function.body, i, ast.Pass())


def apply(mutant: Mutant, tree: ast.Module) -> None:
    """Give the function of this process the changed code."""
    if isinstance(mutant.key, str):
        setattr(mutant.holder, mutant.key, mutant.new)
    else:
        mutant.holder[mutant.key] = mutant.new
    module = importlib.import_module(mutant.module)
    compiled = compile(ast.fix_missing_locations(tree), str(module.__file__), "exec")
    (code,) = (
        one
        for one in compiled.co_consts
        if isinstance(one, CodeType) and one.co_name == mutant.function
    )
    plain(getattr(module, mutant.function)).__code__ = code


def plain(function: Any) -> Any:
    """Return the function that an entry or a cache holds."""
    function = getattr(function, "function", function)
    return getattr(function, "__wrapped__", function)
