"""The command `crib`, and what the command lines of all scripts share.

A subcommand is a module with ``Settings``, a frozen dataclass whose documentation is the help, and
``run(settings)``. Modules are imported only when needed, so `crib --help` is quick.

Exit status: 0, 2 for a wrong call, 1 for a failure, 143 after SIGTERM; an error is one line on
stderr.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from crib_training.interrupts import terminable

if TYPE_CHECKING:
    from collections.abc import Iterator

# Name, module, and what it does.
COMMANDS = {
    "train": ("crib_training.learn.train", "train an agent, by self-play or against an opponent"),
    "curves": ("crib_training.learn.curve", "draw learning curves of several runs in one picture"),
    "evaluate": ("crib_training.evaluation.evaluate", "compare two agents on duplicate deals"),
    "export": ("crib_training.export", "write a trained policy as an ONNX file"),
    "rate": ("crib_training.rating", "rate an agent against the built-in ones"),
    "tournament": ("crib_training.tournament.run", "rate agents by a round-robin"),
    "data": ("crib_training.data.run", "write games as Parquet files to learn from"),
    "exploit": ("crib_training.exploit.measure", "measure a best response's gain against an agent"),
    "analyze": ("crib_training.analyze", "show the value of every choice in a position"),
    "bot": ("crib_training.bot", "serve an agent to any program, by the bot protocol"),
    "bot-check": ("crib_training.bot_check", "check that a program follows the bot protocol"),
    "play": ("crib_play.terminal.play", "play against any agent, in the terminal"),
    "watch": ("crib_play.terminal.watch", "watch two agents play"),
    "web": ("crib_play.web.serve", "play in a browser"),
    "drill": ("crib_play.drill", "practise on positions where the choice matters, graded"),
    "replay": ("crib_play.replay.replay", "write a game between two agents as a web page"),
    "bench": ("benchmarks.__main__", "measure speed, in a checkout"),
    "warmup": ("crib_training.warmup", "compile everything, so that later starts are quick"),
    "completion": ("crib_training.completion", "print a script that completes crib in your shell"),
}
INSTALL = 'pip install "crib-env[{}]"'
# What commands need beside the base install; `train` brings what others may lack.
EXTRAS = {
    "train": "train", "curves": "train",
    "export": "train,onnx", "data": "data",
    "play": "play", "watch": "play", "drill": "play", "web": "web",
}  # fmt: skip
CHECKOUT = "it needs a checkout of crib-env"
TRACEBACK = "CRIB_TRACEBACK"  # set, an unexpected error shows where it comes from

S = TypeVar("S")


def main(words: Sequence[str] | None = None) -> None:
    """Run the command `crib`."""
    with printing():
        _main(words)


def _main(words: Sequence[str] | None) -> None:
    given = sys.argv[1:] if words is None else list(words)
    if not given or given[0] in ("-h", "--help") or given == ["help"]:
        print(usage())
        return
    name, *rest = [*given[1:2], "--help"] if given[0] == "help" else given
    if name == "--version":
        from crib_env import __version__

        print(f"crib-env {__version__}")
        return
    extra = EXTRAS.get(name, "train")
    helps = not {"-h", "--help"}.isdisjoint(rest)
    about = f"crib {name}: {COMMANDS.get(name, (name, ''))[1]}" if helps else None
    with terminable(), one_line(extra, about):
        if name not in COMMANDS:
            from crib_env.errors import nearest

            meant = nearest(name, [*COMMANDS, "--help", "--version"])
            raise ValueError(f"no command is called {name!r}: see crib --help{meant}")
        sys.path.append(os.getcwd())  # as `python -m` would: an agent's class may lie here
        module = import_module(COMMANDS[name][0])
        if hasattr(module, "run"):
            start(module.Settings, module.run, rest, f"crib {name}", extra)
        else:  # it reads its words by itself
            module.main(rest)


def usage() -> str:
    """Return the help of `crib`."""
    lines = [
        f"  {name:11}{says}{f' [{EXTRAS[name]}]' if name in EXTRAS else ''}"
        for name, (_, says) in COMMANDS.items()
    ]
    more = (
        f"A name in brackets is the extra that a command needs: {INSTALL.format('train')}\n"
        "crib COMMAND --help shows the options of a command; crib --version prints the version."
    )
    return "\n".join(["usage: crib COMMAND ...", "", *lines, "", more])


def start(
    settings: type[S],
    run: Callable[[S], None],
    words: Sequence[str] | None = None,
    program: str | None = None,
    extra: str = "train",
) -> None:
    """Read settings from a command line and run something with them; exit where that fails."""
    spec = sys.modules["__main__"].__spec__
    with printing(), terminable(), one_line(extra):
        run(read(settings, words, program or f"python -m {spec.name if spec else '...'}"))


def read(settings: type[S], words: Sequence[str] | None, program: str) -> S:
    """Return settings as the words give them; exit with their help or with what is wrong."""
    with one_line():
        from crib_training.reading import read_settings

        return read_settings(settings, sys.argv[1:] if words is None else words, program)


def command(
    program: str,
    settings: Any,
    leave_out: Collection[str] = (),
    with_defaults: Collection[str] | None = None,
) -> str:
    """Return the command line of settings."""
    words = [program]
    for field in fields(settings):
        value, name = getattr(settings, field.name), field.name.replace("_", "-")
        usual = value == field.default and with_defaults is not None
        if field.name in leave_out or (usual and field.name not in (with_defaults or ())):
            continue
        if isinstance(value, bool):
            words.append(f"--{name}" if value else f"--no-{name}")
        else:
            words.append(f"--{name} {' '.join(map(str, value))}" if isinstance(value, tuple)
                         else f"--{name} {value}")  # fmt: skip
    return " ".join(words)


@contextmanager
def printing() -> Iterator[None]:
    """End quietly, with status 1, where nobody reads on: `head`, say, has had enough."""
    try:
        try:
            yield
        finally:
            sys.stdout.flush()  # also what was printed before an error
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


@contextmanager
def one_line(extra: str = "train", about: str | None = None) -> Iterator[None]:
    """Turn an error into one line on stderr and an exit status."""
    try:
        yield
    except KeyboardInterrupt as stop:
        _end("stopped" + "".join(f": {why}" for why in stop.args), 1)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("crib_"):
            raise
        package = error.name.partition(".")[0]
        cure = CHECKOUT if package == "benchmarks" else INSTALL.format(extra)
        known = INSTALL.partition("{")[0] in str(error)  # the error says itself what to install
        message = str(error) if known else f"{package} is not installed: {cure}"
        if about is None:
            _end(f"error: {message}", 1)
        print(f"{about}\n\n{message}")
    except ValueError as error:
        from crib_env.errors import AgentError, IllegalActionError

        of_play = isinstance(error, AgentError | IllegalActionError)
        _end(f"error: {error}", 1 if of_play else 2)
    except BrokenPipeError:  # for `printing`
        raise
    except (RuntimeError, OSError) as error:
        _end(f"error: {error}", 1)
    except Exception as error:  # an agent's, say
        if os.environ.get(TRACEBACK):
            raise
        _end(f"error: {type(error).__name__}: {error} ({TRACEBACK}=1 shows where)", 1)


def _end(message: str, status: int) -> None:
    from crib_env.errors import printable

    print(printable(message), file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
