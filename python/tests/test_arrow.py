"""Tables come and go."""

from __future__ import annotations

import datetime
import decimal
import math
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cento
import pytest

pa = pytest.importorskip("pyarrow")


def test_anything_of_arrow_goes_in(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    ids, bodies = [id for id, _ in texts], [text for _, text in texts]
    table = pa.table({"url": ids, "content": bodies})
    forms: list[Any] = [
        table,
        table.to_reader(max_chunksize=7),
        table.to_batches()[0],
        (batch for batch in table.to_batches(max_chunksize=3)),
        [table.slice(0, 10), table.slice(10)],
        pa.table({"url": ids, "content": pa.array(bodies, pa.large_string())}),
        pa.table({"url": ids, "content": pa.array(bodies, pa.string_view())}),
        pa.table({"url": pa.array(ids).dictionary_encode(), "content": bodies}),
        table.to_reader(max_chunksize=1),
    ]
    with empty.writer() as w:
        for at, form in enumerate(forms):
            report = w.add_arrow(form, id="url", text="content")
            changed = (40, 0) if at == 0 else (0, 40)
            assert (report.added, report.unchanged) == changed, at
    assert dict(texts)["doc-7"] == getattr(empty.get("doc-7"), "text", None)


def test_ids_may_be_numbers_and_meta_nested(empty: cento.Index) -> None:
    import datetime

    about = [{"deep": [1, None], "x": 1.5}, None]
    table = pa.table(
        {
            "id": pa.array([1, -2], pa.int16()),
            "text": ["a", "b"],
            "lang": ["de", None],
            "n": pa.array([2**63, 1], pa.uint64()),
            "when": [datetime.date(2026, 1, 31)] * 2,
            "about": about,
        }
    )
    with empty.writer() as w:
        w.add_arrow(table, meta=["lang", "n", "when", "about"])
    found = empty.get(1)
    assert found is not None
    assert found.meta == {"lang": "de", "n": 2**63, "when": "2026-01-31", "about": about[0]}
    with empty.writer() as w:
        w.add_arrow(table, meta="about")
        assert w.add_arrow(table, id_prefix="rows/").added == 2
    found = empty.get(-2)
    assert found is not None
    # A null of a column is not in the meta object of its row.
    assert found.meta == {}
    with empty.writer() as w:
        w.add_arrow(table, meta=["lang", "n"])
    found = empty.get(-2)
    assert found is not None
    assert found.meta == {"n": 1}
    assert sorted(empty.ids()) == ["-2", "1", "rows/0", "rows/1"]


@pytest.mark.parametrize(
    ("columns", "options", "what"),
    [
        ({"id": ["a"]}, {}, "there is no column `text`; it has `id`"),
        ({"text": ["a"]}, {"id": "id"}, "there is no column `id`; it has `text`"),
        ({"id": ["a"], "text": [1]}, {}, "it is of Int64, not of strings"),
        ({"id": [["a"]], "text": ["a"]}, {}, "only single values can be ids"),
        (
            {"id": ["a", "b"], "text": [b"a", b"\xff"]},
            {},
            "row 1: the bytes of `text` are not UTF-8",
        ),
        ({"id": ["a", "b"], "text": ["a", None]}, {}, "row 1: there is no `text`"),
        ({"id": ["a", ""], "text": ["a", "b"]}, {}, "row 1: the id is empty"),
        ({"id": ["a"], "text": ["a"]}, {"meta": ["x"]}, "there is no column `x`"),
        ({"id": ["a"], "text": ["a"]}, {"meta": "text"}, "`text` is not a struct"),
        ({"id": ["a"], "text": ["a"], "x": [b"b"]}, {"meta": ["x"]}, "has no bytes"),
        ({"id": ["a"], "text": ["a"], "x": [float("inf")]}, {"meta": ["x"]}, "inf is no number"),
    ],
)
def test_what_is_no_document_is_refused(
    empty: cento.Index, columns: dict[str, Any], options: dict[str, Any], what: str
) -> None:
    with pytest.raises(cento.InputError) as raised, empty.writer() as w:
        w.add_arrow(pa.table(columns), **options)
    assert what in str(raised.value)
    assert len(empty) == 0


@pytest.mark.parametrize(
    ("name", "options"),
    [("id", {}), ("text", {}), ("meta", {"meta": "meta"}), ("meta", {"meta": ["meta"]})],
)
def test_two_columns_of_a_used_name_are_refused(
    empty: cento.Index, name: str, options: dict[str, Any]
) -> None:
    # The first of them was read.
    meta = pa.array([{"n": 1}])
    columns = {"id": pa.array(["a"]), "text": pa.array(["one two"]), "meta": meta}
    names = [*columns, name]
    table = pa.Table.from_arrays([*columns.values(), columns[name]], names=names)
    with (
        pytest.raises(cento.InputError, match=f"two columns are called `{name}`"),
        empty.writer() as w,
    ):
        w.add_arrow(table, **options)
    assert len(empty) == 0


def test_ids_of_every_single_value_are_those_of_the_command(empty: cento.Index) -> None:
    day = datetime.datetime(2024, 1, 2, 12, 30, tzinfo=datetime.timezone.utc)
    row = bytes(range(16))
    columns = {
        "double": (pa.array([3.0, 1.5, math.nan, None]), ["3", "1.5", "row/2", "row/3"]),
        "large": (pa.array([1e19]), ["10000000000000000000"]),
        "decimal": (pa.array([decimal.Decimal("3.00"), decimal.Decimal("0.50")]), ["3", "0.50"]),
        "when": (pa.array([day], pa.timestamp("us", "UTC")), ["2024-01-02T12:30:00Z"]),
        "day": (pa.array([day.date()]), ["2024-01-02"]),
        "flag": (pa.array([True, False]), ["true", "false"]),
        "key": (pa.array([b"k", b"\xff"]), ["k", "ff"]),
        "digest": (pa.array([row], pa.binary(16)), [row.hex()]),
        "uuid": (pa.array([row], pa.uuid()), ["00010203-0405-0607-0809-0a0b0c0d0e0f"]),
        "kind": (pa.array(["x", "y"]).dictionary_encode(), ["x", "y"]),
    }
    for name, (ids, expected) in columns.items():
        texts = pa.array([f"{name} {at} is the text".encode() for at in range(len(ids))])
        with empty.writer() as w:
            w.add_arrow(pa.table({"id": ids, "text": texts}))
            assert all(w.remove(each) for each in expected), name
    assert len(empty) == 0


def test_what_is_not_of_arrow_is_refused(empty: cento.Index) -> None:
    with empty.writer() as w:
        with pytest.raises(cento.InvalidArgumentError, match="a int is no Arrow table"):
            w.add_arrow(5)
        with pytest.raises(cento.InvalidArgumentError, match="a str is no Arrow table"):
            w.add_arrow(["a"])


def test_a_reader_that_fails_is_told(empty: cento.Index) -> None:
    schema = pa.schema({"id": pa.string(), "text": pa.string()})

    def batches() -> Any:
        yield pa.record_batch({"id": ["a"], "text": ["b"]}, schema)
        raise ValueError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(schema, batches())
    with pytest.raises(cento.InputError, match="the disk is gone"), empty.writer() as w:
        w.add_arrow(reader)
    assert len(empty) == 0


def test_answers_come_as_a_table(index: cento.Index, texts: list[tuple[str, str]]) -> None:
    queries = [text for _, text in texts[:6]] + ["nothing is like this one"]
    answers = index.search_many(queries, passages=True)
    table = pa.table(index.search_many(queries, passages=True, to_arrow=True))
    assert table.column_names[:4] == ["query", "rank", "id", "overlap"]
    rows = table.to_pylist()
    expected = [
        (query, rank, hit)
        for query, answer in enumerate(answers)
        for rank, hit in enumerate(answer, 1)
    ]
    assert len(rows) == len(expected) > 6
    for row, (query, rank, hit) in zip(rows, expected, strict=True):
        assert (row["query"], row["rank"], row["id"]) == (query, rank, hit.id)
        assert row["resemblance"] == hit.resemblance
        found = [(p["a_start"], p["a_end"], p["unit"]) for p in row["passages"]]
        assert found == [(*p.a, p.unit) for p in hit.passages]
    without = pa.table(index.search_many(queries, to_arrow=True))
    assert without["passages"].null_count == len(rows)
    assert without.schema == table.schema
    nothing = index.search_many([], to_arrow=True)
    assert nothing.num_rows == 0
    assert pa.table(nothing).schema == table.schema


def test_pairs_come_as_a_table(index: cento.Index) -> None:
    table = pa.table(index.pairs(min_resemblance=0.5, to_arrow=True))
    expected = list(index.pairs(min_resemblance=0.5))
    assert [(row["a"], row["b"], row["resemblance"]) for row in table.to_pylist()] == [
        tuple(pair) for pair in expected
    ]
    assert table["category"].to_pylist() == [pair.category for pair in expected]


def test_polars_gives_and_takes(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"id": [id for id, _ in texts], "text": [text for _, text in texts]})
    with empty.writer() as w:
        assert w.add_arrow(frame).added == 40
    found = polars.DataFrame(empty.search_many([texts[0][1]], to_arrow=True))
    assert found["id"][0] == "doc-0"


