"""Language models as agents: `TextAgent` over any function, ``text:MODEL`` over a server.

    from crib_agents.text_agent import TextAgent

    agent = TextAgent(lambda messages: my_model(messages), style="full")

``text:MODEL`` works wherever an agent's name does. It asks the OpenAI-compatible server at
``OPENAI_BASE_URL`` with the key ``OPENAI_API_KEY``. Options follow a question mark:
``text:MODEL?style=full&timeout=20&base_url=http://127.0.0.1:8000/v1``. A ``base_url`` other than
``OPENAI_BASE_URL`` gets no key, since agents' names can come from files.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any
from urllib.parse import parse_qsl

import numpy as np

from crib_agents.honours import one_line, presets_of
from crib_env.engine.family import family_of
from crib_env.errors import NoResultError, check_choice, comes_with, unknown, whole_number
from crib_env.policy import Actions, Views, one_or_many
from crib_env.rules import Rules
from crib_env.supported_rules import shown_fields
from crib_env.text import STYLES, Reader, ReplyError, Tally, count_tokens, prompt

Message = dict[str, str]
Complete = Callable[[list[Message]], str]
"""``complete(messages) -> reply``: messages have a ``role`` and a ``content``."""

MOST_CHARACTERS = 200_000  # read from the end of a reply
MOST_BYTES = 8 * MOST_CHARACTERS  # of a server's answer
SENT_BACK = 2_000  # characters from the end of a bad reply that are sent back to the model
TRIES = 3  # most calls of ``complete`` for one reply


class TextAgent:
    """Plays any game through text: each view becomes a prompt, each reply an action.

    Several views are sent in parallel. If one fails, the others' actions are kept for a caller that
    then passes each view alone, as `Referee` does: no reply is paid for twice.

    Args:
        complete: returns the model's reply to messages. If it raises `TRIES` times in a row, the
            agent raises a `NoResultError`, and no game is lost.
        style: of the prompts: ``"compact"`` or ``"full"``.
        retries: further replies after a bad one; each request states the last error.
        on_failure: after the last bad reply: ``"forfeit"`` the game by raising the `ReplyError`
            (``"raise"`` does the same), or play ``"random"``.
        workers: the most parallel requests.
        name: its name in tables.

    Attributes:
        tally: counts of replies and tokens.
        record: a list to which every view and action are added; None for no record.
    """

    honours = None

    def __init__(
        self,
        complete: Complete,
        *,
        style: str = "compact",
        retries: int = 2,
        on_failure: str = "forfeit",
        workers: int = 16,
        name: str = "text",
    ) -> None:
        check_choice("style", style, STYLES)
        self.complete, self.style, self.name = complete, style, name
        self.workers = whole_number("workers", workers, 1)
        self.record: list[tuple[Any, int]] | None = None
        self._reader = Reader(retries, on_failure)
        self._lock = Lock()
        self._answered: dict[bytes, list[int | Exception]] = {}
        self._lost: NoResultError | None = None  # the error that ended the current call

    @property
    def tally(self) -> Tally:
        """Counts since the agent was made."""
        return self._reader.tally

    @one_or_many
    def act(self, views: Views, rng: np.random.Generator) -> Actions:
        """Return one action for each view, int64[B].

        Raises:
            ReplyError: no reply named a legal action.
            NoResultError: ``complete`` failed.
        """
        if len(views) == 1 and (ready := self._answered.get(views.tobytes())):
            found = [ready.pop(0)]
        else:
            self._answered.clear()
            self._lost = None
            found = self._ask_all(views, rng)
            if self._lost is not None:
                raise self._lost
            if self.record is not None:
                good = zip(views, found, strict=True)
                self.record += [(v.copy(), a) for v, a in good if isinstance(a, int)]
            if len(views) > 1 and any(isinstance(one, Exception) for one in found):
                for view, one in zip(views, found, strict=True):
                    self._answered.setdefault(view.tobytes(), []).append(one)
        for one in found:
            if isinstance(one, Exception):
                raise one
        return np.array(found, dtype=np.int64)

    def _ask_all(self, views: Views, rng: np.random.Generator) -> list[int | Exception]:
        """Return an action or an exception for each view."""
        found: list[int | Exception | None] = [self._reader.remembered(view) for view in views]
        open_ones = [i for i, one in enumerate(found) if one is None]
        pool = ThreadPoolExecutor(min(self.workers, max(1, len(open_ones))))
        try:
            for i, one in zip(open_ones, pool.map(self._decide, [views[i] for i in open_ones]), strict=True):
                found[i] = one
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
        for i, failed in enumerate(found):
            if isinstance(failed, ReplyError):
                drawn = self._reader.give_up(views[i], rng)
                found[i] = failed if drawn is None else drawn
        return [one for one in found if one is not None]

    def _decide(self, view: Any) -> int | Exception:
        """Ask the model for one decision, as often as the retries allow."""
        messages = [{"role": "user", "content": prompt(view, rules_of(view), self.style)}]
        error: Exception = RuntimeError("no reply")
        for _ in range(self._reader.retries + 1):
            try:
                reply = self._reply(messages)
            except NoResultError as failed:
                self._lost = failed
                return failed
            with self._lock:
                self.tally.prompt_tokens += sum(count_tokens(one["content"]) for one in messages)
                try:
                    return self._reader.read(reply, view)
                except ReplyError as bad:
                    error = bad
            messages += [{"role": "assistant", "content": reply[-SENT_BACK:]}, {"role": "user", "content": str(error)}]
        return error

    def _reply(self, messages: list[Message]) -> str:
        """Return the reply to messages, from one of up to `TRIES` calls of ``complete``."""
        for left in reversed(range(TRIES)):
            if self._lost is not None:
                raise self._lost
            began = time.perf_counter()
            try:
                reply = self.complete(list(messages))
                if not isinstance(reply, str):
                    raise TypeError(f"complete returned {type(reply).__name__}, not text")
                return reply[-MOST_CHARACTERS:]
            except Exception as failed:
                with self._lock:
                    self.tally.errors += 1
                if isinstance(failed, NoResultError):
                    raise
                if not left:
                    why = f"{self.name}: no reply in {TRIES} tries: "
                    why += f"{type(failed).__name__}: {one_line(failed)}"
                    raise NoResultError(why) from failed
            finally:
                with self._lock:
                    self.tally.seconds += time.perf_counter() - began
        raise AssertionError


def rules_of(view: Any) -> Rules:
    """Return the preset that has the most fields in common with a view's rules."""
    shown = shown_fields(family_of(view))

    def alike(rules: Rules) -> int:
        return sum(int(getattr(rules, name) == view[name]) for name in shown.names)

    return max(presets_of(shown.family), key=alike)


