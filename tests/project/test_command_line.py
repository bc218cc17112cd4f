"""What a command line takes: each wrong value is one line and exit status 2, before any work."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
from crib_training import completion
from crib_training.command_line import COMMANDS, main, read, start
from crib_training.reading import plain

from checkout import ROOT
from crib_env.settings import (
    Between,
    Count,
    Folder,
    NewFile,
    NewFolder,
    Positional,
    Seed,
    check_file,
    check_folder,
    check_store_file,
    countable,
    exists,
    finite,
    is_file,
    is_folder,
    is_positional,
)

# Where sources lie, and from where their modules are named.
SOURCES = {"training": "training", "play": "play", "docs": "", "benchmarks": ""}
# Their values are checked where they are made; the rest of this file is about all others.
CHECK_THEMSELVES = (
    "crib_training.learn.deep_monte_carlo.settings", "crib_training.learn.ppo",
    "crib_training.learn.distill", "crib_training.solve.settings",
)  # fmt: skip


def modules() -> Iterator[str]:
    """Yield the modules with settings that a command line gives."""
    for source, root in SOURCES.items():
        for path in sorted((ROOT / source).rglob("*.py")):
            if re.search(r"^class Settings:", path.read_text(), re.MULTILINE):
                yield ".".join(path.relative_to(ROOT / root).with_suffix("").parts)


MODULES = [name for name in modules() if name != "benchmarks.timing"]  # of no command line


def settings_of(module: str) -> Any:
    return import_module(module).Settings


def declared(hint: Any) -> set[Any]:
    """Return the checks that a type declares, those of its parts too."""
    own = {test for test in getattr(hint, "__metadata__", ()) if callable(test)}
    return own.union(*map(declared, (get_args(hint)[:1] if own else get_args(hint))))


def kinds(hint: Any) -> set[Any]:
    """Return the plain types that a type is made of."""
    if get_origin(hint) is Literal:
        return {Literal}
    return set().union(*map(kinds, get_args(hint))) if get_args(hint) else {hint}


def bad_words(hint: Any, folder: Path) -> Iterator[str]:
    """Yield words that are no value of a setting."""
    taken = folder / "taken"
    taken.touch()
    nowhere = str(folder / "no" / "where")
    of_paths = {
        check_file: (str(folder), nowhere), check_store_file: (str(folder), str(taken / "x")),
        check_folder: (str(taken), str(taken / "x")), is_file: (str(folder), nowhere),
        is_folder: (str(taken), nowhere), exists: (nowhere,),
    }  # fmt: skip
    for test in declared(hint):
        if isinstance(test, Between):
            yield from (str(test.most + 1), str(test.least if test.above else test.least - 1))
        else:
            yield from of_paths.get(test, ())
    if int in kinds(hint):
        yield from ("x", "1.5", "nan", "1e22", "-1e22", "")
    if float in kinds(hint):
        yield from ("x", "nan", "inf", "-inf", "")
    if Literal in kinds(hint):
        yield "none of them"


@pytest.mark.parametrize("module", MODULES)
def test_a_wrong_value_of_any_setting_is_one_line_and_status_2(
    module: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(module)
    hints = get_type_hints(settings, include_extras=True)
    needed = [f.name for f in fields(settings) if f.default is MISSING]
    places = ["a" for name in needed if is_positional(hints[name])]
    for name, hint in hints.items():
        if is_positional(hint):
            continue
        option = "--" + name.replace("_", "-")
        for word in bad_words(hint, tmp_path):
            many = len(get_args(plain(hint))) if get_origin(plain(hint)) is tuple else 1
            words = [option, *[word] * many] if ... not in get_args(plain(hint)) else [option, word]
            with pytest.raises(SystemExit) as end:
                read(settings, [*places, *words], "crib test")
            assert end.value.code == 2, (option, word)
            message = capsys.readouterr().err
            assert message.startswith(f"error: {option}: "), (word, message)
            assert message.count("\n") == 1


@pytest.mark.parametrize("module", [name for name in MODULES if name not in CHECK_THEMSELVES])
def test_every_number_and_path_declares_what_it_may_be(module: str) -> None:
    hints = get_type_hints(settings_of(module), include_extras=True)
    bare = [
        name
        for name, hint in hints.items()
        if kinds(hint) & {int, float, Path} and not declared(hint) - {countable, finite}
    ]
    assert not bare


@dataclass(frozen=True)
class Toy:
    """A toy.

    Several lines.

    Attributes:
        first: who begins, at 100 %.
        rest, more: what
            follows.
        seed: of it.
        share: from 0 to 1.
        wanted: whether; with a colon: this.
        seeds: some.
        pair: two.
        kind: a or b.
        out: a file.
        folder: one that is there.
    """

    first: Positional[str]
    rest: Positional[tuple[str, ...]] = ()
    more: str | None = "some"
    seed: Seed = 1
    share: Annotated[float, Between(0, 1)] | None = None
    wanted: bool = True
    seeds: tuple[Seed, ...] = (1,)
    pair: tuple[Count, Count] = (1, 2)
    kind: Literal["a", "b"] | None = "a"
    out: NewFile = Path("x")
    home: NewFolder | None = None
    folder: Folder | None = None

    def __post_init__(self) -> None:
        if self.seed == 13:
            raise ValueError("seed 13 brings\nno luck")


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("a", {}),
        ("a b c --seed 5", {"rest": ("b", "c"), "seed": 5}),
        ("a --seed=1e6 --more None", {"seed": 1_000_000, "more": None}),
        ("a --seed 2.5e5 --share 3e-4", {"seed": 250_000, "share": 3e-4}),
        ("--no-wanted a --share 0.5", {"wanted": False, "share": 0.5}),
        ("a --seeds 1 2 3 --pair 3 1_000", {"seeds": (1, 2, 3), "pair": (3, 1000)}),
        ("a --kind None", {"kind": None}),
        ("a --kind b --share None", {"kind": "b"}),
        ("a --seed 9223372036854775807", {"seed": 2**63 - 1}),
    ],
)
def test_words_become_settings(words: str, changed: dict[str, Any]) -> None:
    assert read(Toy, words.split(), "crib toy") == Toy("a", **changed)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "required: FIRST; see crib toy --help"),
        ("a --seed", "--seed: expected one argument; see crib toy --help"),
        ("a --seed -1", "--seed: -1 is not a whole number from 0 to 9,223,372,036,854,775,807"),
        ("a --seed 9223372036854775808", "--seed: 9223372036854775808 is not a whole number"),
        ("a --seed 1.55e1", "--seed: '1.55e1' is not a whole number"),
        ("a --seed x", "--seed: 'x' is not a whole number; see crib toy --help"),
        ("a --seeds 1 -2", "--seeds: -2 is not a whole number from 0"),
        ("a --seeds", "--seeds: expected at least one argument"),
        ("a --pair 1", "--pair: expected 2 arguments"),
        ("a --share nan", "--share: nan is not a number from 0 to 1"),
        ("a --kind c", "--kind: 'c' is none of None, a, b"),
        ("a --out no/where", "--out: there is no folder no to write where to"),
        ("a --folder nowhere", "--folder: there is no nowhere"),
        ("a --sed 1", "there is no option --sed; did you mean '--seed'?; see crib toy --help"),
        ("a --wanted=no", "ignored explicit argument 'no'"),
        ("a --seed 13", "seed 13 brings no luck"),  # of the settings' own
    ],
)
def test_what_is_wrong_with_words_is_said_in_one_line(
    words: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def run(settings: Toy) -> None:
        pytest.fail("it was run")

    with pytest.raises(SystemExit) as end:
        start(Toy, run, words.split(), "crib toy")
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert says in message
    assert message.count("\n") == 1


def test_the_documentation_of_settings_is_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read(Toy, ["--help"], "crib toy")
    assert end.value.code == 0
    output = " ".join(capsys.readouterr().out.split())
    assert output.startswith("usage: crib toy [OPTIONS] FIRST REST A toy. Several lines.")
    for words in (
        "FIRST who begins, at 100 %.", "--more STR what follows. (default: some)",
        "--seed INT of it. (default: 1)", "--wanted, --no-wanted whether; with a colon: this.",
        "--pair INT INT two. (default: 1 2)", "--kind {a,b} a or b.", "--out PATH a file.",
    ):  # fmt: skip
        assert words in output


# --- the base install ---------------------------------------------------------------------------

# Runs every `crib` command it is given where no extra is installed, and prints what each said.
BASE = """
import contextlib, io, json, sys
BASE = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "cloudpickle",
        "farama_notifications", "typing_extensions", "crib_env", "crib_agents", "crib_play",
        "crib_training"}
