"""Compares Spark and Ray with one machine: results, time and memory, also if a worker is killed.

    python engines.py CORPUS WORK ENGINE [--workers N] [--documents N] [--partitions N]
                      [--no-pairs] [--no-build] [--kill]

CORPUS is a file of JSON lines (`id`, `text`), or a number of documents to make up. ENGINE is
`one`, `spark` (`local-cluster[N,1,2048]`) or `ray` (N processors). Builds an index of the first
documents, finds the pairs of resemblance 0.8 and more, and deduplicates, on engines without an
index. Prints the seconds of each by the clock and of the processors, those of a job that only
reads the data, the most memory of a process of each kind, and digests of the pairs and of the ids
that stay. `--no-pairs` and `--no-build` leave these out. With `--kill` a worker of the engine is
killed with SIGKILL while each of the three runs. Parquet files of the corpus stay in WORK for
other runs. Linux.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import cento
import cento.parts
import cento.ray
import cento.spark
import pyarrow as pa
import pyarrow.dataset as pads
import pyarrow.parquet as pq

LEAST = 0.8
FILE_ROWS = 20_000
MADE_ROWS = 2_000
COLUMNS: dict[str, Any] = {"id": "id", "text": "text"}


def parquet_of(corpus: Path, work: Path, documents: int | None) -> Path:
    """The first documents as Parquet files, with their numbers."""
    directory = work / f"{corpus.stem}-{documents or 'all'}.parquet"
    if directory.exists():
        return directory
    made = Path(f"{directory}.tmp")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    rows: list[dict[str, Any]] = []

    def flush(number: int) -> None:
        if rows:
            table = pa.Table.from_pylist(rows)
            # Spark takes Snappy from a library that not every machine can load.
            pq.write_table(table, made / f"{number:08}.parquet", compression="none")
            rows.clear()

    number = 0
    with corpus.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number == documents:
                break
            row = json.loads(line)
            rows.append({"id": str(row["id"]), "text": row["text"], "n": number})
            if len(rows) == FILE_ROWS:
                flush(number)
    flush(number + 1)
    made.rename(directory)
    return directory


def made_up(documents: int, work: Path) -> Path:
    """Parquet files of documents of 200 words, of which a fifth copy one before, with edits."""
    directory = work / f"made-{documents}.parquet"
    if directory.exists():
        return directory
    made = Path(f"{directory}.tmp")
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir(parents=True)
    words = [f"word{at}" for at in range(50_000)]
    for first in range(0, documents, MADE_ROWS):
        draw = random.Random(first)
        rows: list[dict[str, Any]] = []
        for number in range(first, min(first + MADE_ROWS, documents)):
            own = draw.choices(words, k=200)
            if rows and draw.random() < 0.2:
                own = draw.choice(rows)["text"].split()
                for _ in range(draw.randrange(4)):
                    own[draw.randrange(200)] = draw.choice(words)
            rows.append({"id": f"d{number:09}", "text": " ".join(own), "n": number})
        table = pa.Table.from_pylist(rows)
        pq.write_table(table, made / f"{first:09}.parquet", compression="none")
    made.rename(directory)
    return directory


def digest(rows: Iterable[str]) -> str:
    sorted_rows = sorted(rows)
    sha = hashlib.sha256("\n".join(sorted_rows).encode()).hexdigest()[:16]
    return f"{len(sorted_rows)} {sha}"


def digest_of_pairs(table: Any) -> str:
    if table is None:
        return "not looked for"
    columns = [table[name].to_pylist() for name in ("a", "b", "overlap", "resemblance")]
    # The order of documents in the index decides which of two comes first.
    return digest(f"{sorted((a, b))} {o} {r}" for a, b, o, r in zip(*columns, strict=True))


def descendants(root: int) -> list[tuple[int, list[str]]]:
    """The processes below one, and what `/proc/N/stat` says of each after its name."""
    parents: dict[int, list[tuple[int, list[str]]]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                stat = (entry / "stat").read_text("utf-8", errors="replace")
            except OSError:
                continue
            fields = stat.rpartition(")")[2].split()
            parents.setdefault(int(fields[1]), []).append((int(entry.name), fields))
    found: list[tuple[int, list[str]]] = []
    waiting = [root]
    while waiting:
        below = parents.get(waiting.pop(), [])
        found += below
        waiting += [pid for pid, _ in below]
    return found


def command_of(process: int) -> str:
    try:
        line = Path(f"/proc/{process}/cmdline").read_text("utf-8", errors="replace")
    except OSError:
        return ""
    return line.replace("\0", " ")


def adopt_orphans() -> None:
    """From now on, processes below this one whose parents end become its children."""
    set_child_subreaper = 36
    if ctypes.CDLL(None, use_errno=True).prctl(set_child_subreaper, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl")


class Usage:
    """What this process and all that were below it have used of the processors.

    Engines end processes whose time no parent gets, so every process is looked at while it runs.
    """

    def __init__(self) -> None:
        self._ticks: dict[tuple[int, str], int] = {}
        self.most: dict[str, int] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.seconds()
            time.sleep(0.2)

    def seconds(self) -> float:
        with self._lock:
            for pid, fields in descendants(os.getpid()):
                # By the time of its start too: numbers are used again.
                self._ticks[(pid, fields[19])] = int(fields[11]) + int(fields[12])
                self._weigh(kind_of(command_of(pid)), pid)
            self._weigh("driver", os.getpid())
            below = sum(self._ticks.values()) / os.sysconf("SC_CLK_TCK")
        own = os.times()
        return own.user + own.system + below

    def _weigh(self, kind: str, pid: int) -> None:
        """Takes note of the most memory that a process has had."""
        try:
            lines = Path(f"/proc/{pid}/status").read_text("utf-8", errors="replace").splitlines()
        except OSError:
            return
        peak = [int(line.split()[1]) // 1024 for line in lines if line.startswith("VmHWM")]
        self.most[kind] = max(self.most.get(kind, 0), *peak, 0)


def kind_of(command: str) -> str:
    """What a process does for an engine."""
    for mark, kind in {
        "CoarseGrainedExecutorBackend": "executor",
        "SparkSubmit": "driver of Spark",
        "pyspark": "Python worker",
        "ray::": "worker of Ray",
    }.items():
        if mark in command:
            return kind
    return "others"


class Killer:
    """Kills a worker that works, once for each phase."""

    def __init__(self, is_worker: Callable[[str], bool]) -> None:
        self._is_worker = is_worker
        self.killed = 0

    def during(self, work: Callable[[], Any], after: float) -> Any:
        over = threading.Event()

        def kill() -> None:
            # It may take a while until there is one.
            patience = after
            while not over.wait(patience if self.killed == before else None):
                patience = 0.1
                below = [pid for pid, _ in descendants(os.getpid())]
                workers = [pid for pid in below if self._is_worker(command_of(pid))]
                if workers:
                    os.kill(workers[-1], signal.SIGKILL)
                    self.killed += 1

        before = self.killed
        thread = threading.Thread(target=kill)
        thread.start()
        try:
            return work()
        finally:
            over.set()
            thread.join()


class Run:
    """Times of phases; workers may be killed in each."""

    def __init__(self, killer: Killer | None, asked: argparse.Namespace) -> None:
        self._killer = killer
        self._usage = Usage()
        self.finds_pairs = not asked.no_pairs
        self.builds = not asked.no_build
        self.partitions: int = asked.partitions
        self.seconds: dict[str, tuple[float, float]] = {}

    def memory(self) -> str:
        """The most memory of a process of each kind."""
        return ", ".join(f"{kind} {most} MB" for kind, most in sorted(self._usage.most.items()))

    def phase(self, name: str, work: Callable[[], Any], after: float = 0.0) -> Any:
        started, used = time.perf_counter(), self._usage.seconds()
        try:
            if self._killer is None or after == 0.0:
                return work()
            return self._killer.during(work, after)
        finally:
            self.seconds[name] = (time.perf_counter() - started, self._usage.seconds() - used)


def by_one(source: Path, work: Path, run: Run) -> tuple[str, str]:
    index = cento.Index(work / "one.idx", create=True)

    reader = pads.dataset(source).scanner(batch_readahead=2).to_reader

    def build() -> None:
        with index.writer() as w:
            w.add_arrow(reader(), meta=["n"], **COLUMNS)

    pairs = None
    if run.builds or run.finds_pairs:
        run.phase("build", build)
    if run.finds_pairs:
        pairs = run.phase(
            "pairs", lambda: pa.table(index.pairs(min_resemblance=LEAST, to_arrow=True))
        )

    def dedup() -> list[str]:
        # The documents are in the order of `n`, by which engines prefer.
        kept = cento.dedup_arrow(reader(), min_resemblance=LEAST, **COLUMNS)
        return [id for table in kept for id in pa.table(table)["id"].to_pylist()]

    kept = run.phase("dedup", dedup)
    return digest_of_pairs(pairs), digest(kept)


def by_spark(source: Path, work: Path, run: Run, workers: int) -> tuple[str, str]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": str(run.partitions),
        "spark.local.dir": str(work / "spark"),
        "spark.task.maxFailures": "8",
        "spark.sql.parquet.compression.codec": "uncompressed",
    }

    def start() -> Any:
        builder = SparkSession.builder.master(f"local-cluster[{workers},1,2048]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        return builder.getOrCreate()

    session = run.phase("start", start)
    try:
        df = session.read.parquet(str(source))

        def count(batches: Iterable[Any]) -> Iterator[Any]:
            size = sum(batch["text"].nbytes for batch in batches)
            yield pa.RecordBatch.from_pydict({"size": [size]})

        run.phase("read only", lambda: df.mapInArrow(count, "size long").collect())
        index = work / "spark.idx"
        if run.builds:
            run.phase(
                "build", lambda: cento.spark.build(df, index, meta=["n"], parts=16, **COLUMNS), 6
            )
        out = work / "pairs.parquet"
        if run.finds_pairs:
            run.phase(
                "pairs",
                lambda: cento.spark.pairs(df, min_resemblance=LEAST, **COLUMNS).write.parquet(
                    str(out)
                ),
                6,
            )

        def dedup() -> None:
            kept = cento.spark.dedup(df, min_resemblance=LEAST, prefer="n", **COLUMNS)
            kept.select("id").write.parquet(str(work / "kept.parquet"))

        run.phase("dedup", dedup, 6)
    finally:
        session.stop()
    found = pq.read_table(out) if run.finds_pairs else None
    ids = pq.read_table(work / "kept.parquet")["id"].to_pylist()
    return digest_of_pairs(found), digest(ids)


def by_ray(source: Path, work: Path, run: Run, workers: int) -> tuple[str, str]:
    import ray
    import ray.data

    def start() -> Any:
        ray.init(num_cpus=workers, include_dashboard=False, object_store_memory=1 << 30)
        return ray.data.read_parquet(str(source))

    ds = run.phase("start", start)
    try:

        def count(block: Any) -> dict[str, list[int]]:
            return {"size": [block["text"].nbytes]}

        run.phase("read only", lambda: ds.map_batches(count, batch_format="pyarrow").sum("size"))
        index = work / "ray.idx"
        columns: dict[str, Any] = {**COLUMNS, "partitions": run.partitions}
        if run.builds:
            run.phase(
                "build", lambda: cento.ray.build(ds, index, meta=["n"], parts=16, **COLUMNS), 2
            )
        out = work / "pairs.parquet"
        if run.finds_pairs:
            run.phase(
                "pairs",
                lambda: cento.ray.pairs(ds, min_resemblance=LEAST, **columns).write_parquet(
                    str(out)
                ),
                2,
            )

        def dedup() -> None:
            kept = cento.ray.dedup(ds, min_resemblance=LEAST, prefer="n", **columns)
            kept.select_columns(["id"]).write_parquet(str(work / "kept.parquet"))

        run.phase("dedup", dedup, 2)
    finally:
        ray.shutdown()
    found = pq.read_table(out) if run.finds_pairs else None
    ids = pq.read_table(work / "kept.parquet")["id"].to_pylist()
    return digest_of_pairs(found), digest(ids)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("work", type=Path)
    parser.add_argument("engine", choices=["one", "spark", "ray"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--documents", type=int)
    parser.add_argument("--partitions", type=int, default=16)
    parser.add_argument("--no-pairs", action="store_true")
    parser.add_argument("--no-build", action="store_true")
    parser.add_argument("--kill", action="store_true")
    asked = parser.parse_args()
    work = asked.work.absolute()
    if asked.corpus.isdecimal():
        source = made_up(int(asked.corpus), work)
    else:
        source = parquet_of(Path(asked.corpus), work, asked.documents)
    work = asked.work.absolute() / f"{asked.engine}-{os.getpid()}"
    work.mkdir(parents=True)
    workers = {
        "spark": lambda line: "CoarseGrainedExecutorBackend" in line,
        # Those that run tasks are called so; others are Ray's own actors.
        "ray": lambda line: line.startswith("ray::") and "MapBatches" in line,
        "one": lambda line: False,
    }
    killer = Killer(workers[asked.engine]) if asked.kill else None
    run = Run(killer, asked)
    adopt_orphans()
    try:
        if asked.engine == "one":
            found = by_one(source, work, run)
        elif asked.engine == "spark":
            found = by_spark(source, work, run, asked.workers)
        else:
            found = by_ray(source, work, run, asked.workers)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    times = ", ".join(
        f"{name} {wall:.1f} s ({cpu:.1f})" for name, (wall, cpu) in run.seconds.items()
    )
    print(f"{asked.engine}, {asked.workers} workers, seconds (of processors): {times}")
    print(f"the most memory of a process: {run.memory()}")
    print(f"pairs {found[0]}, kept {found[1]}, {killer.killed if killer else 0} workers killed")


if __name__ == "__main__":
    main()
