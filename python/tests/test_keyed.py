"""Keyed indexes: fingerprints that depend on a secret."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import cento
import pytest

SECRET = "3e9b0f27c46d815aa2f07c18d95be463"


def key_file(path: Path, key: str = SECRET) -> Path:
    path.write_text(f"{key}\n")
    path.chmod(0o600)
    return path


def joined(made: Any, seed: int) -> str:
    return " ".join(made(80, seed))


@pytest.fixture
def key(tmp_path: Path) -> Path:
    return key_file(tmp_path / "shared.key")


def test_two_parties_with_one_key_compare_without_texts(
    tmp_path: Path, key: Path, made: Any
) -> None:
    indexes: list[cento.Index] = []
    for name in ("ours", "theirs"):
        index = cento.Index(tmp_path / name, create=True, key_file=key)
        assert not index.stores_text, "a key does not protect texts"
        with index.writer() as w:
            w.add(f"{name}-shared", joined(made, 1))
            w.add(f"{name}-own", joined(made, 2 if name == "ours" else 3))
        indexes.append(index)
    # To compare stored signatures needs no key.
    without = [cento.Index(index.path) for index in indexes]
    for ours, theirs in (indexes, without):
        (pair,) = ours.pairs(against=theirs, min_resemblance=0.5)
        assert (pair.a, pair.b, pair.resemblance) == ("ours-shared", "theirs-shared", 1.0)
    with pytest.raises(cento.SpecError, match="key") as raised:
        without[0].search(joined(made, 1))
    assert raised.value.reason == "needs_key"
    with pytest.raises(cento.SpecError), without[0].writer() as w:
        w.add("a", joined(made, 1))


def test_a_signature_says_nothing_without_the_key(tmp_path: Path, key: Path, made: Any) -> None:
    text = joined(made, 1)
    index = cento.Index(tmp_path / "idx", create=True, key_file=key)
    with index.writer() as w:
        w.add("a", text)
    signed = cento.sign(text, key_file=key)
    assert signed == index.sign(text)
    assert signed.key
    other = key_file(tmp_path / "other.key", SECRET[::-1])
    plain, otherwise = cento.sign(text), cento.sign(text, key_file=other)
    assert not signed.keys & plain.keys
    assert not signed.keys & otherwise.keys
    assert [hit.id for hit in cento.Index(index.path).search(signature=signed)] == ["a"]
    for wrong in (plain, otherwise):
        with pytest.raises(cento.Error, match="key"):
            index.search(signature=wrong)
    with pytest.raises(cento.SpecError, match="key") as raised:
        cento.Index(index.path, key_file=other)
    assert raised.value.reason == "other_key"


def test_another_process_opens_the_key_again(tmp_path: Path, key: Path, made: Any) -> None:
    index = cento.Index(tmp_path / "idx", create=True, key_file=key)
    with index.writer() as w:
        w.add("a", joined(made, 1))
    sent = pickle.dumps(index)
    assert SECRET.encode() not in sent
    assert bytes.fromhex(SECRET) not in sent
    assert [hit.id for hit in pickle.loads(sent).search(joined(made, 1))] == ["a"]


@pytest.mark.skipif(os.name == "nt", reason="the rights of a file are those of Unix")
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, key: Path) -> None:
    key.chmod(0o644)
    with pytest.raises(cento.InputError, match=r"shared\.key"):
        cento.Index(tmp_path / "idx", create=True, key_file=key)
    assert not (tmp_path / "idx").exists()
    with pytest.raises(cento.InputError):
        cento.sign("a text", key_file=key_file(tmp_path / "short.key", "abc"))


def test_deduplication_takes_the_key(tmp_path: Path, key: Path, made: Any) -> None:
    texts = [joined(made, 1), joined(made, 1), joined(made, 2)]
    path = tmp_path / "kept.idx"
    kinds = [v.kind for _, v in cento.dedup(texts, index=path, key_file=key)]
    assert kinds == ["kept", "exact", "kept"]
    kept = cento.Index(path)
    assert (len(kept), kept.stores_text) == (2, False)
    for more in ({"index": path}, {"against": [path]}):
        arguments: Any = more
        with pytest.raises(cento.SpecError, match="key"):
            list(cento.dedup(texts, **arguments))
        other = key_file(tmp_path / "other.key", SECRET[::-1])
        with pytest.raises(cento.SpecError, match="key"):
            list(cento.dedup(texts, key_file=other, **arguments))
        kinds = [v.kind for _, v in cento.dedup(texts, key_file=key, **arguments)]
        assert kinds == ["exact"] * 3
    deduper = cento.Deduper(path, key_file=key)
    assert deduper.keep({"text": [texts[0], joined(made, 3)]}) == [False, True]
