"""From the words of a command line to settings: cyclopts reads them, and writes their help."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from cyclopts import App, CycloptsError, MissingArgumentError, Parameter, Token
from pydantic import ValidationError

from crib_env.settings import SettingError, refusal, setting_error

S = TypeVar("S")


def app_of(program: str, command: Callable[..., Any], **options: Any) -> App:
    """Return what reads the words of a command, and calls it with them."""
    return App(
        program, default_command=command, help_format="plaintext", version_flags=[],
        default_parameter=Parameter(consume_multiple=1, negative_iterable=()),
        result_action="return_value", exit_on_error=False, print_error=False, **options,
    )  # fmt: skip


def read_settings(kind: type[S], words: Sequence[str], program: str) -> S:
    """Return settings as the words give them; print their help and exit where that is wanted.

    Raises:
        ValueError: the words are none of these settings; in one line, with what to do.
    """
    try:
        settings = app_of(program, kind)(words)
    except CycloptsError as error:
        says = explain(kind, error)
    except SettingError as error:
        says = named(error)
    else:
        if settings is None:  # its help is printed
            raise SystemExit(0)
        return settings
    raise ValueError(f"{says.rstrip('.')}; see {program} --help")


def explain(kind: type[Any], error: CycloptsError) -> str:
    """Return what is wrong with words, by the option that they are for."""
    name = error.argument.field_info.name if error.argument else ""
    token = getattr(error, "token", None)
    if isinstance(error.__cause__, ValidationError):
        return named(setting_error(kind, error.__cause__, name))
    if name and isinstance(token, Token):
        return named(refusal(kind, name, token.value))
    if isinstance(error, MissingArgumentError) and not error.keyword and not error.tokens_so_far:
        return f"{name.upper()} is missing"
    return str(error)


def named(error: SettingError) -> str:
    """Return an error with the name of the option in place of the setting's."""
    return f"--{error.name.replace('_', '-')}{error.says}" if error.name else error.says.strip()