def test_pandas_gives(empty: cento.Index, texts: list[tuple[str, str]]) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(texts, columns=["id", "text"])
    with empty.writer() as w:
        assert w.add_arrow(frame).added == 40


def test_data_sets_of_hugging_face_give_and_are_filtered(
    empty: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    datasets = pytest.importorskip("datasets")
    ds: Any = datasets.Dataset.from_dict(
        {"text": [text for _, text in texts], "n": list(range(40))}
    )
    with empty.writer() as w:
        assert w.add_arrow(ds, id_prefix="ds/", meta=["n"]).added == 40
    found = empty.get("ds/7")
    assert found is not None
    assert (found.text, found.meta) == (texts[7][1], {"n": 7})
    kept = [row["n"] for row, verdict in cento.dedup(ds, min_resemblance=0.5) if verdict.kept]
    stream = cento.dedup_arrow(ds, min_resemblance=0.5)
    assert pa.table(stream)["n"].to_pylist() == kept
    deduper = cento.Deduper(tmp_path / "kept.idx", min_resemblance=0.5)
    assert ds.filter(deduper.keep, batched=True, batch_size=7)["n"][:] == kept


def test_data_sets_and_files_of_pyarrow_give(
    empty: cento.Index, tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"id": [id for id, _ in texts], "text": [text for _, text in texts]})
    parquet.write_table(table, tmp_path / "x.parquet", row_group_size=7)
    forms: list[Callable[[], Any]] = [
        lambda: dataset.dataset(table),
        lambda: dataset.dataset(tmp_path / "x.parquet"),
        lambda: dataset.dataset(tmp_path / "x.parquet").scanner(columns=["id", "text"]),
        lambda: parquet.ParquetFile(tmp_path / "x.parquet"),
        lambda: parquet.ParquetFile(tmp_path / "x.parquet").iter_batches(),
    ]
    question = cento.Benchmarks([texts[0][1]])
    expected = pa.table(cento.dedup_arrow(table, min_resemblance=0.5))
    clean = pa.table(cento.decontaminate_arrow(table, question))
    assert (len(expected), len(clean)) == (30, 39)
    for form in forms:
        assert pa.table(cento.dedup_arrow(form(), min_resemblance=0.5)).equals(expected)
        assert pa.table(cento.decontaminate_arrow(form(), question)).equals(clean)
        with empty.writer() as w:
            w.add_arrow(form())
            assert all(w.remove(id) for id, _ in texts)


