"""Every clause of seeds/ has a test that carries its id, and no test carries an id of no clause."""

import re

from checkout import ROOT, TESTS

HEADING = re.compile(r"^### ([A-Z]\d+) ", re.MULTILINE)
TEST = re.compile(r"^def test_([a-z]\d+)_", re.MULTILINE)


def clause_ids(pages: list[str]) -> set[str]:
    return {clause for page in pages for clause in HEADING.findall(page)}


def test_ids(sources: list[str]) -> set[str]:
    return {clause.upper() for source in sources for clause in TEST.findall(source)}


test_ids.__test__ = False  # type: ignore[attr-defined]

PAGES = [path.read_text() for path in sorted((ROOT / "seeds").glob("*.md"))]
SOURCES = [path.read_text() for path in sorted(TESTS.rglob("test_*.py"))]


def test_seeds_hold_every_clause() -> None:
    """The clause ids of the games; later ones continue the numbering."""
    found = clause_ids(PAGES)
    for letter, least in zip("CHFMT", (5, 12, 7, 12, 13), strict=True):
        numbers = sorted(int(clause[1:]) for clause in found if clause[0] == letter)
        assert numbers == list(range(1, max(least, len(numbers)) + 1))
    assert {clause[0] for clause in found} == set("CHFMT")


def test_every_clause_has_a_test_that_carries_its_id() -> None:
    assert clause_ids(PAGES) - test_ids(SOURCES) == set()


def test_test_names_use_known_clause_ids() -> None:
    assert test_ids(SOURCES) - clause_ids(PAGES) == set()
