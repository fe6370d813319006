"""Fields and columns of a record are kept in its meta object, or named if they cannot be."""

from __future__ import annotations

import datetime
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import cento
import cento.parts
import pytest

ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": "some words", "source": "herald", "lang": "en", "added": "2020-01-01"},
    {"id": "b", "text": "other words", "date": datetime.date(2024, 5, 1), "meta": {"year": 2024}},
    {"id": "c", "text": "more words", "n": math.nan, "x": None, "tags": ["p"], "of": {"q": 1.5}},
]


@pytest.fixture
def index(tmp_path: Path) -> cento.Index:
    return cento.Index(tmp_path / "i", create=True)


@pytest.fixture
def silent() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def metas(index: cento.Index) -> dict[str, Any]:
    return {document.id: document.meta for document in index.documents()}


def test_all_fields_of_a_record_are_kept(index: cento.Index) -> None:
    expected = {
        "a": {"source": "herald", "lang": "en"},
        "b": {"date": "2024-05-01", "year": 2024},
        "c": {"tags": ["p"], "of": {"q": 1.5}},
    }
    with index.writer() as w, pytest.warns(UserWarning, match=r"not kept: `added` \(each doc"):
        w.add_many(ROWS)
    assert metas(index) == expected
    # Any mapping is a record, and a filter finds what was kept.
    with index.writer() as w, pytest.warns(UserWarning, match="`added`"):
        assert w.add_many(MappingProxyType(row) for row in ROWS).unchanged == 3
    assert [document.id for document in index.documents(filter="source:herald")] == ["a"]


@pytest.mark.usefixtures("silent")
def test_meta_names_some_fields_or_none(index: cento.Index) -> None:
    with index.writer() as w:
        w.add_many(ROWS, meta=["source", "date", "meta"])
    assert metas(index) == {
        "a": {"source": "herald"},
        "b": {"date": "2024-05-01", "meta": {"year": 2024}},
        "c": {},
    }
    with index.writer() as w:
        w.add_many(ROWS, meta="meta")
    assert metas(index) == {"a": {}, "b": {"year": 2024}, "c": {}}
    with index.writer() as w:
        w.add_many(ROWS, meta=[])
    assert metas(index) == {"a": {}, "b": {}, "c": {}}


def test_a_name_that_no_item_has_is_told(index: cento.Index) -> None:
    with index.writer() as w:
        with pytest.warns(UserWarning, match="no item has `sourec`, which `meta` names"):
            w.add_many(ROWS, meta=["sourec", "lang"])
        wrong: Any = {"source": 1}
        with pytest.raises(cento.InvalidArgumentError, match="or \\[\\] to keep none"):
            w.add_many(ROWS, meta=wrong)


def test_a_field_that_cannot_be_kept_costs_no_other(index: cento.Index) -> None:
    check: list[tuple[dict[Any, Any], dict[str, Any], str]] = [
        ({"html": "x" * 70_000, "title": "t"}, {"title": "t"}, "`html`"),
        ({"picture": b"\xff", "title": "t"}, {"title": "t"}, "`picture`"),
        ({"n": math.inf, "title": "t"}, {"title": "t"}, "`n`"),
        ({"n": 1, "meta": {"n": 2}, "title": "t"}, {"n": 2, "title": "t"}, "`n`"),
        ({7: 1, "of": {"x": object()}, "title": "t"}, {"title": "t"}, "`7`, `of`"),
    ]
    for fields, expected, left_out in check:
        with index.writer() as w, pytest.warns(UserWarning, match=f"not kept: {left_out}"):
            w.add_many([{"id": "a", "text": "some words", **fields}])
        assert index["a"].meta == expected
    # The longest go, until the rest has 60 KiB.
    sizes = {f"f{at}": "x" * 1000 * at for at in range(1, 16)}
    with index.writer() as w, pytest.warns(UserWarning, match="`f11`, `f12`, `f13`, `f14`, `f15` "):
        w.add_many([{"id": "a", "text": "some words", **sizes}])
    assert set(index["a"].meta) == {f"f{at}" for at in range(1, 11)}


