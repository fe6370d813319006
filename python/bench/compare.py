"""Compares programs that deduplicate: speed, memory, recall and precision.

    python compare.py make DIRECTORY [MB]           makes a corpus with planted duplicates
    python compare.py all DIRECTORY [PROGRAM...]    runs programs, each in a process of its own
    python compare.py run DIRECTORY PROGRAM         runs one

Each program reads texts from one Parquet file and writes the rows that it keeps to another, with
the same threshold on the resemblance of the texts' word 5-grams. Texts are made of words that are
drawn by Zipf's law, so that nothing but what is planted resembles anything. Of each duplicate a
share of the words is replaced. A program that keeps both has missed it, if their resemblance is
over the threshold; one that drops either although it is under is wrong, and so is one that keeps
nothing of an original and its duplicates. Recall is the share of the pairs over the threshold
that were found, for each share of words; precision that of the pairs found that are over.

CENTO_CLI names the command, to be compared too: `command` reads Parquet, for which it needs that
feature, and `command-lines` reads and writes the rows as JSON lines. THRESHOLD is 0.4 if not given.
Needs pyarrow and the programs: cento, rensa, datasketch, text-dedup.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import random
import resource
import subprocess
import sys
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

EDITS = [0, 1, 2, 5, 10]
THRESHOLD = float(os.environ.get("THRESHOLD", "0.4"))
PERMUTATIONS = 128
WORDS = 50_000
ROW_GROUP = 10_000


def words(rng: random.Random) -> Iterator[str]:
    """Words by Zipf's law, the frequent ones short."""
    letters = "etaoinshrdlucmfwypvbgkqjxz"
    names: list[str] = []
    seen: set[str] = set()
    while len(names) < WORDS:
        length = 2 + len(names) // 5_000
        name = "".join(rng.choice(letters) for _ in range(rng.randint(length, length + 4)))
        if name not in seen:
            seen.add(name)
            names.append(name)
    sums = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))
    while True:
        yield names[bisect(sums, rng.random() * sums[-1])]


def make(directory: Path, megabytes: float) -> None:
    rng = random.Random(17)
    drawn = words(rng)
    rows: list[dict[str, Any]] = []
    originals: list[tuple[str, list[str]]] = []
    size = 0
    while size < megabytes * 1e6:
        id, edit, of = f"d{len(rows)}", None, None
        if len(originals) > 100 and rng.random() < 0.2:
            edit = rng.choice(EDITS)
            of, original = rng.choice(originals)
            own = list(original)
            for place in rng.sample(range(len(own)), len(own) * edit // 100):
                own[place] = next(drawn)
        else:
            own = [next(drawn) for _ in range(rng.randint(200, 800))]
            originals.append((id, own))
        text = " ".join(own)
        size += len(text)
        rows.append({"id": id, "text": text, "edit": edit, "of": of})
    columns = [
        ("id", pa.string()),
        ("text", pa.string()),
        ("edit", pa.int32()),
        ("of", pa.string()),
    ]
    schema = pa.schema(columns)
    directory.mkdir(parents=True, exist_ok=True)
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table, directory / "in.parquet", row_group_size=ROW_GROUP, compression="zstd")
    with (directory / "in.jsonl").open("w", encoding="utf-8") as lines:
        for row in rows:
            lines.write(json.dumps({"id": row["id"], "text": row["text"]}) + "\n")
    print(
        f"{len(rows)} documents, {size / 1e6:.1f} MB, {table['edit'].drop_null().length()} planted"
    )


Keeps = Callable[[list[str], list[str]], list[bool]]


def filtered(source: Path, target: Path, keeps: Keeps) -> None:
    """Reads and writes row group by row group; `keeps` remembers the rows that it has seen."""
    file = pq.ParquetFile(source)
    with pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as out:
        for group in range(file.num_row_groups):
            table = file.read_row_group(group)
            mask = keeps(table["id"].to_pylist(), table["text"].to_pylist())
            out.write_table(table.filter(pa.array(mask, pa.bool_())))


