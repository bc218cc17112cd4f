"""Command-line arguments: each wrong value gives one line and exit status 2, before any work."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import KW_ONLY
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import pytest
from crib_training import COMMANDS
from crib_training.command_line import read, start
from crib_training.reading import app_of_commands
from pydantic import Field
from pydantic.fields import FieldInfo

from checkout import ROOT, python
from commands import crib
from crib_env.registration import ENVIRONMENTS
from crib_env.settings import (
    STRICT,
    Count,
    File,
    FileOrFolder,
    Folder,
    NewFile,
    NewFolder,
    Seed,
    SettingError,
    StoreFile,
    checked_dataclass,
)

# Folders of sources, and the folder in which their module names start.
SOURCES = {"training": "training", "play": "play", "research": "", "benchmarks": ""}


def modules() -> Iterator[str]:
    """Yield the modules with a class `Settings`, which a command line fills."""
    for source, root in SOURCES.items():
        for path in sorted((ROOT / source).rglob("*.py")):
            if re.search(r"^class Settings\b", path.read_text(), re.MULTILINE):
                yield ".".join(path.relative_to(ROOT / root).with_suffix("").parts)


MODULES = [name for name in modules() if name != "benchmarks.timing"]  # it has no command line


def settings_of(module: str) -> Any:
    return import_module(module).Settings


def hints_of(module: str) -> dict[str, Any]:
    return get_type_hints(settings_of(module), include_extras=True)


def declared(hint: Any) -> list[Any]:
    """Return the metadata declared with a type, at any depth."""
    own = [
        one
        for part in getattr(hint, "__metadata__", ())
        for one in (part.metadata if isinstance(part, FieldInfo) else [part])
    ]
    return own + [one for part in get_args(hint)[: 1 if own else None] for one in declared(part)]


def kinds(hint: Any) -> set[Any]:
    """Return the plain types in a type."""
    if get_origin(hint) is Literal:
        return {Literal}
    parts = get_args(hint)[:1] if get_origin(hint) is Annotated else get_args(hint)
    return set().union(*map(kinds, parts)) if parts else {hint}


def test_settings_are_found_in_every_source() -> None:
    assert {name.partition(".")[0] for name in MODULES} == {"crib_training", "crib_play", "research", "benchmarks"}


@pytest.mark.parametrize("module", MODULES)
def test_settings_numbers_and_paths_declare_their_range(module: str) -> None:
    bare = [name for name, hint in hints_of(module).items() if kinds(hint) & {int, float, Path} and not declared(hint)]
    assert not bare
    assert settings_of(module).__pydantic_config__ == STRICT


@checked_dataclass(frozen=True)
class Toy:
    """A toy.

    Several lines.

    Attributes:
        first: who begins, at 100 %.
        rest: others.
        more: what
            follows.
        seed: of it.
        share: from 0 to 1.
        wanted: whether; with a colon: this.
        seeds: some.
        pair: two.
        kind: a or b.
        out: a file.
        home: a folder to write.
        folder: one that is there.
        file: one that is there.
        either: a file or a folder.
        store: a file to add to.
    """

    first: str
    rest: tuple[str, ...] = ()
    _: KW_ONLY
    more: str = "some"
    seed: Seed = 1
    share: Annotated[float, Field(ge=0, le=1)] | None = None
    rate: Annotated[float, Field(gt=0)] = 1.0
    wanted: bool = True
    seeds: tuple[Seed, ...] = (1,)
    pair: tuple[Count, Count] = (1, 2)
    kind: Literal["a", "b"] | None = "a"
    out: NewFile = Path("x")
    home: NewFolder | None = None
    folder: Folder | None = None
    file: File | None = None
    either: FileOrFolder | None = None
    store: StoreFile | None = None

    def __post_init__(self) -> None:
        if self.seed == 13:
            raise ValueError("seed 13 brings\nno luck")


@pytest.mark.parametrize(
    ("words", "changed"),
    [
        ("a", {}),
        ("a b c --seed 5", {"rest": ("b", "c"), "seed": 5}),
        ("a --seed=1e6 --more x", {"seed": 1_000_000, "more": "x"}),
        ("a --seed 2.5e5 --share 3e-4", {"seed": 250_000, "share": 3e-4}),
        ("--no-wanted a --share 0.5", {"wanted": False, "share": 0.5}),
        ("a --seeds 1 2 3 --pair 3 1_000", {"seeds": (1, 2, 3), "pair": (3, 1000)}),
        ("a --kind None", {"kind": None}),
        ("a --wanted=no", {"wanted": False}),
        ("--first a --rest b c", {"rest": ("b", "c")}),
        ("a --kind b --share None", {"kind": "b"}),
        ("a --seed 9223372036854775807", {"seed": 2**63 - 1}),
    ],
)
def test_words_become_settings(words: str, changed: dict[str, Any]) -> None:
    assert read(Toy, words.split(), "crib toy") == Toy("a", **changed)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("", "FIRST is missing; see crib toy --help"),
        ("a --seed", "5,807, got no value; see crib toy --help"),
        ("a --out -", "--out must be a path, got no value; see crib toy --help"),
        ("a --seed -1", "--seed must be a whole number from 0 to 9,223,372,036,854,775,807, got -1"),
        ("a --seed 9223372036854775808", "5,807, got 9223372036854775808; see crib toy --help"),
        ("a --seed 1.55e1", "--seed must be a whole number from 0 to "),
        ("a --seed x", "5,807, got 'x'; see crib toy --help"),
        ("a --seed 1 --seed 2", "Parameter --seed specified multiple times"),
        ("a --seeds 1 -2", "--seeds must be a tuple, each a whole number from 0 to "),
        ("a --seeds", "--seeds must be a tuple, each a whole number from 0 to "),
        ("a --pair 1", "--pair must be a tuple of 2, each a whole number from 1 to"),
        ("a --pair 1 0", "--pair must be a tuple of 2, each a whole number from 1 to"),
        ("a --share nan", "--share must be a number from 0 to 1 or None, got nan"),
        ("a --rate inf", "--rate must be a finite number above 0, got inf; see crib toy --help"),
        ("a --rate 0", "--rate must be a finite number above 0, got 0.0"),
        ("a --kind c", "--kind must be one of 'a', 'b' or None, got 'c'"),
        ("a --kin b", "Unknown option: --kin. Did you mean --kind?"),
        ("a --out no/where", "--out: there is no folder no to write where to"),
        ("a --out .", "--out: . is a folder: name a file; see crib toy --help"),
        ("a --out /proc/x", "--out: "),  # where root may write, but cannot
        ("a --out /proc/self/comm", "--out: "),  # a file, beside which none can be written
        ("a --home /proc/x", "--home: "),
        ("a --store /proc/x/y", "--store: "),
        ("a --home taken", "--home: {here}/taken is a file: name a folder; see crib toy --help"),
        ("a --home taken/x", "--home: {here}/taken is a file: name a folder; see crib toy --help"),
        ("a --folder nowhere", "--folder: there is no nowhere"),
        ("a --folder taken", "--folder: taken is a file: name a folder; see crib toy --help"),
        ("a --file .", "--file: . is a folder: name a file; see crib toy --help"),
        ("a --file nowhere", "--file: there is no nowhere; see crib toy --help"),
        ("a --either nowhere", "--either: there is no nowhere; see crib toy --help"),
        ("a --store .", "--store: . is a folder: name a file; see crib toy --help"),
        ("a --store taken/x", "--store: {here}/taken is a file: name a folder; see crib toy --help"),
        ("a --out=", "--out must be a path, got ''; see crib toy --help"),
        ("a --home=", "--home must be a path or None, got ''"),
        ("a --folder=", "--folder must be a path or None, got ''"),
        ("a --either=", "--either must be a path or None, got ''"),
        ("a --wanted=maybe", "--wanted must be True or False, got 'maybe'"),
        ("a --seed 13", "seed 13 brings no luck"),  # raised by the settings
    ],
)
def test_words_errors_are_one_line(
    words: str, says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "taken").touch()
    monkeypatch.chdir(tmp_path)

    def run(settings: Toy) -> None:
        pytest.fail("it was run")

    with pytest.raises(SystemExit) as end:
        start(Toy, run, words.split(), "crib toy")
    assert end.value.code == 2
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert says.format(here=tmp_path) in message
    assert message.count("\n") == 1


def test_default_place_that_cannot_be_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/proc")
    with pytest.raises(SettingError, match=r"out: no file can be written to \."):
        Toy("a")
    assert Toy("a", out=Path("/dev/null")).out == Path("/dev/null")


def test_settings_documentation_is_their_help(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        read(Toy, ["--help"], "crib toy")
    assert end.value.code == 0
    output = " ".join(re.sub("[│╭╮╰╯─]", "", capsys.readouterr().out).split())
    assert output.startswith("Usage: crib toy [OPTIONS] FIRST [ARGS] A toy. Several lines.")
    for words in (
        "FIRST --first who begins, at 100 %. [required]",
        "REST --rest others.",
        "--more STR what follows. [default: some]",
        "--seed INT of it. [default: 1]",
        "--wanted --no-wanted whether; with a colon: this.",
        "--pair INT INT two.",
        "--kind CHOICE a or b. [choices: a, b] [default: a]",
        "--out PATH a file.",
    ):
        assert words in output


RESEARCH = [f"research.{name}" for name in ("figures", "make_leaderboard")]
CHECKOUT = [*RESEARCH, *(f"benchmarks.{name}" for name in ("bots", "endurance", "perfcheck"))]


@pytest.mark.parametrize("module", CHECKOUT)
def test_main_of_a_checkout_has_help_and_refuses_unknown_options(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for option, status in (("--help", 0), ("--chek", 2)):
        monkeypatch.setattr(sys, "argv", [module, option])
        with pytest.raises(SystemExit) as end:
            import_module(module).main()
        assert end.value.code == status


def test_endurance_refuses_unknown_rules(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        import_module("benchmarks.endurance").main(["--rules", "whist"])
    assert end.value.code == 2
    assert "invalid choice: 'whist' (choose from " in capsys.readouterr().err


def test_pictures_of_environments_need_no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    pictures: Any = import_module("research.make_pictures")
    made: list[str] = []
    monkeypatch.setattr(pictures, "animate", made.append)
    monkeypatch.setattr(pictures, "sync_playwright", lambda: pytest.fail("a browser is started"))
    monkeypatch.setattr(sys, "argv", ["make_pictures", "discard_v0"])
    pictures.main()
    assert made == ["discard_v0"]


def test_help_is_a_command() -> None:
    assert crib("help") == crib("--help") == crib()
    assert crib("help", "evaluate") == crib("evaluate", "--help")
    assert crib("help", "train", "ppo") == crib("train", "ppo", "--help")


IMPORTED = """
import importlib, pkgutil, sys
import crib_env
for module in pkgutil.iter_modules(crib_env.__path__, "crib_env."):
    if module.name != "crib_env.settings":
        importlib.import_module(module.name)
