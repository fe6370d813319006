"""Writes types.parquet: texts and ids of the types in which other programs keep them.

    python make_types.py        needs pyarrow
"""

import datetime
import decimal
import json
import random
import uuid
from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq

HERE = Path(__file__).parent
ROWS = 6


def text(at: int) -> str:
    chosen = random.Random(at)
    return f"größe {at} " + " ".join(f"w{chosen.randrange(5000)}" for _ in range(30))


def main() -> None:
    rows = range(ROWS)
    texts = [text(at).encode() for at in rows]
    width = max(map(len, texts))
    day = datetime.datetime(2024, 1, 1, 12, 30)
    table = pa.table(
        {
            "binary": pa.array([*texts[:3], b"no \xff text", None, texts[5]], pa.binary()),
            "large": pa.array(texts, pa.large_binary()),
            "view": pa.array(texts, pa.binary_view()),
            "fixed": pa.array([text.ljust(width, b"\0") for text in texts], pa.binary(width)),
            "dictionary": pa.array(texts, pa.binary()).dictionary_encode(),
            "double": pa.array([0.0, 1.0, 2.5, float("nan"), None, 1e20]),
            "single": pa.array([0.0, 1.0, 2.5, 0.1, None, 5.0], pa.float32()),
            "decimal": pa.array([decimal.Decimal(at) / 2 for at in rows], pa.decimal128(38, 3)),
            "number": pa.array([decimal.Decimal(10**30 + at) for at in rows], pa.decimal128(38, 0)),
            "uuid": pa.array([uuid.UUID(int=at).bytes for at in rows], pa.uuid()),
            "digest": pa.array([bytes([at, 255] * 8) for at in rows], pa.binary(16)),
            "key": pa.array([b"k0", b"k1", b"k\xff", b"", None, b"k5"], pa.binary()),
            "when": pa.array([day + datetime.timedelta(days=at) for at in rows], pa.timestamp("us", "UTC")),
            "day": pa.array([day.date() + datetime.timedelta(days=at) for at in rows]),
            "is_even": pa.array([at % 2 == 0 for at in rows]),
            "info": pa.array([json.dumps({"n": at}).encode() for at in rows], pa.binary()),
            "list": pa.array([[at] for at in rows]),
        }
    )
    pq.write_table(table, HERE / "types.parquet", compression="zstd", row_group_size=4)
    # Without what Arrow says of the columns, as Impala, Hive and Spark write them.
    bare = table.select(["large", "uuid", "dictionary"])
    pq.write_table(bare, HERE / "bare.parquet", compression="zstd", store_schema=False)
    pyarrow.feather.write_feather(table, HERE / "types.feather", compression="zstd")


if __name__ == "__main__":
    main()