def ngrams(text: str) -> set[str]:
    found = text.split()
    return {" ".join(found[at : at + 5]) for at in range(max(1, len(found) - 4))}


def by_cento(source: Path, target: Path) -> None:
    import cento

    file = pq.ParquetFile(source)
    batches = pa.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches(ROW_GROUP))
    kept = cento.dedup_arrow(batches, min_resemblance=THRESHOLD)
    with pq.ParquetWriter(target, file.schema_arrow, compression="zstd") as out:
        for batch in pa.RecordBatchReader.from_stream(kept):
            out.write_batch(batch)


def by_cento_rows(source: Path, target: Path) -> None:
    """Deduplicates with an object of Python for each text, as in programs that do more with it."""
    import cento

    file = pq.ParquetFile(source)
    batches = file.iter_batches(batch_size=1000, columns=["id", "text"])
    rows = (row for b in batches for row in zip(*(c.to_pylist() for c in b.columns), strict=True))
    verdicts = cento.dedup(rows, min_resemblance=THRESHOLD)
    filtered(source, target, lambda ids, _: [next(verdicts)[1].kept for _ in ids])


def by_rensa(source: Path, target: Path) -> None:
    from rensa import RMinHash, RMinHashLSH

    bands = 32 if THRESHOLD < 0.6 else 16
    lsh = RMinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS, num_bands=bands)
    seen: list[Any] = []

    def keeps(_: list[str], texts: list[str]) -> list[bool]:
        kept: list[bool] = []
        for text in texts:
            own = RMinHash(num_perm=PERMUTATIONS, seed=42)
            own.update(list(ngrams(text)))
            near = any(own.jaccard(seen[at]) >= THRESHOLD for at in lsh.query(own))
            kept.append(not near)
            if not near:
                lsh.insert(len(seen), own)
                seen.append(own)
        return kept

    filtered(source, target, keeps)


def by_datasketch(source: Path, target: Path) -> None:
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=THRESHOLD, num_perm=PERMUTATIONS)
    seen: dict[str, Any] = {}

    def keeps(ids: list[str], texts: list[str]) -> list[bool]:
        kept: list[bool] = []
        for id, text in zip(ids, texts, strict=True):
            own = MinHash(num_perm=PERMUTATIONS)
            own.update_batch([each.encode() for each in ngrams(text)])
            near = any(own.jaccard(seen[other]) >= THRESHOLD for other in lsh.query(own))
            kept.append(not near)
            if not near:
                lsh.insert(id, own)
                seen[id] = own
        return kept

    filtered(source, target, keeps)


def by_text_dedup(source: Path, target: Path) -> None:
    import datasets

    made = target.with_suffix(".dataset")
    options = ["--path", "parquet", "--data_files", str(source), "--split", "train"]
    options += ["--column", "text", "--output", str(made), "--cache_dir", str(made) + ".cache"]
    options += ["--ngram", "5", "--num_perm", str(PERMUTATIONS), "--threshold", str(THRESHOLD)]
    call = [sys.executable, "-m", "text_dedup.minhash", *options]
    subprocess.run(call, check=True, capture_output=True)
    datasets.load_from_disk(str(made)).to_parquet(target)


def by_command(source: Path, target: Path) -> None:
    out = target.with_suffix(".d")
    options = ["--min-resemblance", str(THRESHOLD), "--out", f"{out}/"]
    call = [os.environ["CENTO_CLI"], "dedup", str(source), *options]
    subprocess.run(call, check=True, capture_output=True)
    (out / source.name).rename(target)
    out.rmdir()


def by_command_lines(source: Path, target: Path) -> None:
    options = ["--min-resemblance", str(THRESHOLD), "--out", str(target.with_suffix(".jsonl"))]
    call = [os.environ["CENTO_CLI"], "dedup", str(source.with_suffix(".jsonl")), *options]
    subprocess.run(call, check=True, capture_output=True)


def kept_ids(result: Path) -> set[str]:
    if result.exists():
        return set(pq.read_table(result, columns=["id"])["id"].to_pylist())
    with result.with_suffix(".jsonl").open(encoding="utf-8") as lines:
        return {json.loads(line)["id"] for line in lines}


