"""Documents go in and out."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cento
import pytest


def test_a_new_index_is_made_only_if_asked_for(tmp_path: Path) -> None:
    with pytest.raises(cento.IndexNotFoundError, match="there is no index here") as raised:
        cento.Index(tmp_path / "a")
    assert raised.value.path.endswith("a")
    assert raised.value.reason == "not_found"
    assert isinstance(raised.value, cento.OpenError)
    assert isinstance(raised.value, FileNotFoundError)
    made = cento.Index(tmp_path / "a", create=True, scheme="winnow(k=4,w=8)", store_text=False)
    assert (made.scheme, made.stores_text, len(made)) == ("winnow(k=4,w=8)", False, 0)
    again = cento.Index(tmp_path / "a", create=True)
    assert again.scheme == "winnow(k=4,w=8)"
    with pytest.raises(cento.OpenError, match=r"the index has the scheme winnow\(k=4,w=8\)"):
        cento.Index(tmp_path / "a", create=True, scheme="winnow(k=5,w=10)")
    with pytest.raises(cento.OpenError, match="store_text False, not True"):
        cento.Index(tmp_path / "a", store_text=True)
    with pytest.raises(cento.SpecError, match="winow"):
        cento.Index(tmp_path / "b", create=True, scheme="winow")


def test_an_index_without_signatures_answers_as_one_with_them(tmp_path: Path) -> None:
    def text(i: int) -> str:
        # Four begin alike.
        return " ".join(f"w{i // 4 * 100 + j}" for j in range(60 - i % 4))

    texts = [(f"d{i}", text(i)) for i in range(40)]
    indexes: list[cento.Index] = []
    for name, stored in (("with", True), ("without", False)):
        index = cento.Index(tmp_path / name, create=True, store_signatures=stored)
        with index.writer() as writer:
            writer.add_many(texts)
        assert cento.Index(tmp_path / name).stores_signatures is stored
        indexes.append(index)
    with pytest.raises(cento.OpenError, match="store_signatures False, not True"):
        cento.Index(tmp_path / "without", store_signatures=True)
    with pytest.raises(cento.InvalidArgumentError, match="texts or signatures"):
        cento.Index(tmp_path / "b", create=True, store_text=False, store_signatures=False)
    for id, _ in texts:
        found = [index.search(id=id, passages=True).hits for index in indexes]
        assert found[0]
        assert found[0] == found[1]


def test_documents_come_as_tuples_and_mappings(empty: cento.Index) -> None:
    class Row(dict[str, Any]):
        pass

    with empty.writer() as w:
        assert w.add("one", "text of one", meta={"n": 1, "deep": {"list": [1, 2.5, None, True]}})
        report = w.add_many(
            [("two", "text of two"), (3, "text of three", {"n": 3}), Row(id=-4, text="of four")]
        )
        assert report == cento.AddReport(added=3, replaced=0, unchanged=0)
        named = w.add_many([{"url": "u", "body": "text", "about": {"x": 1}, "rest": object()}],
                           id="url", text="body", meta="about")  # fmt: skip
        assert named.added == 1
        assert w.uncommitted == 5
    assert len(empty) == 5
    assert sorted(empty.ids()) == ["-4", "3", "one", "two", "u"]
    assert 3 in empty
    assert "3" in empty
    assert 5 not in empty
    found = empty.get("one")
    assert found is not None
    assert (found.text, found.meta) == (
        "text of one",
        {"n": 1, "deep": {"list": [1, 2.5, None, True]}},
    )
    assert empty.get("nowhere") is None
    with empty.writer() as w:
        again = w.add_many([("two", "text of two"), ("one", "another"), ("new", "new")])
        assert again == cento.AddReport(added=1, replaced=1, unchanged=1)
        assert w.add("new", "new") == "unchanged"
        assert w.remove(3)
        assert not w.remove(3)
    assert len(empty) == 5


def test_nothing_is_committed_if_the_block_raises(empty: cento.Index) -> None:
    def raising() -> Iterator[tuple[str, str]]:
        yield ("b", "text")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), empty.writer() as w:
        w.add("a", "text")
        w.add_many(raising())
    assert len(empty) == 0
    with empty.writer() as w:
        with pytest.raises(ZeroDivisionError):
            w.add_many(raising())
        assert w.uncommitted == 1, "what came before the exception"
    assert empty.ids() == ["b"]


def test_a_commit_within_the_block_stands(empty: cento.Index) -> None:
    with pytest.raises(KeyError), empty.writer() as w:
        w.add("a", "text")
        w.commit()
        assert empty.ids() == ["a"]
        w.add("b", "text")
        raise KeyError
    assert empty.ids() == ["a"]


def test_there_is_one_writer(empty: cento.Index) -> None:
    with empty.writer() as w:
        with pytest.raises(cento.LockedError) as raised, cento.Index(empty.path).writer():
            pass
        assert raised.value.path == empty.path
        with pytest.raises(cento.InvalidArgumentError, match="open already"):
            w.__enter__()
    with pytest.raises(cento.InvalidArgumentError, match="`with` block"):
        empty.writer().add("a", "text")
    with pytest.raises(cento.InvalidArgumentError, match="another process"):
        pickle.dumps(empty.writer())


def test_an_iterator_may_use_the_writer_that_reads_it(empty: cento.Index) -> None:
    # The thread that adds held the writer until the iterator had ended.
    with empty.writer() as w:
        w.add("old", "text")

        def replacing() -> Iterator[tuple[str, str]]:
            for at in range(2000):
                yield (f"new-{at}", "text")
            w.remove("old")

        w.add_many(replacing())
    assert len(empty) == 2000
    assert "old" not in empty


def test_commits_of_others_are_seen_after_a_reload(empty: cento.Index) -> None:
    # The commit was chosen at the first look, which showed later ones than documented.
    other = cento.Index(empty.path)
    with empty.writer() as w:
        w.add("a", "text")
    assert (len(empty), len(other)) == (1, 0)
    assert not other.search("text")
    other.reload()
    assert len(other) == 1
    with empty.writer() as w:
        w.add("b", "text")
        w.commit()
        assert (len(empty), len(other)) == (2, 1)
    with other.writer() as w:
        w.add("c", "text")
    assert (len(empty), len(other)) == (2, 3)
    empty.compact()
    assert len(empty) == 3


@pytest.mark.parametrize(
    ("item", "what", "place"),
    [
        (("a", 5), "the text is a int, not a str", "item 1"),
        ((float("inf"), "t"), "inf is no number of JSON", "item 1"),
        ((True, "t"), "the id is a bool, neither a str nor a number", "item 1"),
        (("", "t"), "the id is empty", "item 1"),
        (("a\nb", "t"), "control character", "item 1"),
        (("a", "\ud800"), "surrogate that stands alone", "item 1"),
        (("a",), "it is a tuple of 1", "item 1"),
        ("text", "it is a str, not a tuple", "item 1"),
        ({"id": "a"}, "there is no `text`", "item 1"),
        ({"id": "a", "meta": {"x": 1}}, "`patch_meta` changes the meta object", "item 1"),
        ({"text": "a"}, "there is no `id`", "item 1"),
        (("a", "t", [1]), "the meta object is a list, not a dict", "item 1"),
        (("a", "t", {"x": b"y"}), "the meta object has a bytes", "item 1"),
        (("a", "t", {"x": float("nan")}), "NaN in the meta object", "item 1"),
        (("a", "t", {1: 2}), "the key of the meta object is a int", "item 1"),
    ],
)
def test_what_is_no_document_is_refused_with_its_place(
    empty: cento.Index, item: Any, what: str, place: str
) -> None:
    with pytest.raises(cento.InputError) as raised, empty.writer() as w:
        w.add_many([("first", "text"), item])
    assert what in str(raised.value)
    assert raised.value.place == place
    assert isinstance(raised.value, ValueError)
    assert len(empty) == 0


def test_meta_that_holds_itself_is_refused(empty: cento.Index) -> None:
    meta: dict[str, Any] = {}
    meta["self"] = meta
    with pytest.raises(cento.InputError, match="128 levels"), empty.writer() as w:
        w.add("a", "text", meta)


def test_ids_are_those_of_json_lines(empty: cento.Index) -> None:
    numpy = pytest.importorskip("numpy")
    with empty.writer() as w:
        rows: list[Any] = [(numpy.int64(7), "a"), (numpy.uint8(8), "b"), (7.0, "c"), (-0.0, "d")]
        w.add_many(rows)
        assert w.uncommitted == 3
    assert sorted(empty.ids()) == ["0", "7", "8"]


def test_upkeep(index: cento.Index) -> None:
    with index.writer() as w:
        w.remove("doc-0")
        w.add("more", "text")
    stats = index.stats()
    assert (stats.documents, stats.segments) == (40, 2)
    assert stats.signature_bytes > 0
    done = index.compact()
    assert (done.segments_before, done.segments_after, done.purged) == (2, 1, 1)
    report = index.check()
    assert report
    assert report.segments == 1
    sig = next(Path(index.path).glob("*.sig"))
    damaged = bytearray(sig.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    sig.unlink()
    sig.write_bytes(damaged)
    report = cento.Index(index.path).check()
    assert not report
    assert report.problems[0].file == sig.name
    with pytest.raises(cento.CorruptError) as raised:
        cento.Index(index.path).search(id="doc-1")
    assert raised.value.file == str(sig)
    assert raised.value.section


def test_what_there_is_to_choose_from() -> None:
    schemes = {family.name: family for family in cento.schemes()}
    assert {p.name for p in schemes["winnow"].parameters} >= {"k", "w"}
    assert "words" in {family.name for family in cento.analyzers()}
    assert "levenshtein" in {family.name for family in cento.measures()}


def test_an_index_says_how_much_of_a_document_was_new(tmp_path: Path) -> None:
    index = cento.Index(tmp_path / "a", create=True, novelty=True)
    assert index.records_novelty
    text = " ".join(f"w{i}" for i in range(100))
    with index.writer() as writer:
        writer.add("first", text)
        writer.add("second", text + " " + " ".join(f"v{i}" for i in range(100)))
    first, second = (index[id].meta["cento_novelty"] for id in ("first", "second"))
    assert first == {"new": 1.0, "common": 0.0}
    assert 0.5 <= second["new"] < 0.56
    assert [source["id"] for source in second["sources"]] == ["first"]
    with pytest.raises(cento.OpenError, match="novelty True, not False"):
        cento.Index(tmp_path / "a", novelty=False)
    with pytest.raises(cento.InvalidArgumentError, match="fixed length"):
        cento.Index(tmp_path / "b", create=True, scheme="minhash", novelty=True)