def test_all_columns_of_a_table_are_kept(index: cento.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    table = pa.table(
        {
            "id": ["a", "b"],
            "text": ["some words", "other words"],
            "source": ["herald", None],
            "when": [datetime.datetime(2024, 5, 1, 12)] * 2,
            "ratio": [math.nan, 0.5],
            "of": [{"q": 1}, None],
        }
    )
    with index.writer() as w, warnings.catch_warnings():
        warnings.simplefilter("error")
        w.add_arrow(table)
    expected: dict[str, dict[str, Any]] = {
        "a": {"source": "herald", "when": "2024-05-01T12:00:00", "of": {"q": 1}},
        "b": {"when": "2024-05-01T12:00:00", "ratio": 0.5},
    }
    assert metas(index) == expected
    more = table.append_column("png", [[b"x", b"y"]]).append_column("source", [["p", "q"]])
    with index.writer() as w, pytest.warns(UserWarning, match="not kept: `png`, `source` "):
        w.add_arrow(more)
    assert metas(index)["a"] == {"when": "2024-05-01T12:00:00", "of": {"q": 1}}
    with index.writer() as w:
        w.add_arrow(table, meta=[])
    assert metas(index) == {"a": {}, "b": {}}
    # Without a column of ids, `id` is a column like others.
    with index.writer() as w:
        w.add_arrow(table.select(["id", "text"]), id_prefix="n/")
    assert metas(index)["n/1"] == {"id": "b"}
    # The meta objects of an index come back, and their documents get a new time.
    with index.writer() as w:
        w.add_arrow(table)
    other = cento.Index(f"{index.path}-2", create=True)
    with other.writer() as w, pytest.warns(UserWarning, match="`added`"):
        w.add_arrow(index.to_arrow())
    found = metas(other)
    assert found["a"] == {**expected["a"], "tokens": 2}


def test_rows_of_pandas_and_data_sets_keep_all(index: cento.Index, tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"id": ["a", "b"], "text": ["some words", "x y"], "n": [1, 2]})
    frame["when"] = pd.to_datetime(["2024-05-01", None])
    expected = {"a": {"n": 1, "when": "2024-05-01T00:00:00"}, "b": {"n": 2}}
    with index.writer() as w:
        w.add_many(frame.to_dict("records"))
    assert metas(index) == expected
    table = pytest.importorskip("pyarrow").Table.from_pandas(frame)
    part = cento.parts.write_part(table.to_batches(), tmp_path / "parts")
    assert part is not None
    assert metas(cento.Index(part)) == expected
    datasets = pytest.importorskip("datasets")
    ds = datasets.Dataset.from_dict({"id": ["a", "b"], "text": ["some words", "x y"], "n": [1, 2]})
    with index.writer() as w:
        w.add_arrow(ds)
    assert metas(index) == {"a": {"n": 1}, "b": {"n": 2}}
    with index.writer() as w:
        w.add_many(ds, meta=["n"])
    assert metas(index) == {"a": {"n": 1}, "b": {"n": 2}}
    path = tmp_path / "deduper"
    assert len(ds.filter(cento.Deduper(path, id="id").keep, batched=True)) == 2
    assert metas(cento.Index(path)) == {"a": {"n": 1}, "b": {"n": 2}}
    for meta in (["n"], []):
        path = tmp_path / f"deduper-{len(meta)}"
        ds.filter(cento.Deduper(path, meta=meta).keep, batched=True)
        kept = {"n": 1} if meta else {}
        assert metas(cento.Index(path))["0"] == kept


def test_a_field_chooses_which_duplicate_stays(tmp_path: Path, index: cento.Index) -> None:
    pa = pytest.importorskip("pyarrow")
    rows = [{"id": str(at), "text": "the same words", "year": 2020 + at} for at in range(3)]
    kept = [row["id"] for row, verdict in cento.dedup(rows, prefer="-year") if verdict.kept]
    assert kept == ["2"]
    found = pa.table(cento.dedup_arrow(pa.Table.from_pylist(rows), prefer="-year"))
    assert found["id"].to_pylist() == ["2"]
    list(cento.dedup(rows, index=tmp_path / "kept"))
    assert metas(cento.Index(tmp_path / "kept")) == {"0": {"year": 2020}}
    bad = {"id": "x", "text": "other words", "year": 2020, "png": b"x"}
    with pytest.warns(UserWarning, match="not kept: `png`"):
        list(cento.dedup([bad], index=tmp_path / "kept"))
    with pytest.warns(UserWarning, match="not kept: `png`"):
        pa.table(cento.dedup_arrow(pa.Table.from_pylist([bad]), index=tmp_path / "other"))