def test_a_table_where_a_list_is_meant_is_told_where_to_go(
    empty: cento.Index, tmp_path: Path
) -> None:
    dataset = pytest.importorskip("pyarrow.dataset")
    table = pa.table({"id": ["a"], "text": ["one two three"]})
    tables: list[Any] = [table, table.to_reader(), dataset.dataset(table), table.to_batches()[0]]
    for package in ("pandas", "polars"):
        try:
            frame = __import__(package).DataFrame
        except ImportError:
            continue
        tables.append(frame({"id": ["a"], "text": ["one two three"]}))
    question = cento.Benchmarks(["one two three four five"])
    for one in tables:
        with pytest.raises(cento.InvalidArgumentError, match=r"`cento\.dedup_arrow` takes that"):
            cento.dedup(one)
        with pytest.raises(cento.InvalidArgumentError, match=r"`cento\.decontaminate_arrow` takes"):
            cento.decontaminate(one, question)
        with pytest.raises(cento.InvalidArgumentError, match="a table to `add_arrow`"):
            empty.writer().add_many(one)
        with pytest.raises(cento.InvalidArgumentError, match=r"pass .*a column of a table"):
            empty.search_many(one)
    for path in ("x.parquet", tmp_path / "x.parquet"):
        with pytest.raises(cento.InputError, match=r"`pyarrow\.dataset\.dataset\(path\)`"):
            cento.dedup_arrow(path)


