"""Text files are UTF-8 on every system: Windows would take its own code page."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkout import ROOT

PACKAGES = ("crib_env", "agents", "play", "training")


def undecided(tree: ast.Module) -> Iterator[int]:
    """The lines at which text is read or written in the encoding of the system."""
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


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("p.read_text()", [1]),
        ("p.read_text('utf-8')", []),
        ("p.write_text(a)", [1]),
        ("p.write_text(a, encoding='utf-8')", []),
        ("open(p)", [1]),
        ("open(p, 'rb')", []),
        ("p.open('a')", [1]),
        ("p.open(newline='')", [1]),
        ("Image.open(file)", []),
    ],
)
def test_what_leaves_the_encoding_open_is_found(text: str, found: list[int]) -> None:
    assert list(undecided(ast.parse(text))) == found


@pytest.mark.parametrize("package", PACKAGES)
def test_every_text_file_is_read_and_written_as_utf_8(package: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted((ROOT / package).rglob("*.py"))
        for line in undecided(ast.parse(Path(path).read_text("utf-8")))
    ]
    assert not found
