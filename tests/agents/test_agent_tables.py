"""The one reader of the agents' tables: every file fits, and one that does not is refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from crib_agents.data.tables import (
    CHOICES,
    CRIB_TABLES,
    FOLDER,
    HAND_PEGGING,
    ROLLOUT_POLICY,
    TABLES,
    Table,
    load,
    save,
)
from crib_agents.expert.belief import SIZE

from crib_env.policy import find_agent
from crib_env.rules import TwoHandRules
from research.tables.dealing import batches
from research.tables.rollouts import choices_of, fit_choices
from two_hand_views import legal_cards

every_table = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.path.stem)


@every_table
def test_every_table_is_read_and_described(table: Table) -> None:
    held = load(table)
    assert {name: array.shape for name, array in held.items()} == table.shapes
    assert all(np.isfinite(array).all() for array in held.values())
    assert f"`{table.file}`" in (FOLDER / "README.md").read_text()


def test_every_file_of_numbers_has_a_reader() -> None:
    files = {path.name for path in FOLDER.iterdir() if path.suffix in (".json", ".npz")}
    assert files == {table.file for table in TABLES}


def test_roles_come_as_pone_and_dealer() -> None:
    """A pair from pone counts more: the dealer discards the crib's other two cards to score."""
    pone, dealer = load(CRIB_TABLES)["crib"][0]
    assert (pone > dealer).all()


def test_tables_of_five_card_pad_with_0() -> None:
    mine = load(HAND_PEGGING)["mine"][1]
    assert (mine[:, :455] > 0).all()
    assert not mine[:, 455:].any()


@every_table
def test_tables_of_another_version_are_rejected_naming_the_command(table: Table, tmp_path: Path) -> None:
    path = tmp_path / table.file
    np.savez(path, version=0)
    again = f"version 0, expected {table.version}: make it again with {table.made_by}"
    with pytest.raises(ValueError, match=again):
        load(table, path)


def test_tables_of_wrong_shape_are_rejected(tmp_path: Path) -> None:
    arrays = {name: np.zeros(shape) for name, shape in ROLLOUT_POLICY.shapes.items()}
    path = tmp_path / "short.npz"
    save(ROLLOUT_POLICY, path, **{**arrays, "kept": np.zeros((2, 2, 7))})
    with pytest.raises(ValueError, match=r"holds kept of shape \(2, 2, 7\), expected"):
        load(ROLLOUT_POLICY, path)
    path = tmp_path / "less.npz"
    save(ROLLOUT_POLICY, path, tables=arrays["tables"])
    with pytest.raises(ValueError, match="holds tables, expected kept too: make it again with"):
        load(ROLLOUT_POLICY, path)
    with pytest.raises(ValueError, match=r"there is no .*gone\.npz: make it again with"):
        load(ROLLOUT_POLICY, tmp_path / "gone.npz")


# --- tables learned from an agent's choices: `python -m research.tables choices` ------------------


FIVE = TwoHandRules.preset("five_card")


def test_batches_make_as_many_games_as_named() -> None:
    sizes = [games.n for games, _ in batches(FIVE, 250, 100, np.random.SeedSequence(1), "games")]
    assert sizes == [100, 100, 50]


def test_choice_tables_predict_unseen_choices() -> None:
    views, ranks = choices_of(FIVE, find_agent("greedy"), 700, np.random.SeedSequence(1))
    for view, rank in zip(views, ranks, strict=True):
        may = {card >> 2 for card in legal_cards(view)}
        assert rank in may
        assert len(may) > 1
    tables, predicted = fit_choices(5, views, ranks, np.random.default_rng(2))
    assert tables.shape == (SIZE,)
    (before, hits), (after, more) = predicted[0], predicted[-1]
    assert after < before - 0.05
    assert more > hits


def test_choices_differ_from_the_rollout_policy() -> None:
    assert (load(CHOICES)["tables"] != load(ROLLOUT_POLICY)["tables"]).any(axis=1).all()