PROGRAMS: dict[str, Callable[[Path, Path], None]] = {
    "cento": by_cento,
    "cento-rows": by_cento_rows,
    "command": by_command,
    "command-lines": by_command_lines,
    "rensa": by_rensa,
    "datasketch": by_datasketch,
    "text-dedup": by_text_dedup,
}


def run(directory: Path, program: str) -> None:
    """Runs a program, and says seconds, processor seconds, and MB of memory at most."""
    target = directory / f"{program}.parquet"
    target.unlink(missing_ok=True)
    target.with_suffix(".jsonl").unlink(missing_ok=True)
    started, used = time.perf_counter(), os.times()
    PROGRAMS[program](directory / "in.parquet", target)
    ended = os.times()
    # Not that of getrusage, which counts what the parent had when it started this process.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    own = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    peak = max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    processors = sum(ended[:4]) - sum(used[:4])
    print(f"{time.perf_counter() - started} {processors} {peak / 1024}")


def version(program: str) -> str:
    if program.startswith("command"):
        call = [os.environ["CENTO_CLI"], "--version"]
        told = subprocess.run(call, capture_output=True, text=True, check=True)
        return f"{program} {told.stdout.split()[-1]}"
    name = "cento-search" if program.startswith("cento") else program
    return f"{program} {importlib.metadata.version(name)}"


def all_of(directory: Path, programs: list[str]) -> None:
    source = pq.read_table(directory / "in.parquet")
    size = sum(len(text) for text in source["text"].to_pylist()) / 1e6
    rows = source.to_pylist()
    texts = {row["id"]: row["text"] for row in rows}
    for row in rows:
        if row["of"] is not None:
            a, b = ngrams(row["text"]), ngrams(texts[row["of"]])
            row["is_over"] = len(a & b) / len(a | b) >= THRESHOLD
    heads = [f"{edit} %" for edit in EDITS]
    print(f"{len(rows)} documents, {size:.1f} MB, threshold {THRESHOLD}")
    print(
        " | ".join(
            ["program", "MB/s", "MB/s of a processor", "MB of memory", *heads, "precision", "lost"]
        )
    )
    for program in programs:
        call = [sys.executable, __file__, "run", str(directory), program]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            print(f"{program}: {done.stderr.strip().splitlines()[-1]}")
            continue
        seconds, processors, peak = map(float, done.stdout.split())
        scores = scored(rows, directory / f"{program}.parquet")
        speeds = [f"{size / seconds:.1f}", f"{size / processors:.1f}", f"{peak:.0f}"]
        print(" | ".join([version(program), *speeds, *scores]), flush=True)


def scored(rows: list[dict[str, Any]], result: Path) -> list[str]:
    """Recall for each share of words, precision, and originals that have no kept copy."""
    kept = kept_ids(result)
    planted = [row for row in rows if row["of"] is not None]
    found = [row for row in planted if not {row["id"], row["of"]} <= kept]
    scores: list[str] = []
    for edit in EDITS:
        over = sum(row["is_over"] for row in planted if row["edit"] == edit)
        right = sum(row["is_over"] for row in found if row["edit"] == edit)
        scores.append(f"{right / max(1, over):.3f}")
    scores.append(f"{sum(row['is_over'] for row in found) / max(1, len(found)):.3f}")
    families = {row["of"] or row["id"] for row in rows}
    left = {row["of"] or row["id"] for row in rows if row["id"] in kept}
    return [*scores, str(len(families - left))]


def main() -> None:
    what, directory = sys.argv[1], Path(sys.argv[2])
    if what == "make":
        make(directory, float(sys.argv[3]) if len(sys.argv) > 3 else 100)
    elif what == "run":
        run(directory, sys.argv[3])
    else:
        has_command = "CENTO_CLI" in os.environ
        named = [name for name in PROGRAMS if has_command or not name.startswith("command")]
        all_of(directory, sys.argv[3:] or named)


if __name__ == "__main__":
    main()
