"""An index is read back: its ids, its documents, and all of it as Arrow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cento
import pytest


@pytest.fixture
def index(tmp_path: Path) -> cento.Index:
    index = cento.Index(tmp_path / "read.idx", create=True)
    with index.writer() as w:
        w.add_many(
            {"id": str(at), "text": f"text {at}", "meta": {"lang": "en" if at % 3 else "de"}}
            for at in range(1500)
        )
        w.add("parts", parts=[("a", "one two"), ("b", "three 🦉")])
        w.remove("7")
    return index


def test_an_index_is_read_as_a_mapping_of_ids(index: cento.Index) -> None:
    ids = list(index)
    assert len(ids) == len(index) == 1500
    assert ids == index.ids()
    assert all(id in index for id in ids)
    assert "7" not in index
    assert index["8"] == index.get("8") == index[8]
    with pytest.raises(KeyError) as raised:
        index["7"]
    assert isinstance(raised.value, cento.UnknownIdError)
    assert (raised.value.id, raised.value.reason) == ("7", "unknown_id")
    assert str(raised.value) == "no document has the id '7'"


def test_documents_come_in_the_order_of_the_index(index: cento.Index) -> None:
    found = list(index.documents())
    assert [document.id for document in found] == index.ids()
    assert found == [index[id] for id in index]
    german = list(index.documents(filter="lang:de"))
    assert [document.id for document in german] == [
        id for id in index.ids() if index[id].meta == {"lang": "de"}
    ]
    assert list(index.documents(filter="lang:de AND id:30")) == [index["30"]]
    assert list(index.documents(filter="lang:de AND id:31")) == []
    with pytest.raises(cento.Error, match="no document has the field `tongue`"):
        index.documents(filter="tongue:de")
    with pytest.raises(cento.InvalidArgumentError, match="invalid filter"):
        index.to_arrow(filter="(")


def test_documents_are_of_one_commit(index: cento.Index) -> None:
    found, ids = index.documents(), iter(index)
    first = next(found), next(ids)
    with index.writer() as w:
        for id in list(index):
            w.remove(id)
    assert len(index) == 0
    assert 1 + len(list(found)) == 1 + len(list(ids)) == 1500
    assert first[0].id == first[1]


def test_a_reading_that_is_left_ends_its_thread(index: cento.Index) -> None:
    before = threading.active_count()
    for _ in range(50):
        next(index.documents())
        next(iter(index))
    assert threading.active_count() == before
    index.compact()


def test_documents_go_into_another_index(index: cento.Index, tmp_path: Path) -> None:
    other = cento.Index(tmp_path / "other.idx", create=True)
    with other.writer() as w:
        assert w.add_many(index.documents(filter="lang:de")).added == 500
        assert w.add_many(index.documents()).added == 1000
        assert w.add_many([index["parts"]]).unchanged == 1
    assert {each.id: each for each in other.documents()} == {id: index[id] for id in index}
    kept = [v.kept for _, v in cento.dedup(index.documents(), exact=True)]
    assert kept == [True] * 1500


def test_an_index_is_not_taken_for_a_list_of_its_ids(index: cento.Index) -> None:
    wrong: Any = index
    calls: list[Callable[[], object]] = [
        lambda: cento.dedup(wrong),
        lambda: index.search_many(wrong),
        lambda: index.writer().add_many(wrong),
        lambda: cento.decontaminate(wrong, cento.Benchmarks(["one two three four five"])),
    ]
    for call in calls:
        with pytest.raises(cento.InvalidArgumentError, match=r"an index; pass its `documents\(\)`"):
            call()
    with pytest.raises(cento.InvalidArgumentError, match=r"pass its `to_arrow\(\)`"):
        cento.dedup_arrow(wrong)


def test_an_index_is_a_stream_of_arrow(index: cento.Index, tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    stream = index.to_arrow()
    assert stream.column_names == ["id", "text", "parts", "meta", "tokens", "added"]
    table = pa.table(stream)
    assert table["id"].to_pylist() == index.ids()
    rows = {row["id"]: row for row in table.to_pylist()}
    assert (rows["8"]["text"], rows["8"]["meta"], rows["8"]["parts"]) == (
        "text 8",
        '{"lang":"en"}',
        None,
    )
    assert rows["8"]["added"].tzinfo is not None
    assert {row["tokens"] for row in rows.values()} == {2, 3}
    # A document with parts has them in the place of its text, as `export` writes them.
    parts = [{"name": "a", "text": "one two"}, {"name": "b", "text": "three 🦉"}]
    assert (rows["parts"]["text"], rows["parts"]["parts"]) == (None, parts)
    # Batches, and not all of it at once.
    assert max(batch.num_rows for batch in index.to_arrow()) <= 512
    with pytest.raises(cento.InvalidArgumentError, match="call `to_arrow` again"):
        pa.table(stream)
    other = cento.Index(tmp_path / "other.idx", create=True)
    with other.writer() as w:
        assert w.add_arrow(index.to_arrow(), meta="meta").added == 1500
    assert list(other.documents()) == list(index.documents())
    nothing = pa.table(index.to_arrow(filter="id:none"))
    assert (len(nothing), nothing.schema) == (0, table.schema)
    bad: Any = pa.table({"id": ["a"], "text": ["b"], "meta": ["{"]})
    with (
        pytest.raises(cento.InputError, match="not a struct, and no object of JSON"),
        other.writer() as w,
    ):
        w.add_arrow(bad, meta="meta")


def test_an_index_without_texts_is_read_back(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    index = cento.Index(tmp_path / "i", create=True, store_text=False)
    with index.writer() as w:
        w.add("a", "one two")
        w.add("b", parts=[("x", "three")])
    assert [document.text for document in index.documents()] == [None, None]
    rows = pa.table(index.to_arrow()).to_pylist()
    assert [row["text"] for row in rows] == [None, None]
    assert rows[1]["parts"] == [{"name": "x", "text": None}]