print(sorted({"pydantic", "cyclopts", "safetensors"} & sys.modules.keys()))
"""


def test_environments_do_not_import_the_command_line() -> None:
    assert python(IMPORTED) == "[]"


# --- the base install ---------------------------------------------------------------------------

# Runs every `crib` command it is given where no extra is installed, and prints the output of each.
BASE = """
import contextlib, io, json, sys
BASE = {"numpy", "numba", "llvmlite", "gymnasium", "pettingzoo", "cloudpickle",
        "farama_notifications", "typing_extensions", "crib_env", "crib_agents", "crib_play",
        "crib_training", "cyclopts", "attr", "attrs", "docstring_parser", "rich", "rich_rst",
        "markdown_it", "mdurl", "pygments", "pydantic", "pydantic_core", "annotated_types",
        "typing_inspection", "filelock", "safetensors"}
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
    "train": "train",
    "train ppo": "train",
    "curves": "train",
    "play": "play",
    "drill": "play",
    "web": "web",
}


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
    done = subprocess.run([sys.executable, "-c", BASE, *commands], capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stderr
    return {words: tuple(rest) for words, *rest in map(json.loads, done.stdout.splitlines())}


def test_base_install_commands_work_or_name_their_extra(tmp_path: Path) -> None:
    helps = [f"{name} --help" for name in (*COMMANDS, "train ppo", "bot check")]
    completion = "--install-completion --shell bash --output script"
    ran = base(tmp_path, *NEED_AN_EXTRA, *helps, *WORK, completion)
    for name, group in NEED_AN_EXTRA.items():
        extra = f'pip install "crib-env[{group}]"'
        status, _, errors = ran[name]
        assert (status, errors.count("\n")) == (1, 1), errors
        assert extra in errors
        assert COMMANDS[name.split()[0]][1] in ran[f"{name} --help"][1]
        assert extra in ran[f"{name} --help"][1]
    for words in helps:
        status, shown, errors = ran[words]
        assert (status, errors) == (0, ""), words
        assert shown.lower().startswith("usage: crib") or words.split()[0] in NEED_AN_EXTRA
    for words, says in WORK.items():
        status, shown, errors = ran[words]
        assert status == 0, errors
        assert says in shown, words
    assert ran[completion][0] == 0, ran[completion]
    script = (tmp_path / "script").read_text()
    assert all(word in script for word in (*COMMANDS, "--pairs"))
    assert "--timesteps" not in script
    page = (tmp_path / "x.html").read_text()
    assert page.startswith("<!doctype html>")
    assert '"names":["greedy","random"]' in page


@pytest.mark.slow  # it queries every hand: some two minutes
def test_base_install_exploits(tmp_path: Path) -> None:
    ((status, shown, errors),) = base(tmp_path, "exploit random --hands 2").values()
    assert status == 0, errors
    assert "random, rules five_card" in shown


# --- completion ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bash_script(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return the script that `crib` installs; it changes no startup file."""
    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        ran = crib("--install-completion", "--shell", "bash")
    script = home / ".local" / "share" / "bash-completion" / "completions" / "crib"
    assert (ran.returncode, str(script) in ran.stdout) == (0, True), ran
    assert not list(home.glob(".*rc"))
    return script.read_text()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_parses_and_names_every_command(shell: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    if shell == "bash":
        script = request.getfixturevalue("bash_script")
    else:
        script = app_of_commands().generate_completion(prog_name="crib", shell=shell)
    assert all(name in script for name in (*COMMANDS, *ENVIRONMENTS, "selfplay_ppo"))
    (tmp_path / "script").write_text(script)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


TYPED = [
    ("crib ev", {"evaluate"}),
    ("crib evaluate --pa", {"--pairs"}),
    ("crib train ppo --times", {"--timesteps"}),
    ("crib evaluate exp", {"expert"}),
    ("crib train sel", {"selfplay_ppo"}),
    ("crib tournament greedy exp", {"expert"}),
    ("crib bot ch", {"check"}),
]


def test_completion_of_bash_has_commands_options_and_names(bash_script: str) -> None:
    script, offered = [bash_script], [" ".join(one) for _, one in TYPED]
    for typed, _ in TYPED:
        words = typed.split()
        script.append(f"COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; COMPREPLY=()")
        script.append(f"_crib crib {words[-1]} {words[-2]}; echo ${{COMPREPLY[@]}}")
    done = subprocess.run(["bash", "-c", "\n".join(script)], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == offered


CRIB = [sys.executable, "-m", "crib_training.command_line"]


@pytest.mark.parametrize(
    ("closed", "words", "printed"), [(">&-", "--help", ""), ("<&-", "drill count --count 1", "1 of 1")]
)
def test_closed_streams_end_as_if_they_were_empty(closed: str, words: str, printed: str) -> None:
    shell = ["sh", "-c", f'exec "$@" {closed}', "sh", *CRIB, *words.split()]
    run = subprocess.run(shell, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (0, "")
    assert printed in run.stdout


def test_printing_escapes_characters_that_the_encoding_lacks() -> None:
    code = "from crib_training.command_line import printing\nwith printing(): print('0.5 \u00b1 0.1')"
    assert python(code, PYTHONIOENCODING="ascii") == "0.5 \\xb1 0.1"


@pytest.mark.parametrize(("words", "option"), [("--version", "-B"), ("evaluate --help", "-u")])
def test_closed_pipe_ends_quietly(words: str, option: str) -> None:
    """As `crib --help | head -1` may: the pipe is closed before all is written."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, option, *CRIB[1:], *words.split()]
    run = subprocess.run(command, stdout=theirs, stderr=subprocess.PIPE, text=True, check=False)
    os.close(theirs)
    assert (run.returncode, run.stderr) == (1, "")


@pytest.mark.parametrize("command", ["play", "replay --no-opinions"])
def test_agent_exception_is_status_1(command: str, tmp_path: Path) -> None:
    name, *more = command.split()
    out = ["--out", str(tmp_path / "out.html")] if name == "replay" else []
    ran = crib(name, "failing_agents:Values", "greedy", "--seed", "1", *more, *out)
    assert ran.returncode == 1
    assert "'values' failed: no idea" in ran.stderr
    assert ran.stderr.count("\n") == 1


def test_agent_message_is_escaped_in_the_terminal() -> None:
    ran = crib("play", "failing_agents:Paints", "greedy")
    assert ran.returncode == 1
    assert "error: red text" in ran.stderr
    assert not {"\x1b", "\x07", "\u202e"} & {*ran.stderr}


@pytest.mark.parametrize("words", ["play greedy greedy", "replay greedy greedy", "play"])
@pytest.mark.parametrize("env", ["pegging_v0", "discard_v0"])
def test_phase_environment_has_no_table(env: str, words: str) -> None:
    pytest.importorskip("rich")
    ran = crib(*words.split(), "--env", env)
    assert ran.returncode == 2
    assert f"{env} is one phase of a deal, for learners, and has no table" in ran.stderr


# --- every command in every game ------------------------------------------------------------------


EVALUATE = "evaluate greedy random --pairs 2 --env"
ENVIRONMENT_COMMANDS = (
    "evaluate rule_based greedy --pairs 2 --adjust never --no-games --env",
    "tournament greedy random --pairs 2 --workers 0 --env",
    "rate random --pairs 1 --env",
    "warmup --agents random --envs",
)
# `test_watch_prints_a_whole_game` and the tests of replays take every game of the tables.
TABLE_COMMANDS = (
    "replay greedy random --no-opinions --env",
    "play greedy random --speed 1 --seed 1 --env",
    "replay greedy random --env",
)
MANY_HANDS = ("three_hand_v0", "four_hand_v0", "table_top_v0")  # not of two hands
FAMILIES = ("six_card_v0", "three_hand_v0", "table_top_v0")
VARIANTS = ("six_card_v0 --episode match", "four_hand_v0 --rules four_hand[partners=False]", "table_top_v0 --players 4")


@pytest.mark.parametrize(
    ("words", "game"),
    [
        *product([EVALUATE], ENVIRONMENTS),
        *product(ENVIRONMENT_COMMANDS, [*FAMILIES, "pegging_v0"]),
        *product(TABLE_COMMANDS, FAMILIES),
        *product(TABLE_COMMANDS[:2], VARIANTS),
    ],
)
def test_commands_take_every_game(words: str, game: str, tmp_path: Path) -> None:
    ran = crib(*words.split(), *game.split(), folder=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout


@pytest.mark.parametrize("game", MANY_HANDS)
def test_commands_for_two_hands_reject_other_games_in_one_line(game: str, tmp_path: Path) -> None:
    ran = crib("exploit", "random", "--env", game, folder=tmp_path)
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)
    assert ran.stderr.startswith("error: ")
    assert not list(tmp_path.rglob("*.safetensors"))
