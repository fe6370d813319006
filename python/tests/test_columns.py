"""Functions of DuckDB and expressions of Polars give what calls of Python give."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import cento
import pytest

Texts = list[tuple[str, str]]


@pytest.fixture
def stored(tmp_path: Path, texts: Texts) -> cento.Index:
    index = cento.Index(tmp_path / "stored.idx", create=True)
    with index.writer() as w:
        w.add_many((id, text, {"at": at}) for at, (id, text) in enumerate(texts[:20]))
    return index


@pytest.fixture
def rows(texts: Texts) -> list[tuple[str, str | None]]:
    """Texts that are stored, that are half new, that are new, and none."""
    half = " ".join(["something that nobody has said before in this way or in another"] * 3)
    return [*texts[:3], ("half", f"{texts[5][1]} {half}"), ("new", half), ("none", None)]


def expected(index: cento.Index, rows: list[tuple[str, str | None]]) -> dict[str, list[Any]]:
    """What single calls give."""
    found: dict[str, list[Any]] = {"signature": [], "duplicate_of": [], "novelty": [], "hits": []}
    for _, text in rows:
        if text is None:
            for values in found.values():
                values.append(None)
            continue
        found["signature"].append(sorted(cento.sign(text).keys))
        best = list(index.search(text, min_resemblance=0.5, limit=1))
        found["duplicate_of"].append(best[0].id if best else None)
        trace = index.search(text, goal="trace").trace
        assert trace is not None
        found["novelty"].append(trace.new)
        found["hits"].append([(hit.id, hit.resemblance) for hit in index.search(text, limit=2)])
    return found


def test_expected_values_differ(stored: cento.Index, rows: list[tuple[str, str | None]]) -> None:
    found = expected(stored, rows)
    assert found["duplicate_of"][0] == "doc-0"
    assert found["duplicate_of"][4:] == [None, None]
    assert found["novelty"][0] == 0.0
    assert 0.1 < found["novelty"][3] < 0.9
    assert found["novelty"][4] == 1.0


def test_a_longer_document_that_shares_more_is_not_the_duplicate(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from cento import _columns

    words = [f"word{at}" for at in range(300)]
    more = [f"more{at}" for at in range(60)]
    index = cento.Index(tmp_path / "lengths.idx", create=True)
    with index.writer() as w:
        w.add_many([("longer", " ".join(words + more)), ("nearer", " ".join(words[:290]))])
    text = " ".join(words)
    assert index.search(text, min_resemblance=0.8)[0].id == "longer"
    found = _columns.duplicates_of(pa.array([text, None]), index, 0.8)
    assert found.to_pylist() == ["nearer", None]


def test_duckdb_has_the_functions(stored: cento.Index, rows: list[tuple[str, str | None]]) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    import cento.duckdb

    wanted = expected(stored, rows)
    with duckdb.connect() as connection:
        cento.duckdb.register(connection, min_resemblance=0.5, search={"limit": 2})
        connection.execute("CREATE TABLE t(id VARCHAR, text VARCHAR, n INT)")
        connection.executemany(
            "INSERT INTO t VALUES (?, ?, ?)", [(*row, at) for at, row in enumerate(rows)]
        )

        stored_path = f"'{stored.path}'"
        select = "SELECT {} FROM t ORDER BY n"
        found = {
            name: [value for (value,) in connection.sql(select.format(call)).fetchall()]
            for name, call in {
                "signature": "cento_signature(text)",
                "duplicate_of": f"cento_duplicate_of(text, {stored_path})",
                "novelty": f"cento_novelty(text, {stored_path})",
                "hits": f"cento_hits(text, {stored_path})",
                "alike": "cento_resemblance(text, (SELECT text FROM t WHERE n = 0))",
            }.items()
        }
        hits = found["hits"]
        found["hits"] = [
            None if each is None else [(hit["id"], hit["resemblance"]) for hit in each]
            for each in hits
        ]
        alike = found.pop("alike")
        assert found == wanted
        assert [hit["rank"] for hit in hits[0]] == list(range(1, len(hits[0]) + 1))
        first = rows[0][1]
        assert first is not None
        assert alike == [
            None if text is None else cento.compare(text, first).resemblance for _, text in rows
        ]
        # A table function over an index, alone and for each row of a table.
        table = connection.execute(
            f"SELECT id, resemblance, meta FROM cento_search({stored_path}, ?)", [first]
        ).fetchall()
        assert [row[:2] for row in table] == wanted["hits"][0]
        assert table[0][2] == '{"at":0}'
        joined = connection.execute(
            f"SELECT t.id, h.id FROM t, LATERAL cento_search({stored_path}, t.text) AS h "
            "ORDER BY n, rank"
        ).fetchall()
        assert joined == [
            (id, hit[0])
            for (id, _), found in zip(rows, wanted["hits"], strict=True)
            for hit in list[Any](found or [])
        ]
        # Registered again, it shows the last commit, and takes other options.
        with stored.writer() as w:
            w.add("new-one", str(rows[4][1]))
        assert connection.sql(select.format(f"cento_novelty(text, {stored_path})")).fetchall()[4] \
            == (1.0,)  # fmt: skip
        cento.duckdb.register(connection, search={"limit": 1})
        again = connection.sql(select.format(f"cento_novelty(text, {stored_path})")).fetchall()
        assert again[4] == (0.0,)
        with pytest.raises(duckdb.Error, match="nowhere"):
            connection.sql("SELECT cento_novelty('a b c', 'nowhere.idx')").fetchall()


def test_polars_has_the_namespace(stored: cento.Index, rows: list[tuple[str, str | None]]) -> None:
    pl = pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    importlib.import_module("cento.polars")

    wanted = expected(stored, rows)
    frame = pl.DataFrame({"id": [id for id, _ in rows], "text": [text for _, text in rows]})
    text = pl.col("text").cento
    path = stored.path
    found = frame.lazy().select(
        text.signature().alias("signature"),
        text.duplicate_of(path, min_resemblance=0.5).alias("duplicate_of"),
        text.novelty(path).alias("novelty"),
        text.hits(path, limit=2).alias("hits"),
        text.resemblance(pl.col("text").first()).alias("alike"),
        text.resemblance("id").alias("other"),
    )
    made = found.collect()
    assert found.collect_schema() == made.schema
    columns = made.to_dict(as_series=False)
    columns["hits"] = [
        None if each is None else [(hit["id"], hit["resemblance"]) for hit in each]
        for each in columns["hits"]
    ]
    other = columns.pop("other")
    assert [value is None for value in other] == [text is None for _, text in rows]
    alike = columns.pop("alike")
    first = str(rows[0][1])
    assert alike == [
        None if text is None else cento.compare(text, first).resemblance for _, text in rows
    ]
    assert columns == wanted
    flat = frame.select("id", hit=text.hits(path, limit=2)).explode("hit")
    pairs = flat.select("id", of=pl.col("hit").struct.field("id")).drop_nulls().rows()
    assert pairs == [
        (id, found[0])
        for (id, _), hits in zip(rows, wanted["hits"], strict=True)
        for found in list[Any](hits or [])
    ]
    empty = frame.clear().select(text.duplicate_of(path))
    assert (len(empty), empty.schema["text"]) == (0, pl.String)