class Missing:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in BASE | set(sys.stdlib_module_names) and not top.startswith("_"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Missing())
from crib_training.command_line import main
for words in sys.argv[1:]:
    code = 0
    with contextlib.redirect_stdout(io.StringIO()) as out:
        with contextlib.redirect_stderr(io.StringIO()) as err:
            try:
                main(words.split())
            except SystemExit as end:
                code = end.code or 0
    print(json.dumps([words, code, out.getvalue(), err.getvalue()]))
"""
NEED_AN_EXTRA = {
    "train": "train", "distill": "train", "curves": "train", "solve": "train",
    "play": "play", "watch": "play", "drill": "play", "web": "web",
}  # fmt: skip


WORK = {
    "warmup --envs six_card_v0 --agents random": "six_card_v0: ",
    "evaluate greedy random --pairs 2 --json found.json --replay x.html": "six_card_v0: 2 pairs",
    "tournament greedy random --pairs 2 --workers 0 --out here": "# Tournament",
    "analyze 5H 5D JC 4S 6S KH": "keep",
    "replay random random --no-opinions": "replay.html",
    "--version": "crib-env ",
}


def base(folder: Path, *commands: str) -> dict[str, tuple[int, str, str]]:
    """Return status, output and errors of each command, all run in one fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", BASE, *commands], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return {words: tuple(rest) for words, *rest in map(json.loads, done.stdout.splitlines())}


