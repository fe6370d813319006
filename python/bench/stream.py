"""Measures memory while much more than memory is streamed from Parquet.

    python stream.py [GIGABYTES] [dedup|add]

Texts are made up, written to Parquet files of 64 MB, one at a time, and read from there as Arrow
batches, which `dedup_arrow` or `add_arrow` takes as one stream; files that were read are removed. A
fifth of the documents are copies of recent ones. Prints the text, the memory and its peak, in MB,
after each tenth, and what stays at the end. 1 GB if not said otherwise.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cento
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

FILE_BYTES = 64 << 20
BATCH_ROWS = 2000
WORDS = 200_000


def memory() -> tuple[float, float]:
    """The memory of the process, without mapped files, and its peak with them, in MB."""
    status = dict(
        line.split(":", 1) for line in Path("/proc/self/status").read_text("ascii").splitlines()
    )
    kilobytes = {name: int(status[name].split()[0]) for name in ("RssAnon", "VmHWM")}
    return kilobytes["RssAnon"] / 1024, kilobytes["VmHWM"] / 1024


def texts(seed: int) -> Iterator[str]:
    """Texts of words drawn by Zipf's law."""
    rng = np.random.default_rng(seed)
    chosen = random.Random(seed)
    words = [f"{at:x}o{at % 7}" for at in range(WORDS)]
    ranks = np.cumsum(1 / (np.arange(WORDS) + 3.0))
    recent: list[str] = []
    while True:
        drawn = np.searchsorted(ranks, rng.random(400 * 1000) * ranks[-1]).tolist()
        for at in range(0, len(drawn), 400):
            if recent and chosen.random() < 0.2:
                yield chosen.choice(recent)
                continue
            text = " ".join([words[word] for word in drawn[at : at + chosen.randint(100, 400)]])
            if len(recent) < 1000:
                recent.append(text)
            else:
                recent[chosen.randrange(1000)] = text
            yield text


def report(size: int, started: float) -> None:
    now, peak = memory()
    seconds = time.perf_counter() - started
    print(f"{size / 1e6:.0f} MB: {now:.0f} MB, at most {peak:.0f} MB, {seconds:.0f} s", flush=True)


SCHEMA = pa.schema({"id": pa.int64(), "text": pa.string()})


def batches(directory: Path, total: int) -> Iterator[Any]:
    """Batches of Parquet files that are there only while they are read."""
    made, size, number = texts(17), 0, 0
    started = time.perf_counter()
    while size < total:
        path = directory / "part.parquet"
        with pq.ParquetWriter(path, SCHEMA, compression="zstd") as out:
            written = 0
            while written < FILE_BYTES and size < total:
                rows = [next(made) for _ in range(BATCH_ROWS)]
                ids = range(number, number + BATCH_ROWS)
                out.write_batch(pa.RecordBatch.from_pydict({"id": ids, "text": rows}, SCHEMA))
                number += BATCH_ROWS
                more = sum(map(len, rows))
                if (size + more) * 10 // total > size * 10 // total:
                    report(size + more, started)
                size, written = size + more, written + more
        with pq.ParquetFile(path) as file:
            yield from file.iter_batches(BATCH_ROWS)
        path.unlink()


def main() -> None:
    total = int(float(sys.argv[1] if len(sys.argv) > 1 else "1") * 1e9)
    what = sys.argv[2] if len(sys.argv) > 2 else "dedup"
    with tempfile.TemporaryDirectory() as work:
        directory = Path(work)
        stream = pa.RecordBatchReader.from_batches(SCHEMA, batches(directory, total))
        if what == "add":
            index = cento.Index(directory / "i", create=True, store_text=False)
            with index.writer() as w:
                print(w.add_arrow(stream))
            print(index.stats())
        else:
            kept = cento.dedup_arrow(stream)
            rows = sum(batch.num_rows for batch in pa.RecordBatchReader.from_stream(kept))
            print(f"{rows} documents stay")
        now, peak = memory()
        print(f"at the end {now:.0f} MB, at most {peak:.0f} MB")


if __name__ == "__main__":
    main()
