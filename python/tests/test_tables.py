"""Parquet files that the command changes or copies: all that it does not cut stays as it was."""

from __future__ import annotations

import datetime
import json
import subprocess
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import cento
import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

Made = Callable[[int, int], list[str]]

FIELDS = ["--id-field", "url", "--text-field", "content"]
GROUP_ROWS = 30
ROWS = 100


def text(made: Made, at: int) -> str | None:
    """Every tenth is the withdrawn text, every seventh quotes it, some lack a text."""
    own = " ".join(made(60, 1000 + at))
    if at % 10 == 3:
        return " ".join(made(80, 1))
    if at % 7 == 1:
        return f"{own} " + " ".join(made(80, 1)[:30])
    return None if at % 13 == 0 else own


def table(made: Made) -> Any:
    """Rows with columns of many types, nulls in each, and metadata of the table and of a field."""
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    deep = pa.struct([("a", pa.int16()), ("b", pa.list_(pa.struct([("c", pa.large_string())])))])
    columns: list[tuple[Any, list[Any]]] = [
        (pa.field("url", pa.string(), nullable=False), [f"row/{at}" for at in range(ROWS)]),
        (pa.field("content", pa.large_string()), [text(made, at) for at in range(ROWS)]),
        (pa.field("day", pa.date32()), [start.date() if at % 4 else None for at in range(ROWS)]),
        (
            pa.field("when", pa.timestamp("us", "Europe/Berlin"), metadata={"kind": "größe"}),
            [start + datetime.timedelta(seconds=at) for at in range(ROWS)],
        ),
        (pa.field("price", pa.decimal128(20, 3)), [Decimal(at) / 8 for at in range(ROWS)]),
        (pa.field("half", pa.float16()), [None if at % 5 else at / 2 for at in range(ROWS)]),
        (pa.field("digest", pa.binary(4)), [bytes([at, 0, 255, at]) for at in range(ROWS)]),
        (pa.field("big", pa.uint64()), [2**63 + at for at in range(ROWS)]),
        (
            pa.field("kind", pa.dictionary(pa.int8(), pa.string())),
            [f"kind {at % 3}" if at % 6 else None for at in range(ROWS)],
        ),
        (
            pa.field("deep", deep),
            [{"a": at, "b": [{"c": str(at)}, None]} if at % 3 else None for at in range(ROWS)],
        ),
        (
            pa.field("map", pa.map_(pa.string(), pa.list_(pa.int32()))),
            [[("k", [at, None]), ("none", None)][: at % 3] for at in range(ROWS)],
        ),
        (pa.field("nothing", pa.null()), [None] * ROWS),
    ]
    schema = pa.schema([field for field, _ in columns], metadata={"made by": "a test"})
    arrays = [pa.array(values, field.type) for field, values in columns]
    return pa.Table.from_arrays(arrays, schema=schema)


@pytest.fixture
def cli_with_tables(cli: str, tmp_path: Path) -> str:
    (tmp_path / "none.parquet").write_bytes(b"PAR1")
    call = [cli, "add", f"{tmp_path}/none.idx", f"{tmp_path}/none.parquet"]
    if (
        "the feature `parquet`"
        in subprocess.run(call, capture_output=True, text=True, check=False).stderr
    ):
        pytest.skip("the command was built without Parquet")
    return cli


@pytest.fixture
def rows(tmp_path: Path, made: Made) -> Path:
    """The table in a file, which names columns that its rows are in the order of."""
    path = tmp_path / "in" / "a.parquet"
    path.parent.mkdir()
    pq.write_table(
        table(made),
        path,
        row_group_size=GROUP_ROWS,
        compression="zstd",
        use_dictionary=["kind"],
        sorting_columns=[pq.SortingColumn(0), pq.SortingColumn(1), pq.SortingColumn(2)],
    )
    return path


def with_text(rows: Any, texts: dict[str, str]) -> Any:
    """The rows with other texts."""
    ids = rows["url"].to_pylist()
    new = [texts.get(id, old) for id, old in zip(ids, rows["content"].to_pylist(), strict=True)]
    field = rows.schema.field("content")
    return rows.set_column(1, field, pa.array(new, field.type))


def without(rows: Any, ids: set[str]) -> Any:
    return rows.filter(pa.array([id not in ids for id in rows["url"].to_pylist()]))


