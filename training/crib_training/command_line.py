"""The command `crib`, and what every script's command line does alike.

A subcommand is a module with ``Settings``, a frozen dataclass whose documentation is the help, and
``run(settings)``. Its module is imported when it is asked for, so that `crib --help` comes at once.

Exit status: 0, 2 for a wrong call, 1 for a failure; an error is one line on stderr.
"""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Collection, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import fields
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

# Name, module, and what it does.
COMMANDS = {
    "train": ("crib_training.learn.train", "train an agent, by self-play or against an opponent"),
    "teach": ("crib_training.learn.teach", "teach a learned agent what the expert expects"),
    "curves": ("crib_training.learn.curves", "draw the learning curves of several runs into one"),
    "evaluate": ("crib_training.evaluation.evaluate", "compare two agents on duplicate deals"),
    "rate": ("crib_training.rating", "rate an agent beside the built-in ones"),
    "tournament": ("crib_training.tournament.run", "rate agents by a round-robin"),
    "solve": ("crib_training.solve.run", "solve a deal: near-perfect play for points"),
    "exploit": ("crib_training.exploit.run", "say how much a perfect opponent gains on an agent"),
    "analyze": ("crib_training.analyze", "say what every choice in a position is worth"),
    "play": ("crib_play.terminal.play", "play against any agent, in the terminal"),
    "watch": ("crib_play.terminal.watch", "look on as two agents play"),
    "web": ("crib_play.web.serve", "play in a browser"),
    "drill": ("crib_play.drill.drill", "practise: positions where choices differ much, graded"),
    "tables": ("crib_training.tables.__main__", "make the tables that the agents read"),
    "replay": ("crib_play.replay.replay", "write a game between two agents to be looked at"),
    "bench": ("benchmarks.__main__", "measure speed, in a checkout"),
    "warmup": ("crib_training.warmup", "compile everything, so that later starts are quick"),
}
INSTALL = 'pip install "crib-env[{}]"'
# What a command needs beyond the base install; those not named here need `train`.
EXTRAS = {"play": "play", "watch": "play", "drill": "play", "replay": "play", "web": "web"}
CHECKOUT = "it needs a checkout of crib-env"
# What tyro says of a value that is none of a fixed set, which it names in no order.
CHOICE = re.compile(r"invalid choice '(.*)' for argument '(.*)'\. Expected one of \((.*)\)")
TRACEBACK = "CRIB_TRACEBACK"  # set, an unexpected error shows where it comes from

S = TypeVar("S")


def main(words: Sequence[str] | None = None) -> None:
    """Run the command `crib`."""
    given = sys.argv[1:] if words is None else list(words)
    if not given or given[0] in ("-h", "--help"):
        print(usage())
        return
    name, *rest = given
    extra = EXTRAS.get(name, "train")
    with one_line(extra):
        if name not in COMMANDS:
            from crib_env.errors import nearest

            meant = nearest(name, COMMANDS)
            raise ValueError(f"no command is called {name!r}: see crib --help{meant}")
        sys.path.append(os.getcwd())  # as `python -m` would: an agent's class may lie here
        module = import_module(COMMANDS[name][0])
        if hasattr(module, "Settings"):
            start(module.Settings, module.run, rest, f"crib {name}", extra)
        else:  # it reads its words by itself
            module.main(rest)


def usage() -> str:
    """Return the help of `crib`."""
    lines = [f"  {name:11}{says}" for name, (_, says) in COMMANDS.items()]
    return "\n".join(["usage: crib COMMAND ...", "", *lines, "", "crib COMMAND --help says more."])


def start(
    settings: type[S],
    run: Callable[[S], None],
    words: Sequence[str] | None = None,
    program: str | None = None,
    extra: str = "train",
) -> None:
    """Read settings from a command line and run something with them; exit where that fails.

    Args:
        settings: a dataclass.
        run: what is run.
        words: the command line, by default the process's own.
        program: what the help calls it, by default ``python -m`` and the module.
        extra: the extra of crib-env that brings what it needs.
    """
    spec = sys.modules["__main__"].__spec__
    with one_line(extra):
        run(read(settings, words, program or f"python -m {spec.name if spec else '...'}"))


def read(settings: type[S], words: Sequence[str] | None, program: str) -> S:
    """Return settings as the words give them; exit with their help or with what is wrong."""
    import tyro

    said = io.StringIO()
    try:
        with redirect_stderr(said):
            given = sys.argv[1:] if words is None else words
            return tyro.cli(settings, prog=program, args=[_whole(word) for word in given])
    except SystemExit as end:
        if end.code:
            print(
                f"error: {_said(said.getvalue()).rstrip('.')}; see {program} --help",
                file=sys.stderr,
            )
        raise


def _whole(word: str) -> str:
    """Return a word of a command line; a whole number such as ``1e6`` with all its digits."""
    found = re.fullmatch(r"(--[\w-]+=)?(\d+(?:\.\d+)?[eE]\+?\d{1,2})", word)
    if found is None or not (number := float(found[2])).is_integer():
        return word
    return f"{found[1] or ''}{int(number)}"


def command(program: str, settings: Any, leave_out: Collection[str] = ()) -> str:
    """Return the command line of settings, a dataclass, but for the fields to leave out."""
    words = [program]
    for field in fields(settings):
        if field.name not in leave_out:
            value = getattr(settings, field.name)
            option = "--" + field.name.replace("_", "-")
            words.append(option if value is True else f"{option} {value}")
    return " ".join(words)


def _said(box: str) -> str:
    """Return the message of one of tyro's boxes, which rules divide, on one line."""
    parts: list[list[str]] = [[]]
    for line in box.splitlines()[1:]:
        words = line.strip("│╭╮╰╯─ ")
        if words:
            parts[-1].append(words)
        elif "─" in line:
            parts.append([])
    wrong = CHOICE.search(" ".join(parts[0]))
    if wrong:
        from crib_env.errors import nearest

        value, option, listed = wrong.groups()
        choices = sorted(re.findall(r"'([^']+)'", listed))
        return f"{option} is one of {', '.join(choices)}, got {value!r}{nearest(value, choices)}"
    more = parts[1][:2] if len(parts) > 1 and parts[1][:1] == ["Perhaps you meant:"] else []
    return " ".join([*parts[0], *more])


@contextmanager
def one_line(extra: str = "train") -> Iterator[None]:
    """Turn an error into one line on stderr and an exit status.

    Args:
        extra: what to install where a module is missing.
    """
    from crib_env.errors import IllegalActionError

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
        _end(f"error: {error if known else f'{package} is not installed: {cure}'}", 1)
    except ValueError as error:
        _end(f"error: {error}", 1 if isinstance(error, IllegalActionError) else 2)
    except BrokenPipeError:  # who read what is printed, `head` say, has had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (RuntimeError, OSError) as error:
        _end(f"error: {error}", 1)
    except Exception as error:  # an agent's, say
        if os.environ.get(TRACEBACK):
            raise
        _end(f"error: {type(error).__name__}: {error} ({TRACEBACK}=1 shows where)", 1)


def _end(said: str, status: int) -> None:
    print(" ".join(said.split()), file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main()
