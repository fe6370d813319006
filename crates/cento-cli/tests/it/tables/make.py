"""Writes the files of this directory: the same rows as Parquet, as Arrow and as JSON lines.

    python make.py        needs pyarrow
"""

import datetime
import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS = 90


def text(at: int) -> str:
    """Every fifth is the first; some lines, quotation marks and letters that need care."""
    chosen = random.Random(0 if at % 5 == 0 else at)
    words = [f"w{chosen.randrange(5000)}" for _ in range(40)]
    return " ".join(words[:20]) + '\n"größe" \\ 日本 🦉\t' + " ".join(words[20:])


def row(at: int) -> dict:
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    return {
        "url": f"https://example.org/{at}",
        "content": text(at),
        "meta": {"n": at, "tags": [f"t{n}" for n in range(at % 3)]} if at % 4 else None,
        "share": at / 3 if at % 7 else None,
        "lists": [[f"{at}-{n}" for n in range(m)] for m in range(at % 4)] if at % 6 else None,
        "deep": {"a": at, "b": [{"c": str(at)}, None]} if at % 3 else None,
        "bytes": bytes([at % 256] * 3),
        "when": start + datetime.timedelta(seconds=at),
        "is_even": at % 2 == 0,
        "kind": f"kind {at % 3}",
        "ratio": None if at % 11 == 0 else at * 0.5,
    }


SCHEMA = pa.schema(
    [
        pa.field("url", pa.string(), nullable=False),
        ("content", pa.large_string()),
        ("meta", pa.struct([("n", pa.int16()), ("tags", pa.list_(pa.string()))])),
        ("share", pa.float64()),
        ("lists", pa.list_(pa.list_(pa.string()))),
        ("deep", pa.struct([("a", pa.int64()), ("b", pa.list_(pa.struct([("c", pa.string())])))])),
        ("bytes", pa.binary()),
        ("when", pa.timestamp("us", "UTC")),
        ("is_even", pa.bool_()),
        ("kind", pa.dictionary(pa.int32(), pa.string())),
        ("ratio", pa.float32()),
    ],
    metadata={"made by": "make.py"},
)


def main() -> None:
    rows = [row(at) for at in range(ROWS)]
    table = pa.Table.from_pylist(rows, schema=SCHEMA)
    pq.write_table(table, HERE / "sample.parquet", row_group_size=20, compression="zstd")
    plain = table.select(["url", "content", "meta"])
    pyarrow.feather.write_feather(plain, HERE / "sample.feather", compression="lz4", chunksize=30)
    with pa.ipc.new_stream(HERE / "sample.arrow", plain.schema) as stream:
        stream.write_table(plain, max_chunksize=7)
    with (HERE / "sample.jsonl").open("w", encoding="utf-8") as out:
        for each in plain.to_pylist():
            out.write(json.dumps(each, ensure_ascii=False) + "\n")


main()
