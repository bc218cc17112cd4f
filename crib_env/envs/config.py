"""The keywords of an environment, in one place: type, values, default and purpose of each.

Signatures, help and checks of the six forms, and the tables of their pages, are made from them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from inspect import Parameter, signature
from operator import attrgetter
from textwrap import fill, indent
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict, TypeVar, get_args

from gymnasium.vector import AutoresetMode

from crib_env.engine.family import REWARDS, SUITS, Family, Reward, Suits, check_features, episode_name, family_for
from crib_env.engine.record import count_sides
from crib_env.envs.opponents import OpponentSpec, PhasePolicy
from crib_env.errors import check_choice, is_whole, nearest, whole_number
from crib_env.policy import Opponent, find_agent
from crib_env.render.words import in_words
from crib_env.rules import PRESETS, Rules, find_rules
from crib_env.supported_rules import refuse_rules

if TYPE_CHECKING:
    import torch

F = TypeVar("F", bound=Callable[..., Any])

# --- the keywords of each form, typed; `EnvConfig` describes and checks them ---------------------

Episode = Literal["game", "deal", "round", "match"]
OnIllegal = Literal["terminate", "raise", "random"]
RenderMode = Literal["ansi", "svg", "rgb_array", "human"]
Library = Literal["torchrl", "rllib", "tianshou"]


class Keywords(TypedDict, total=False):
    """The keywords of every form."""

    reward: Reward
    rules: str | Rules | None
    episode: Episode | None
    features: bool | None
    suits: Suits
    players: int | None
    partners: bool | None
    on_illegal: OnIllegal
    discard_policy: Opponent  # of pegging_v0
    pegging_policy: Opponent  # of discard_v0


class AecKeywords(Keywords, total=False):
    """The keywords of ``env`` and ``raw_env``."""

    mask_in_observation: bool | Library
    render_mode: RenderMode | None
    viewer: int | Literal["all"] | None


class LearnerKeywords(Keywords, total=False):
    """The keywords of every form with one learner."""

    opponent: OpponentSpec
    seat: int | None
    partner: Opponent | None


class GymKeywords(LearnerKeywords, AecKeywords, total=False):
    """The keywords of ``gym_env``."""


class SB3Keywords(LearnerKeywords, total=False):
    """The keywords of ``sb3_env``."""

    mask_in_observation: bool | Library
    threads: int | None


class VectorKeywords(SB3Keywords, total=False):
    """The keywords of ``vector_env``."""

    autoreset_mode: AutoresetMode | str
    copy: bool


class TorchKeywords(LearnerKeywords, total=False):
    """The keywords of ``torch_env``."""

    threads: int | None
    device: str | torch.device


# The forms of an environment: their names on its page, and the keywords that they take.
FORMS: dict[str, tuple[str, dict[str, Any]]] = {
    "env": ("PettingZoo", AecKeywords.__annotations__),
    "raw_env": ("PettingZoo", AecKeywords.__annotations__),
    "gym_env": ("Gymnasium", GymKeywords.__annotations__),
    "vector_env": ("vector", {"num_envs": "int", **VectorKeywords.__annotations__}),
    "torch_env": ("tensors", {"num_envs": "int", **TorchKeywords.__annotations__}),
    "sb3_env": ("SB3", {"num_envs": "int", **SB3Keywords.__annotations__}),
}
MODES, ON_ILLEGAL = get_args(RenderMode), get_args(OnIllegal)
AUTORESETS = (AutoresetMode.SAME_STEP, AutoresetMode.NEXT_STEP)
EVERYONE = "all"
LINK, WORDS = re.compile(r"\[(.*?)\]\(.*?\)"), r"\1"  # of Markdown


@dataclass(frozen=True)
class PhasePolicySpec:
    """The keyword that names the built-in policy of a phase environment."""

    name: str
    phase: int  # the phase of a deal that the policy plays for both seats
    default: str  # agent
    meaning: str  # on the environment's page


@dataclass(frozen=True)
class EnvSpec:
    """The facts of an environment that all its forms share."""

    name: str  # with its version
    family: Family  # the games it plays
    rules: str  # the preset that it plays by default
    # The episode lengths, each with the engine's name for it; the first is the default.
    episodes: Mapping[str, str] = field(default_factory=lambda: {"game": "game", "deal": "deal", "match": "match"})
    phase: PhasePolicySpec | None = None  # the policy for the rest of the deal, in a phase environment
    example: str = ""  # the keywords in the loop of its page

    @property
    def seating(self) -> Mapping[int, tuple[int, ...]]:
        """Side of each seat by the number of players, in its default game."""
        return PRESETS[self.rules].seating

    def find_rules(self, rules: str | Rules | None) -> Rules:
        """Return `Rules` for its games, given as such or by name; its own if None."""
        return find_rules(self.rules if rules is None else rules, type(PRESETS[self.rules]))


Values = str | Callable[[EnvSpec], str]


class Keys(NamedTuple):
    """The keys of the two parts of an observation with its mask."""

    observation: str
    mask: str


LIBRARIES = {
    "pettingzoo": Keys("observation", "action_mask"),
    "torchrl": Keys("observation", "action_mask"),
    "rllib": Keys("observations", "action_mask"),
    "tianshou": Keys("obs", "mask"),
}


class Keyword(NamedTuple):
    """The documentation of a keyword, besides its name, type and default."""

    # The allowed values, as a cell of the page's table, or a function of the environment; "" if the
    # environment leaves no choice.
    values: Values
    meaning: str
    default: Values = ""  # as a cell of the table, if not the value itself
    by_form: dict[str, Any] = {}  # noqa: RUF012  # the default in forms where it differs
    instead: dict[str, str] = {}  # noqa: RUF012  # replacements in forms without it


def forms_of(name: str) -> list[str]:
    """Return the forms that take a keyword."""
    return [form for form, (_, taken) in FORMS.items() if name in taken]


def keyword(default: Any, *about: Any, **more: Any) -> Any:
    """Return a field of `EnvConfig` with its `Keyword`."""
    return field(default=default, metadata={"keyword": Keyword(*about, **more)})


def coded(values: Iterable[Any]) -> str:
    """Return values as the text of a table cell."""
    return ", ".join(f"`{value!r}`".replace("'", '"') for value in values)


def _rules(spec: EnvSpec) -> str:
    presets = [name for name, rules in PRESETS.items() if rules.family == spec.family.name]
    return f'{coded(presets)}, with changes `"{spec.rules}[target=91]"`, or a `Rules`'


def _rewards(spec: EnvSpec) -> str:
    return coded(one for one in REWARDS if one in ("win", "points") or one in spec.family.expected)


def _partner(spec: EnvSpec) -> str:
    sharing = any(max(sides) + 1 < len(sides) for sides in spec.seating.values())
    return "as `opponent`" if sharing else ""


@dataclass(kw_only=True, eq=False, repr=False)
class EnvConfig:
    """The keywords of an environment, checked: all that its forms are made from.

    Fields hold the given values until they are checked, and then the resolved ones: rules by name
    become `Rules`, an episode becomes the engine's name for it.

    Attributes:
        spec: the environment.
        phase_policy: plays the decisions that a phase environment leaves out. Users give its agent
            by the keyword that ``spec.phase`` names.
        illegal_reward: of an illegal action that ends the episode; see `Family.illegal_reward`.

    Raises:
        ValueError, TypeError: an invalid value, or one that conflicts with the others.
    """

    spec: EnvSpec = field(kw_only=False)
    opponent: OpponentSpec = keyword(
        "random",
        'a name, an agent, a function of a view, or several: `[("greedy", 1), ("expert", 3)]`',
        "who plays the other seats; of several, each episode draws one. `set_opponent` replaces it",
    )
    reward: str = keyword("win", _rewards, '`"win"` pays at the end, `"points"` at every step: see [Rewards](#rewards)')
    features: bool = keyword(
        False,
        "`False`, `True`",
        "`True`: numbers for each legal action that follow from the rules, see [features](../observations.md#features)",
    )
    rules: Rules = keyword(
        None, _rules, "a preset by name, or `Rules`: see [Rules](#rules)", lambda spec: coded([spec.rules])
    )
    seat: int | None = keyword(
        None,
        lambda spec: f"`0` to `{max(spec.seating) - 1}`, `None`",
        "the learner's seat; `None` draws it for each episode",
    )
    episode: str = keyword(
        None,
        lambda spec: coded(spec.episodes),
        "what one episode is: the game, or part or more of it",
        lambda spec: coded(list(spec.episodes)[:1]),
    )
    suits: str = keyword(
        "real",
        lambda spec: coded(SUITS) if spec.family.canonical else "",
        '`"canonical"`: situations that differ only by suits look the same; `"ranks"`: nor are own '
        "discards observed in the pegging",
    )
    players: int = keyword(
        None,
        lambda spec: coded(spec.seating) if len(spec.seating) > 1 else "",
        "seats; four play in two partnerships",
        lambda spec: coded(list(spec.seating)[:1]),
    )
    partner: Opponent | None = keyword(None, _partner, "who plays the learner's partner", "`None`: as the opponent")
    partners: bool | None = keyword(
        None,
        lambda spec: "`True`, `False`" if getattr(PRESETS[spec.rules], "partners", False) else "",
        "two partnerships, or each seat a side by itself",
        "`None`: as the rules, `True`",
    )
    phase_policy: PhasePolicy | None = None
    mask_in_observation: bool | str = keyword(
        False,
        coded([False, True, *sorted(LIBRARIES.keys() - {"pettingzoo"})]),
        "observe a dictionary that also holds the mask, under the library's keys; `False`: the "
        'mask is in `info["action_mask"]`',
        "PettingZoo: `True`; the others: `False`",
        by_form={"env": True, "raw_env": True},
        instead={"torch_env": "masks are in info['action_mask']"},
    )
    on_illegal: str = keyword(
        "terminate",
        coded(ON_ILLEGAL),
        "an illegal action ends the episode at a [reward](#rewards) that no legal course falls "
        "below (`env.illegal_reward`), raises `IllegalActionError`, or is "
        'replaced by a random legal one, which `info["illegal_action"]` reports',
        '`"terminate"`; `raw_env`: `"raise"`',
        by_form={"raw_env": "raise"},
    )
    render_mode: str | None = keyword(
        None, coded([None, *MODES]), "how `render` shows the game: see [drawings](../play.md#drawings-and-video)"
    )
    viewer: int | str | None = keyword(
        None, 'a seat, `"all"`, `None`', "whose knowledge is shown; `None`: the seat that acts"
    )
    num_envs: int = keyword(1, "a number", "how many games", "1")
    threads: int | None = keyword(
        None, "a number, `None`", "how many threads step them", "`None`: by the games and cores"
    )
    device: Any = keyword("cpu", '`"cpu"`', "where the tensors lie: the games are played there")
    autoreset_mode: AutoresetMode = keyword(
        AutoresetMode.SAME_STEP,
        "Gymnasium's `AutoresetMode`, or its text",
        "whether a finished game resets in the same step or the next",
        "`SAME_STEP`",
        instead={"torch_env": "finished episodes reset in the same step"},
    )
    copy: bool = keyword(
        True,
        "`True`, `False`",
        "`False` returns the batch's own arrays, which the next step overwrites",
        instead={"torch_env": "tensors share the batch's memory"},
    )

    def __post_init__(self) -> None:
        spec = self.spec
        given: str | None = self.episode
        episode = next(iter(spec.episodes)) if given is None else episode_name(given, spec.episodes)
        check_choice("episode", episode, tuple(spec.episodes))
        self.episode = spec.episodes[episode]
        self.rules = spec.find_rules(self.rules)
        if self.partners is not None:
            if not hasattr(self.rules, "partners"):
                raise ValueError(
                    f"{spec.name} leaves no choice of partners, got partners={self.partners!r}: four_hand_v0 does"
                )
            changes: dict[str, Any] = {"partners": self.partners}
            self.rules = replace(self.rules, **changes)
        self.family = family_for(self.rules.family, self.reward, self.suits)
        check_features(self.features)
        self.features = bool(self.features)
        sides = self.rules.sides_for(self.players)
        self.players = len(sides)
        self.illegal_reward = self.family.illegal_reward(self.rules, self.episode, self.reward, self.players)
        self.seat = self._seat("seat")
        self.viewer = self._seat("viewer", EVERYONE)
        if self.partner is not None:
            if len(sides) == count_sides(sides):
                raise ValueError(
                    f"partner={self.partner!r} needs a game of partners (players=4, partners=True):"
                    f" in this one each of the {in_words(self.players)} players plays alone"
                )
            self.partner = find_agent(self.partner)
            refuse_rules(self.partner, self.rules, self.episode)
        if self.phase_policy is not None:
            refuse_rules(self.phase_policy.agent, self.rules, self.episode)
        check_choice("mask_in_observation", self.mask_in_observation, (True, False, *LIBRARIES))
        check_choice("on_illegal", self.on_illegal, ON_ILLEGAL)
        if self.render_mode is not None:
            check_choice("render_mode", self.render_mode, MODES)
        if isinstance(self.autoreset_mode, str):  # "NextStep", as in Gymnasium
            with suppress(ValueError):
                self.autoreset_mode = AutoresetMode(self.autoreset_mode)
        check_choice("autoreset_mode", self.autoreset_mode, AUTORESETS)
        check_choice("copy", self.copy, (True, False))
        self.num_envs = whole_number("num_envs", self.num_envs, 1)
        if self.threads is not None:
            self.threads = whole_number("threads", self.threads, 1)
        if str(self.device).partition(":")[0] != "cpu":
            raise ValueError(
                f"device={str(self.device)!r}: these games are played on the CPU, and so are their "
                "tensors; move them with tensor.to(device)"
            )

    def _seat(self, name: str, *words: str) -> Any:
        """Return the value of a keyword, checked: a seat, None or one of ``words``."""
        seat = getattr(self, name)
        if seat is None or (isinstance(seat, str) and seat in words):
            return seat
        if not is_whole(seat) or seat not in range(self.players):
            seats = f"a seat from 0 to {self.players - 1}"
            known = ", ".join([seats, *map(repr, words)])
            raise ValueError(f"{name} must be {known} or None, got {seat!r}")
        return int(seat)


KEYWORDS: dict[str, Keyword] = {
    one.name: one.metadata["keyword"] for one in fields(EnvConfig) if "keyword" in one.metadata
}
_FIELDS = {one.name: one for one in fields(EnvConfig)}


def settle(spec: EnvSpec, form: str, given: Mapping[str, Any]) -> EnvConfig:
    """Return the checked keywords of a form, with its own defaults for those not given."""
    known = KEYWORDS.keys() & FORMS[form][1].keys()
    own = {spec.phase.name} if spec.phase else set[str]()
    for name in given:
        if name not in known | own:
            raise TypeError(_not_taken(f"{spec.name}.{form}", name, form, known | own))
    values = {name: KEYWORDS[name].by_form.get(form, _FIELDS[name].default) for name in known}
    values |= given
    if spec.phase is not None:
        agent = find_agent(values.pop(spec.phase.name, spec.phase.default))
        values["phase_policy"] = PhasePolicy(agent, spec.phase.phase)
    return EnvConfig(spec, **values)


def _not_taken(where: str, name: str, form: str, known: Collection[str]) -> str:
    about = KEYWORDS.get(name)
    if about is None:
        # Python's own wording: TorchRL's GymEnv passes frameskip and matches this message.
        return f"{where} got an unexpected keyword argument {name!r}{nearest(name, sorted(known))}"
    forms = forms_of(name)
    why = about.instead.get(form) or f"{', '.join(forms)} {'takes' if len(forms) == 1 else 'take'} it"
    return f"{where} takes no {name}: {why}"


def takes_keywords(function: F) -> F:
    """Decorator: list the keywords of a form in the signature and docstring of its method."""
    form, shown = function.__name__, signature(function)
    own = [one for one in shown.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
    types = FORMS[form][1]
    taken = {name: about for name, about in KEYWORDS.items() if name in types}
    parameters = [
        Parameter(
            name,
            Parameter.KEYWORD_ONLY,
            default=about.by_form.get(form, _FIELDS[name].default),
            annotation=getattr(types[name], "__forward_arg__", types[name]),
        )
        for name, about in taken.items()
        if name not in shown.parameters
    ]
    vars(function)["__signature__"] = shown.replace(parameters=[*own, *parameters])
    function.__doc__ = f"{(function.__doc__ or '').rstrip()}\n\n{described(taken, ' ' * 8)}"
    return function


def described(keywords: Mapping[str, Keyword], margin: str) -> str:
    """Return the section of a docstring that describes keywords."""
    lines = ["Args:"]
    for name, about in keywords.items():
        values = f": {about.values}" if isinstance(about.values, str) else ""
        words = f"{name}{values}: {LINK.sub(WORDS, about.meaning)}."
        lines.append(indent(fill(words, 88 - len(margin), subsequent_indent=" " * 4), " " * 4))
    return indent("\n".join(lines), margin)


EnvConfig.__doc__ = f"{EnvConfig.__doc__}\n{described(KEYWORDS, ' ' * 4)}\n"


class Setting:
    """A keyword that is fixed when an environment is made; setting it raises an AttributeError."""

    def __init__(self, place: str | None = None) -> None:
        self._place = place

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self._read: Callable[[Any], Any] = attrgetter(self._place or f"_config.{name}")

    def __get__(self, env: Any, owner: type) -> Any:
        return self if env is None else self._read(env)

    def __set__(self, env: Any, value: Any) -> None:
        raise AttributeError(
            f"{self._name} is fixed when the environment is made: make another with {self._name}={value!r}"
        )


class EnvSettings:
    """The keywords that every environment shows as read-only attributes."""

    _config: EnvConfig

    rules, players, episode, reward = Setting(), Setting(), Setting(), Setting()
    suits, on_illegal, partners = Setting(), Setting(), Setting("_config.rules.partners")
    illegal_reward = Setting()


def arguments(spec: EnvSpec) -> list[tuple[str, str, str, str, str]]:
    """Return an environment's arguments: name, values, default, meaning, forms that take it."""
    rows = []
    for one in fields(EnvConfig):
        if one.name == "phase_policy" and (phase := spec.phase) is not None:
            values = "a name, an agent, a function of a view"
            rows.append((phase.name, values, coded([phase.default]), phase.meaning, "all"))
        if one.name not in KEYWORDS:
            continue
        about = KEYWORDS[one.name]
        values, default = (cell if isinstance(cell, str) else cell(spec) for cell in (about.values, about.default))
        taking = forms_of(one.name)
        forms = "all" if len(taking) == len(FORMS) else ", ".join(dict.fromkeys(FORMS[form][0] for form in taking))
        if values:
            rows.append((one.name, values, default or coded([one.default]), about.meaning, forms))
    return rows
