"""Passages that most documents repeat, and scores of programs."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import cento
import pytest

LICENSE = " ".join(f"license{at}" for at in range(30))


def test_passages_that_most_documents_have_are_found(empty: cento.Index, made: Any) -> None:
    # The copy of a document does not count.
    own = [" ".join(made(40, at)) for at in range(8)]
    with empty.writer() as w:
        w.add_many((at, f"größe {own[at]} {LICENSE if at < 6 else ''}") for at in range(8))
        w.add("copy", f"größe {own[0]} {LICENSE}")
    (passage,) = empty.repeated_passages(0.6)
    assert (passage.documents, passage.of_documents, passage.tokens) == (6, 8, 30)
    assert passage.text == LICENSE
    document = empty.get(passage.example)
    assert document is not None
    assert document.text is not None
    assert document.text.encode()[slice(*passage.bytes)].decode() == LICENSE
    assert empty.repeated_passages() == [passage]
    assert empty.repeated_passages(0.8) == []
    for share in (0, 1.5):
        with pytest.raises(cento.InvalidArgumentError):
            empty.repeated_passages(share)


def test_an_index_without_texts_has_no_passages_to_show(tmp_path: Path) -> None:
    index = cento.Index(tmp_path / "idx", create=True, store_text=False)
    with index.writer() as w:
        w.add_many((at, f"{LICENSE} own{at}") for at in range(8))
    with pytest.raises(cento.OpenError):
        index.repeated_passages()


def program(seed: int, name: str) -> str:
    """A program of 60 statements, chosen by the seed."""
    kinds = [
        "{n} = {n} * {v} + {n};",
        "if ({n} > {v}) {{ {n} = {v}; }}",
        "for (int i = 0; i < {v}; i++) {n} += i;",
        'out.println({n} + "{v}");',
        "while ({n}-- > 0) step({n}, {v});",
        "{n} = Math.max({n}, a[{v}]);",
    ]
    chosen = random.Random(seed)
    body = " ".join(
        chosen.choice(kinds).format(n=f"{name}{chosen.randrange(5)}", v=chosen.randrange(997))
        for _ in range(60)
    )
    return f"class P {{ void run() {{ {body} }} }}"


def test_programs_that_were_copied_have_the_greatest_score(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    index = cento.Index(
        tmp_path / "idx", create=True, preset="code", analyzer="code(language=java)"
    )
    with index.writer() as w:
        w.add_many((f"p{at}", program(at, "x")) for at in range(6))
        # A copy with other names.
        w.add("copy", program(2, "renamed"))
    found = list(index.pairs(rank="score", min_overlap=1))
    scores = [pair.score for pair in found if pair.score is not None]
    table = pa.table(index.pairs(rank="score", min_overlap=1, to_arrow=True))
    assert table.column("score").to_pylist() == scores
    assert len(scores) == len(found) > 1
    assert scores == sorted(scores, reverse=True)
    assert {found[0].a, found[0].b} == {"p2", "copy"}
    assert found[0].too_short is False
    assert scores[0] > scores[1]
    # With other names the tokens are the same, and the score is less than that of equal texts.
    assert found[0].resemblance == 1.0
    assert 0.5 < scores[0] < 1.0
    with index.writer() as w:
        w.add("copy", program(2, "x"))
    assert next(iter(index.pairs(rank="score", min_overlap=1))).score == 1.0
    assert all(0 <= score <= 1 for score in scores)
    # Without a request for it there is no score.
    assert all(pair.score is None for pair in index.pairs(rank="similarity", limit=3))


def test_documents_of_prose_have_no_score(index: cento.Index) -> None:
    assert all(pair.score is None for pair in index.pairs())
    with pytest.raises(cento.Error, match="programs"):
        list(index.pairs(rank="score"))