def test_the_preferred_rows_stay_in_their_order(texts: list[tuple[str, str]]) -> None:
    table = duplicates(texts)
    table = table.set_column(3, "meta", pa.array([{"n": at} for at in range(40)]))
    columns: dict[str, Any] = {"id": "url", "text": "content", "min_resemblance": 0.5}
    found = pa.table(cento.dedup_arrow(table.to_reader(7), prefer="-n", **columns))
    assert found["n"].to_pylist() == [at for at in range(40) if at % 4 != 2]


def duplicates(texts: list[tuple[str, str]]) -> Any:
    """A table with columns of several types; every fourth row is like the one before it."""
    return pa.table(
        {
            "n": pa.array(range(len(texts)), pa.uint8()),
            "content": pa.array([text for _, text in texts], pa.large_string()),
            "url": pa.array([id for id, _ in texts]).dictionary_encode(),
            "meta": [{"deep": [at, None]} for at in range(len(texts))],
        },
        metadata={"of": "rows"},
    )


def test_what_stays_of_a_stream_is_a_stream(tmp_path: Path, texts: list[tuple[str, str]]) -> None:
    table = duplicates(texts)
    columns: dict[str, Any] = {"id": "url", "text": "content", "min_resemblance": 0.5}
    verdicts = [verdict for _, verdict in cento.dedup(texts, min_resemblance=0.5)]
    expected = table.filter(pa.array([verdict.kept for verdict in verdicts]))
    forms: list[Any] = [
        table,
        table.to_reader(max_chunksize=7),
        iter(table.to_batches(max_chunksize=3)),
        [table.slice(0, 13), table.slice(13)],
    ]
    for form in forms:
        kept = cento.dedup_arrow(form, **columns)
        assert kept.column_names == table.column_names
        found = pa.table(kept)
        assert found.schema.equals(table.schema, check_metadata=True)
        assert found.equals(expected)
    # One batch for each input batch that keeps rows.
    again = cento.dedup_arrow(table.to_reader(max_chunksize=10), **columns)
    sizes = [batch.num_rows for batch in again]
    assert sizes == [8, 7, 8, 7]
    # Rows that have been read come once; the schema may be read before.
    kept = cento.dedup_arrow(table, **columns)
    assert pa.RecordBatchReader.from_stream(kept).schema == table.schema
    assert pa.table(kept).equals(expected)
    with pytest.raises(cento.InvalidArgumentError, match="the rows have been read, and come once"):
        pa.table(kept)
    # Without a column `id`, the number of the row is the id.
    numbered = table.drop_columns(["url"])
    path = tmp_path / "numbered.idx"
    again = cento.dedup_arrow(numbered, text="content", min_resemblance=0.5, index=path)
    assert pa.table(again)["n"].to_pylist() == expected["n"].to_pylist()
    assert cento.Index(path).ids() == [str(n) for n in expected["n"].to_pylist()]
    nothing = pa.table(cento.dedup_arrow(table.slice(0, 0), **columns))
    assert nothing.schema == table.schema
    assert len(nothing) == 0
    path = tmp_path / "kept.idx"
    assert pa.table(cento.dedup_arrow(table, index=path, **columns)).equals(expected)
    # A batch that is sent again is no duplicate of itself.
    assert pa.table(cento.dedup_arrow(table, index=path, **columns)).equals(expected)
    found_document = cento.Index(path).get("doc-0")
    assert found_document is not None
    assert found_document.meta == {"n": 0, "deep": [0, None]}


