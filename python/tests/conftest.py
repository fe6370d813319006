"""What the tests have in common: texts, an index of them, and the command line if there is one."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

import cento
import pytest

WORDS = [
    "river", "stone", "letter", "glass", "winter", "engine", "paper", "garden", "signal", "copper",
    "bridge", "mirror", "harbor", "candle", "forest", "window", "thunder", "valley", "silver",
    "quarter", "meadow", "lantern", "anchor", "feather", "granite", "orchard", "pigeon", "ribbon",
    "saddle", "timber", "violin", "walnut", "Ärger", "größe", "naïve", "日本", "🦉", "crème",
]  # fmt: skip


def words(number: int, seed: int) -> list[str]:
    """Returns `number` words, the same for a seed."""
    chosen = random.Random(seed)
    return [chosen.choice(WORDS) + (str(chosen.randrange(400))) for _ in range(number)]


def sample(number: int = 40) -> list[tuple[str, str]]:
    """Documents; every fourth is the one before it with two words changed."""
    documents: list[tuple[str, str]] = []
    for at in range(number):
        own = words(120, at)
        if at % 4 == 3:
            own = documents[-1][1].split(" ")
            own[30], own[80] = "changed", "otherwise"
        documents.append((f"doc-{at}", " ".join(own)))
    return documents


@pytest.fixture
def texts() -> list[tuple[str, str]]:
    return sample()


@pytest.fixture
def index(tmp_path: Path, texts: list[tuple[str, str]]) -> cento.Index:
    index = cento.Index(tmp_path / "sample.idx", create=True)
    with index.writer() as w:
        w.add_many(texts)
    return index


@pytest.fixture
def empty(tmp_path: Path) -> cento.Index:
    return cento.Index(tmp_path / "empty.idx", create=True)


@pytest.fixture
def cli() -> str:
    found = os.environ.get("CENTO_CLI") or shutil.which("cento")
    if found is None:
        pytest.skip("there is no command line to compare with; name one in CENTO_CLI")
    return found


@pytest.fixture
def made() -> Callable[[int, int], list[str]]:
    return words
