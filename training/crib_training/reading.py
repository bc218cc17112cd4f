"""From the words of a command line to settings, a dataclass whose documentation is the help."""

from __future__ import annotations

import argparse
import re
import types
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, fields
from inspect import cleandoc
from typing import (
    Annotated,
    Any,
    Literal,
    NoReturn,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from crib_env.errors import nearest
from crib_env.settings import check, is_positional, option, without_none

S = TypeVar("S")
NONE = "None"  # how an optional setting is left open

NAMES = {int: "a whole number", float: "a number"}
# A whole number as people write it: 1e6.
WHOLE = re.compile(r"\d+(?:\.\d+)?[eE]\+?\d{1,2}")


def read_settings(settings: type[S], words: Sequence[str], program: str) -> S:
    """Return settings as the words give them; print their help and exit where that is wanted.

    Raises:
        ValueError: the words are none of these settings; in one line, with what to do.
    """
    parser = Parser(program, settings)
    given, more = parser.parse_known_args([_hyphens(word) for word in words])
    if more:
        meant = nearest(more[0].partition("=")[0], list(parser._option_string_actions))
        kind = "option" if more[0].startswith("-") else "further argument"
        parser.error(f"there is no {kind} {more[0]}{meant}")
    check(settings, vars(given))  # before the settings check themselves, whose words are Python's
    chosen = settings(**vars(given))
    check(settings, vars(chosen))
    return chosen


class Parser(argparse.ArgumentParser):
    """Reads the settings of a dataclass.

    Args:
        program: what the help calls it.
        settings: the dataclass.
    """

    def __init__(self, program: str, settings: type[Any]) -> None:
        about, documented = documentation(settings)
        super().__init__(
            program, description=about, allow_abbrev=False, argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        hints = get_type_hints(settings, include_extras=True)
        places = []
        for field in fields(settings):
            hint = hints[field.name]
            self.add(field, hint, documented.get(field.name, ""))
            if is_positional(hint):
                places.append(option(field.name, hint))
        self.usage = " ".join([program, "[OPTIONS]", *places])

    def add(self, field: Field[Any], hint: Any, says: str) -> None:
        """Add a setting."""
        required = field.default is MISSING
        if not required and field.default not in (None, False, (), ""):
            default = field.default
            shown = " ".join(map(str, default)) if isinstance(default, tuple) else default
            says += f" (default: {shown})"
        keywords: dict[str, Any] = {"help": says.replace("%", "%%")}
        name, bare = option(field.name, hint), plain(hint)
        kind, parts = get_origin(bare), get_args(bare)
        if bare is bool:
            action: Any = argparse.BooleanOptionalAction
            self.add_argument(
                name, action="store_true" if name.startswith("--no-") else action, **keywords
            )
            return
        optional = bare is not plain(hint, keep_none=True)
        if kind is tuple:
            keywords["nargs"] = "+" if parts[-1] is ... else len(parts)
            keywords["action"] = AsTuple
            bare = plain(parts[0])
        keywords["type"] = reader(bare, optional)
        if is_positional(hint):
            if not required:
                keywords |= {"nargs": "*" if kind is tuple else "?", "default": argparse.SUPPRESS}
            self.add_argument(field.name, metavar=name, **keywords)
        else:
            metavar = (
                "{" + ",".join(map(str, get_args(bare))) + "}"
                if get_origin(bare) is Literal
                else bare.__name__.upper()
            )
            self.add_argument(name, dest=field.name, required=required, metavar=metavar, **keywords)

    def error(self, message: str) -> NoReturn:
        """Raise the error of a wrong call."""
        raise ValueError(f"{message.removeprefix('argument ')}; see {self.prog} --help")


class AsTuple(argparse.Action):
    """Stores several values as a tuple."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Store them."""
        if values:  # without one it is the default
            setattr(namespace, self.dest, tuple(values))


def plain(hint: Any, keep_none: bool = False) -> Any:
    """Return a type without what is declared beside it, and unless ``keep_none`` without None."""
    if get_origin(hint) is Annotated:
        return plain(get_args(hint)[0], keep_none)
    if get_origin(hint) in (Union, types.UnionType) and not keep_none:
        return plain(without_none(hint))
    return hint


def reader(kind: Any, optional: bool) -> Callable[[str], Any]:
    """Return what makes a value of a type from a word."""
    choices = get_args(kind) if get_origin(kind) is Literal else ()
    listed = [NONE] * optional + [str(choice) for choice in choices]

    def read_word(word: str) -> Any:
        if optional and word == NONE:
            return None
        if choices:
            if word not in listed:
                raise argparse.ArgumentTypeError(
                    f"{word!r} is none of {', '.join(listed)}{nearest(word, listed)}"
                )
            return choices[listed.index(word) - optional]
        if kind is int and WHOLE.fullmatch(word) and float(word).is_integer():
            return int(float(word))
        try:
            return kind(word)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{word!r} is not {NAMES[kind]}") from None

    return read_word


def documentation(settings: type[Any]) -> tuple[str, dict[str, str]]:
    """Return what a dataclass is for, and what it and its bases say of each attribute."""
    about = ""
    described: dict[str, str] = {}
    for kind in reversed(settings.__mro__[:-1]):
        about, _, listed = cleandoc(kind.__doc__ or "").partition("\nAttributes:\n")
        for names, text in re.findall(r"^    (\S.*?): (.*(?:\n     .*)*)", listed, re.MULTILINE):
            described |= dict.fromkeys(names.split(", "), " ".join(text.split()))
    return about.strip(), described


def _hyphens(word: str) -> str:
    """Return a word in which an option is spelt with hyphens."""
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value if name.startswith("--") else word