def check_is_kept(before: Path, after: Path, sorted_by: int) -> None:
    """Compares what a file says of itself."""
    one, other = pq.ParquetFile(before), pq.ParquetFile(after)
    assert other.schema_arrow.equals(one.schema_arrow, check_metadata=True)
    assert other.schema.equals(one.schema)
    assert other.metadata.metadata == one.metadata.metadata
    count = other.metadata.num_row_groups
    sizes = [other.metadata.row_group(at).num_rows for at in range(count)]
    # Row groups with few rows left are combined.
    assert all(size == GROUP_ROWS for size in sizes[:-1])
    assert 0 < sizes[-1] <= GROUP_ROWS
    for at in range(count):
        group, of_before = other.metadata.row_group(at), one.metadata.row_group(0)
        assert list(group.sorting_columns) == list(of_before.sorting_columns)[:sorted_by]
        for column in range(group.num_columns):
            found, expected = group.column(column), of_before.column(column)
            assert (found.path_in_schema, found.compression, found.physical_type) == (
                expected.path_in_schema,
                expected.compression,
                expected.physical_type,
            )
            assert found.has_dictionary_page == expected.has_dictionary_page


def check_rows(found: Any, expected: Any) -> None:
    """Compares values and types; the words of a dictionary may be in another order."""
    found.validate(full=True)
    assert found.schema.equals(expected.schema, check_metadata=True)
    for name in expected.schema.names:
        assert found[name].to_pylist() == expected[name].to_pylist(), name


def run(cli: str, *arguments: object) -> Any:
    call = [cli, *map(str, arguments), "--format", "json"]
    done = subprocess.run(call, capture_output=True, text=True, check=False)
    # 2: rows without a text were named.
    assert done.returncode in (0, 1, 2), done.stderr
    return json.loads(done.stdout)


def test_withdrawn_texts_leave_a_file_and_nothing_else_changes(
    cli_with_tables: str, rows: Path, tmp_path: Path, made: Made
) -> None:
    index = tmp_path / "idx"
    with cento.Index(index, create=True).writer() as w:
        # A document is removed also if it has the id of the withdrawn one.
        w.add("row/3", " ".join(made(80, 1)))
    call = ["dedup", rows.parent, "--against", index, "--only-against", "--cut-passages", 20]
    done = run(cli_with_tables, *call, "--out", f"{tmp_path}/out/", *FIELDS)
    removed = {f"row/{at}" for at in range(3, ROWS, 10)}
    cut = {f"row/{at}" for at in range(1, ROWS, 7)} - removed
    assert (done["exact"], done["cut"]) == (len(removed), len(cut))
    quoted = " ".join(made(80, 1)[:30])
    texts = {id: str(text(made, int(id[4:]))).removesuffix(f" {quoted}") for id in cut}
    lacking = {f"row/{at}" for at in range(ROWS) if text(made, at) is None}
    expected = with_text(without(pq.read_table(rows), removed | lacking), texts)
    check_rows(pq.read_table(tmp_path / "out" / rows.name), expected)
    # By the text rows need not be in order any more.
    check_is_kept(rows, tmp_path / "out" / rows.name, sorted_by=1)


@pytest.mark.parametrize("treatment", [[], ["--cut-passages"], ["--annotate"]], ids=str)
def test_a_decontaminated_file_has_all_other_columns(
    cli_with_tables: str, rows: Path, tmp_path: Path, made: Made, treatment: list[str]
) -> None:
    question = " ".join(made(80, 1)[:30])
    bench = tmp_path / "bench.jsonl"
    bench.write_text(json.dumps({"question": question}) + "\n", encoding="utf-8")
    found = tmp_path / "found.parquet"
    call = ["decontaminate", rows.parent, "--against", bench, "--out", f"{tmp_path}/out/"]
    summary = run(cli_with_tables, *call, *FIELDS, *treatment, "--documents", found)
    original = pq.read_table(rows)
    # Rows without a text are no documents, and left out.
    nulls = {f"row/{at}" for at in range(ROWS) if text(made, at) is None}
    expected = without(original, nulls)
    assert summary["failed"] == len(nulls)
    texts = {f"row/{at}": text(made, at) or "" for at in range(ROWS)}
    having = {id for id, own in texts.items() if question in own}
    assert set(pq.read_table(found)["document"].to_pylist()) == having
    after = tmp_path / "out" / rows.name
    if treatment == ["--annotate"]:
        found = pq.read_table(after)
        verdicts = found["decontaminate"].to_pylist()
        ids = found["url"].to_pylist()
        assert {
            id for id, v in zip(ids, verdicts, strict=True) if v["verdict"] != "clean"
        } == having
        check_rows(found.drop_columns(["decontaminate"]), expected)
        return
    if treatment == ["--cut-passages"]:
        cut = {id: texts[id].replace(f" {question}", "") for id in having}
        check_rows(pq.read_table(after), with_text(expected, cut))
    else:
        check_rows(pq.read_table(after), without(expected, having))
    check_is_kept(rows, after, sorted_by=1 if treatment else 3)
    assert [path.name for path in after.parent.iterdir()] == [rows.name]
