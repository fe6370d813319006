"""Shards answer as one index: here, behind services, with copies, and without some of them."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cento
import pytest
from cento.shards import Service, Shard, ShardDownError, Shards

Texts = list[tuple[str, str]]


def made(path: Path, documents: Texts) -> cento.Index:
    index = cento.Index(path, create=True, scheme="winnow(k=3,w=4)", max_df=20)
    with index.writer() as w:
        w.add_many(documents)
    return index


@pytest.fixture
def documents(texts: Texts) -> Texts:
    # A phrase that all have is stopped, and makes candidates of all.
    return [(id, f"{text} a phrase that all of the documents have") for id, text in texts]


@pytest.fixture
def parts(tmp_path: Path, documents: Texts) -> list[cento.Index]:
    return [made(tmp_path / f"part-{at}.idx", documents[at::3]) for at in range(3)]


@pytest.fixture
def whole(tmp_path: Path, parts: list[cento.Index]) -> cento.Index:
    # Merged, so that the documents have the same times of addition.
    path = made(tmp_path / "whole.idx", []).path
    cento.merge(path, [part.path for part in parts])
    return cento.Index(path)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"passages": True, "limit": 5},
    {"rank": "weight", "min_containment": 0.3},
    {"rank": "passages", "candidates": 9},
    {"min_passage": 20, "max_df": 10},
    {"verify": "cosine", "exclude_id": ["doc-4"], "limit": 3},
    {"goal": "trace", "carriers": 2},
    {"goal": "trace", "limit": 1, "passages": True, "min_weighted_containment": 0.01},
]


def shown(answer: cento.Answer) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(answer.to_json())
    del read["took_us"]
    return read


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_shards_answer_as_one_index(
    whole: cento.Index, parts: list[cento.Index], documents: Texts, options: dict[str, Any]
) -> None:
    shards = Shards(parts)
    for _, text in documents[::7]:
        found = shards.search(text, **options)
        assert shown(found.answer) == shown(whole.search(text, bytes=True, **options))
        assert (found.missing, found.documents, len(found.commits)) == ((), len(documents), 3)


def test_shards_trace_a_text_of_parts_as_one_index(
    whole: cento.Index, parts: list[cento.Index], documents: Texts
) -> None:
    pages = [{"name": id, "text": text} for id, text in documents[2:8:3]]
    found = Shards(parts).search(parts=pages, goal="trace").answer
    assert shown(found) == shown(whole.search(parts=pages, goal="trace", bytes=True))
    assert found.trace is not None
    carriers = [(span.a_part, span.carriers, span.best.id) for span in found.trace.spans]
    assert carriers[:1] == [("doc-2", 2, "doc-2")], carriers
    assert found.trace.new == 0.0


@contextmanager
def served(cli: str, index: cento.Index) -> Generator[str, None, None]:
    call = [cli, "serve", index.path, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stderr is not None
            found = (re.search(r"url=(\S+)", line) for line in service.stderr)
            yield next(said[1] for said in found if said is not None)
        finally:
            service.terminate()


def test_services_and_indexes_answer_as_one_index(
    cli: str, whole: cento.Index, parts: list[cento.Index], documents: Texts
) -> None:
    with served(cli, parts[0]) as first, served(cli, parts[1]) as second:
        shards = Shards([first, Service(second), parts[2]])
        for options in OPTIONS:
            found = shards.search(documents[3][1], **options).answer
            assert shown(found) == shown(whole.search(documents[3][1], bytes=True, **options))
        with pytest.raises(cento.InvalidArgumentError) as refused:
            shards.search("some words", goal="passage")
        assert refused.value.argument == "goal"
    with pytest.raises(ShardDownError, match="does not answer") as down:
        Shards([first, second, parts[2]], tries=1).search("some words")
    assert down.value.shards == (first, second)


class Flaky:
    """A shard that fails now and then."""

    def __init__(self, shard: Shard, fails: int) -> None:
        self.shard, self.fails, self.asked = shard, fails, 0

    def _next(self) -> Shard:
        self.asked += 1
        if self.asked <= self.fails:
            raise ConnectionResetError("it was killed")
        return self.shard

    def frequencies(self, search: Mapping[str, Any], *, sample: bool = False) -> dict[str, Any]:
        return self._next().frequencies(search, sample=sample)

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        return self._next().candidates(search, frequencies, most)

    def spans(self, search: Mapping[str, Any], winners: Mapping[str, Any]) -> dict[str, Any]:
        return self._next().spans(search, winners)


def test_a_shard_that_fails_is_asked_again_and_then_its_copy(
    whole: cento.Index, parts: list[cento.Index], documents: Texts
) -> None:
    text = documents[0][1]
    flaky, dead = Flaky(parts[0], 2), Flaky(parts[1], 1000)
    found = Shards([flaky, [dead, parts[1]], parts[2]]).search(text, passages=True)
    assert shown(found.answer) == shown(whole.search(text, bytes=True, passages=True))
    assert flaky.asked > 2
    # The next request begins with the copy that answered.
    assert dead.asked == 1


def test_an_answer_without_a_shard_says_so(
    tmp_path: Path, parts: list[cento.Index], documents: Texts
) -> None:
    text = documents[0][1]
    dead = Flaky(parts[1], 1000)
    shards = Shards([parts[0], dead, parts[2]], partial=True, tries=1)
    found = shards.search(text, passages=True)
    others = made(tmp_path / "others.idx", documents[0::3] + documents[2::3])
    assert shown(found.answer) == shown(others.search(text, bytes=True, passages=True))
    assert (found.missing, found.documents) == (
        (repr(dead),),
        len(documents[0::3] + documents[2::3]),
    )


class Replaced(Flaky):
    """A shard that another commit replaces after it has counted."""

    def __init__(self, before: Shard, after: Shard) -> None:
        super().__init__(before, 0)
        self.after = after

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        self.shard = self.after
        return super().candidates(search, frequencies, most)


def test_a_shard_that_is_replaced_meanwhile_answers_of_its_new_commit(
    tmp_path: Path, whole: cento.Index, parts: list[cento.Index], documents: Texts
) -> None:
    text = documents[0][1]
    old = made(tmp_path / "old.idx", documents[0::3][:4])
    shards = Shards([Replaced(old, parts[0]), parts[1], parts[2]])
    found = shards.search(text, passages=True)
    assert shown(found.answer) == shown(whole.search(text, bytes=True, passages=True))
