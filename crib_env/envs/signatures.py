"""Signatures of functions that pass keywords on, so that `help` and editors show them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from inspect import Parameter, signature
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

OF_THE_MAKER = frozenset({"autoreset", "keeps_events", "phase_policy"})
"""Keywords that environments set themselves."""


def shows_keywords_of(
    source: Callable[..., Any], leave_out: Collection[str] = OF_THE_MAKER
) -> Callable[[F], F]:
    """Let a function's signature show the keywords that it hands on.

    Args:
        source: who takes them.
        leave_out: names of keywords that the function sets itself.

    Returns:
        a decorator. It changes what `inspect.signature` says, and nothing else.
    """

    def decorate(function: F) -> F:
        shown = signature(function)
        parameters = [p for p in shown.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
        parameters += [
            parameter
            for name, parameter in signature(source).parameters.items()
            if parameter.kind is Parameter.KEYWORD_ONLY
            and name not in leave_out
            and name not in shown.parameters
        ]
        vars(function)["__signature__"] = shown.replace(parameters=parameters)
        return function

    return decorate
