"""Finished indexes become one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cento
import pytest


def shards_of(directory: Path, texts: list[tuple[str, str]], number: int) -> list[cento.Index]:
    shards = [cento.Index(directory / f"s{at}.idx", create=True) for at in range(number)]
    for at, shard in enumerate(shards):
        with shard.writer() as w:
            w.add_many(texts[at::number])
    return shards


def test_a_merged_index_answers_as_one_that_was_built_at_once(
    index: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    shards = shards_of(tmp_path, texts, 3)
    merged = cento.merge(tmp_path / "all.idx", shards)
    assert (merged.documents, merged.segments, merged.known) == (40, 3, 0)
    assert merged.bytes > 0
    all = cento.Index(tmp_path / "all.idx")
    assert sorted(all.ids()) == sorted(index.ids())
    for _, text in texts:
        found, expected = all.search(text, passages=True), index.search(text, passages=True)
        assert list(found) == list(expected)
    names = {frozenset((a, b)) for a, b, _ in index.pairs(min_resemblance=0.5)}
    assert len(names) == 10
    assert {frozenset((a, b)) for a, b, _ in all.pairs(min_resemblance=0.5)} == names
    assert all.check()
    again = cento.merge(all, shards)
    assert (again.documents, again.known) == (0, 3)


def test_what_is_merged_is_seen_after_a_reload(
    index: cento.Index, tmp_path: Path, made: Any
) -> None:
    other = cento.Index(tmp_path / "other.idx", create=True)
    with other.writer() as w:
        w.add("new", " ".join(made(50, 1000)))
    assert len(index) == 40
    merged = cento.merge(index, [other], remove=True)
    assert (merged.documents, merged.removed) == (1, 1)
    assert not (tmp_path / "other.idx").exists()
    assert "new" not in index
    index.reload()
    assert "new" in index


def test_an_id_that_occurs_twice_is_refused_or_replaced(
    index: cento.Index, tmp_path: Path, made: Any
) -> None:
    other = cento.Index(tmp_path / "other.idx", create=True)
    text = " ".join(made(50, 1000))
    with other.writer() as w:
        w.add("doc-3", text)
    with pytest.raises(cento.OpenError, match="`doc-3` is in"):
        cento.merge(index, [other])
    assert cento.merge(index, [other], on_conflict="later").replaced == 1
    index.reload()
    found = index.get("doc-3")
    assert found is not None
    assert found.text == text
    assert len(index) == 40


def test_what_cannot_be_merged_is_refused(index: cento.Index, tmp_path: Path) -> None:
    other = cento.Index(tmp_path / "other.idx", create=True, scheme="winnow(k=4,w=10)")
    with pytest.raises(cento.OpenError, match="k=4"):
        cento.merge(index, [other])
    with pytest.raises(cento.OpenError, match="nowhere"):
        cento.merge(index, [tmp_path / "nowhere.idx"])
    with pytest.raises(cento.InvalidArgumentError, match="no indexes to merge"):
        cento.merge(index, [])
    with pytest.raises(cento.InvalidArgumentError, match="on_conflict"):
        cento.merge(index, [other], on_conflict="first")  # type: ignore[arg-type]
    with index.writer(), pytest.raises(cento.LockedError):
        cento.merge(tmp_path / "new.idx", [index])