def test_verdicts_become_a_column(texts: list[tuple[str, str]]) -> None:
    items = [*texts, ("again", texts[0][1]), ("part", texts[4][1][:600])]
    options: dict[str, Any] = {"min_resemblance": 0.5, "min_containment": 0.9}
    verdicts = [verdict for _, verdict in cento.dedup(items, **options)]
    table = duplicates(items)
    found = pa.table(cento.dedup_arrow(table, annotate=True, id="url", text="content", **options))
    assert found.drop_columns(["dedup"]).equals(table)
    rows = found["dedup"].to_pylist()
    for row, verdict in zip(rows, verdicts, strict=True):
        assert row["verdict"] == verdict.kind
        for name in ("of", "resemblance", "containment", "kept_as"):
            assert row[name] == getattr(verdict, name)
    with pytest.raises(cento.InvalidArgumentError, match="a column `dedup` already"):
        cento.dedup_arrow(found, annotate=True, id="url", text="content")
    with pytest.raises(cento.InvalidArgumentError, match="dedup_arrow` takes that"):
        cento.dedup(table)


def test_passages_are_cut_out_of_a_column(made: Any) -> None:
    shared = " ".join(made(50, 1))
    bodies = [
        " ".join(made(80, 2)) + " " + shared,
        "größer 🦉 " + " ".join(made(80, 3)) + " " + shared + " end",
        " ".join(made(80, 4)),
    ]
    expected = [
        verdict.text or text
        for text, (_, verdict) in zip(bodies, cento.dedup(bodies, cut_passages=20), strict=True)
    ]
    assert expected[1] != bodies[1]
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        table = pa.table({"text": pa.array(bodies, kind)})
        found = pa.table(cento.dedup_arrow(table, cut_passages=20))
        assert found.schema == table.schema
        assert found["text"].to_pylist() == expected


def test_a_stream_that_fails_or_is_left_adds_nothing(
    tmp_path: Path, texts: list[tuple[str, str]]
) -> None:
    path = tmp_path / "kept.idx"
    table = duplicates(texts)
    columns: dict[str, Any] = {"id": "url", "text": "content", "index": path}

    def batches() -> Any:
        yield table.to_batches()[0]
        raise ZeroDivisionError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(table.schema, batches())
    with pytest.raises(cento.InputError, match="the disk is gone"):
        list(cento.dedup_arrow(reader, **columns))
    with pytest.raises(ZeroDivisionError):
        list(cento.dedup_arrow(batches(), **columns))
    left = cento.dedup_arrow((table for _ in range(10**6)), **columns)
    assert next(left).num_rows > 0
    left.close()
    assert len(cento.Index(path)) == 0
    left = cento.dedup_arrow((table for _ in range(10**6)), **columns)
    assert next(left).num_rows > 0
    del left
    with cento.Index(path).writer() as w:
        w.add("a", "the lock is free")
    with pytest.raises(cento.InputError, match="there is no column `link`; it has `n`"):
        list(cento.dedup_arrow(table, id="link", text="content"))
    with pytest.raises(cento.InvalidArgumentError, match="there is no batch"):
        cento.dedup_arrow([])
    with pytest.raises(cento.InvalidArgumentError, match="a int is no Arrow table"):
        cento.dedup_arrow(5)
    other = pa.table({"url": ["a"], "content": ["text"]})
    with pytest.raises(cento.InputError, match="Arrow stream"):
        list(cento.dedup_arrow([table, other], id="url", text="content"))


LONG_TEXTS = """
import sys
from pathlib import Path

import cento
import pyarrow as pa

texts = [f"{at} " + "word " * 8000 for at in range(2000)]
plain = pa.array(texts)
kinds = {
    "string": lambda: plain,
    "string_view": lambda: plain.cast(pa.string_view()),
    "dictionary": lambda: plain.dictionary_encode(),
}
table = pa.table({"text": kinds[sys.argv[1]]()})
del texts, plain
with cento.Index("long.idx", create=True, store_text=False).writer() as w:
    # From here on, what the rows take on their way.
    Path("/proc/self/clear_refs").write_text("5")
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    before = int(status["VmHWM"].split()[0])
    assert w.add_arrow(table).added == 2000
    status = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
print((int(status["VmHWM"].split()[0]) - before) // 1024)
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs /proc")
@pytest.mark.parametrize("kind", ["string", "string_view", "dictionary"])
def test_a_large_batch_is_signed_a_part_at_a_time(tmp_path: Path, kind: str) -> None:
    # 80 MB of texts in one batch, which is not copied as a whole, whatever the column is of.
    call = [sys.executable, "-c", LONG_TEXTS, kind]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 60
