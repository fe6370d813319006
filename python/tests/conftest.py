"""What the tests have in common: texts, an index of them, and the command line if there is one."""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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


@dataclass
class QuizCorpus:
    """Questions, and documents that have some of them, or words of them from elsewhere."""

    questions: list[dict[str, Any]]
    documents: list[dict[str, Any]]


def quiz_corpus(seed: int, count: int = 160) -> QuizCorpus:
    """Documents in an order of their own, with whole questions, parts of them, a sentence that two
    questions quote, a proverb, and copies of a page that have more or less of a question."""
    draw = random.Random(seed)

    def some(number: int) -> list[str]:
        return [f"{draw.choice(WORDS)}{draw.randrange(4000)}" for _ in range(number)]

    sentence, proverb = some(16), some(10)
    bodies = [some(draw.randrange(9, 50)) for _ in range(8)]
    bodies += [[*some(6), *sentence, *some(6)] for _ in range(2)] + [proverb, ["too", "short"]]
    answers = [" ".join(some(3)) if at % 2 else None for at in range(len(bodies))]
    # A page whose words around a question are the same, whatever the copies have of it.
    pages = [(some(20), some(20), draw.choice(bodies[:10])) for _ in range(3)]
    texts: list[list[str]] = []
    for _ in range(count):
        body = draw.choice(bodies)
        half = len(body) // 2
        part = draw.choice([body, body, body[:half], body[half:], body[: half // 2]])
        if draw.random() < 0.2:
            before, after, body = draw.choice(pages)
            most = draw.choice([len(body), len(body) // 2, 2 * len(body) // 3])
            texts.append([*some(9), *before, *body[:most], *after, *some(9)])
        else:
            inside = draw.choice([part, sentence, proverb, [], []])
            texts.append([*some(draw.randrange(40)), *inside, *some(draw.randrange(40))])
        if draw.random() < 0.2:
            at = draw.randrange(len(bodies))
            texts[-1] += [*bodies[at], answers[at] or ""]
    questions = [
        {"id": f"q{at}", "question": " ".join(body), "answer": answer, "benchmark": f"b{at % 3}"}
        for at, (body, answer) in enumerate(zip(bodies, answers, strict=True))
    ]
    breaks = draw.choice(["\n", " "])
    documents = [
        {"url": f"u{at}", "content": breaks.join(text), "n": at} for at, text in enumerate(texts)
    ]
    draw.shuffle(documents)
    return QuizCorpus(questions, documents)


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