def test_in_the_base_install_a_command_works_or_names_the_extra_it_needs(tmp_path: Path) -> None:
    helps = [f"{name} --help" for name in COMMANDS if name != "bench"]
    ran = base(tmp_path, *NEED_AN_EXTRA, *helps, *WORK)
    for name, group in NEED_AN_EXTRA.items():
        extra = f'pip install "crib-env[{group}]"'
        status, _, errors = ran[name]
        assert (status, errors.count("\n")) == (1, 1), errors
        assert extra in errors
        assert COMMANDS[name][1] in ran[f"{name} --help"][1]
        assert extra in ran[f"{name} --help"][1]
    for words in helps:
        status, shown, errors = ran[words]
        assert (status, errors) == (0, ""), words
        assert shown.startswith("usage: crib") or words.split()[0] in NEED_AN_EXTRA
    for words, says in WORK.items():
        status, shown, errors = ran[words]
        assert status == 0, errors
        assert says in shown, words


@pytest.mark.slow  # it asks for every hand: some two minutes
def test_the_base_install_exploits(tmp_path: Path) -> None:
    ((status, shown, errors),) = base(tmp_path, "exploit random --hands 2").values()
    assert status == 0, errors
    assert "random, rules five_card" in shown


def test_warmup_knows_its_agents_before_it_compiles(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["warmup", "--agents", "random", "nobody"])
    assert end.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "no agent is called 'nobody'" in captured.err


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        (["crib", "ev"], {"evaluate"}),
        (["crib", "evaluate", "--pa"], {"--pairs"}),
        (["crib", "train", "--times"], {"--timesteps"}),
        (["crib", "evaluate", "exp"], {"expert"}),
    ],
)
def test_bash_completes_commands_options_and_agents(typed: list[str], offered: set[str]) -> None:
    words = " ".join(f"'{word}'" for word in typed)
    request = f"COMP_WORDS=({words}); COMP_CWORD={len(typed) - 1}; _crib; echo ${{COMPREPLY[@]}}"
    done = subprocess.run(["bash", "-c", completion.script("bash") + request],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert set(done.stdout.split()) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_completion_names_every_command(shell: str) -> None:
    text = completion.script(shell)
    assert all(name in text for name in COMMANDS)