def chat(
    model: str,
    *,
    base_url: str | None = None,
    timeout: float = 60.0,
    server_retries: int = 2,
    temperature: float | None = None,
    max_tokens: int | None = None,
) -> Complete:
    """Return a `Complete` of a model behind an OpenAI-compatible server.

    ``base_url`` None is ``OPENAI_BASE_URL``, or else OpenAI's server. Any other server gets neither
    the ``OPENAI_API_KEY`` nor headers of other such settings. An option None is the server's own.
    """
    if not 0 < timeout < math.inf:
        raise ValueError(f"timeout must be a number of seconds above 0, got {timeout}")
    if temperature is not None and not 0 <= temperature < math.inf:
        raise ValueError(f"temperature must be a number from 0 up, got {temperature}")
    server_retries = whole_number("server_retries", server_retries, 0)
    if max_tokens is not None:
        max_tokens = whole_number("max_tokens", max_tokens, 1)
    with comes_with("llm"):
        import openai
    known = os.environ.get("OPENAI_BASE_URL")
    url = base_url or known
    key = os.environ.get("OPENAI_API_KEY") or ("none" if url else None)
    headers: Any = {}
    if url != known:
        key = "none"
        own = os.environ.get("OPENAI_CUSTOM_HEADERS", "").split("\n")
        names = [line.partition(":")[0].strip() for line in own if ":" in line]
        headers = dict.fromkeys(["OpenAI-Organization", "OpenAI-Project", *names], openai.Omit())
    client: Any = openai.OpenAI(
        base_url=url, api_key=key, timeout=timeout, max_retries=server_retries, default_headers=headers
    )
    options: dict[str, Any] = {"temperature": temperature, "max_tokens": max_tokens}
    options = {name: value for name, value in options.items() if value is not None}

    def complete(messages: list[Message]) -> str:
        began, body = time.monotonic(), b""
        stream = client.chat.completions.with_streaming_response
        with stream.create(model=model, messages=messages, **options) as response:
            for part in response.iter_bytes():  # the client's timeout is per part
                body += part
                if time.monotonic() - began > timeout:
                    raise TimeoutError(f"the answer was not whole after {timeout:g} s")
                if len(body) > MOST_BYTES:
                    return ""  # counts as a bad reply of the model
        try:
            return json.loads(body)["choices"][0]["message"]["content"] or ""
        except (ValueError, LookupError, TypeError):
            raise ValueError("the server's answer has no choices") from None

    return complete


OPTIONS: dict[str, Callable[[str], Any]] = {
    "style": str,
    "retries": int,
    "on_failure": str,
    "workers": int,
    "base_url": str,
    "timeout": float,
    "server_retries": int,
    "temperature": float,
    "max_tokens": int,
}
OF_THE_AGENT = ("style", "retries", "on_failure", "workers")


def agent_of(given: str) -> TextAgent:
    """Return the agent for the text after ``text:`` in a name: a model, then options."""
    model, _, words = given.partition("?")
    if not model:
        raise ValueError("text: names no model: write text:MODEL")
    options: dict[str, Any] = {}
    for name, value in parse_qsl(words, keep_blank_values=True):
        if name not in OPTIONS:
            raise unknown("option of text:MODEL", name, list(OPTIONS))
        try:
            options[name] = OPTIONS[name](value)
        except ValueError:
            raise ValueError(f"the option {name} of text:{model} must be a number, got {value!r}") from None
    mine = {name: options.pop(name) for name in OF_THE_AGENT if name in options}
    return TextAgent(chat(model, **options), name=f"text:{model}", **mine)
