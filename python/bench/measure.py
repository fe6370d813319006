"""Measures the cost of the way through Python.

    python measure.py CENTO SEARCHES CORPUS.jsonl [ROUNDS]

CENTO is the command, SEARCHES the example (`cargo build --release --example searches`).
Measures, in turns: adding a corpus by the command, `add_many` of tuples and of dicts, and
`add_arrow`; searching by the library and by `search_many`. Prints the median of the rounds, MB of
text or queries a second; the median of the ratios of a round, greater than 1 where Python is
faster; and the same of processor time over all rounds, which says more on a machine that has other
work. What the command does includes reading JSON and starting a process; what Python does begins
with the objects in memory.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cento

SNIPPET = 400
QUERIES = 4000
SEARCHES = 20_000


# Seconds by the clock, and of processors.
Times = list[tuple[float, float]]


def used_by_children() -> float:
    used = os.times()
    return used.children_user + used.children_system


def used_by(process: int) -> float:
    """What a running child has used; 0 where the system does not say."""
    try:
        stat = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    user, system = stat.rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def timed(
    work: Callable[[], object], used: Callable[[], float] = time.process_time
) -> tuple[float, float]:
    started, before = time.perf_counter(), used()
    work()
    return time.perf_counter() - started, used() - before


def report(name: str, unit: str, amount: float, times: Times, base: Times) -> None:
    speed = amount / statistics.median(wall for wall, _ in times)
    ratios = [theirs / ours for (ours, _), (theirs, _) in zip(times, base, strict=True)]
    low, high = min(ratios), max(ratios)
    ratio = statistics.median(ratios)
    used = sum(used for _, used in base) / sum(used for _, used in times)
    print(
        f"{name:24} {speed:9.1f} {unit}   ratio {ratio:.3f} ({low:.3f} to {high:.3f}), "
        f"of processor time {used:.3f}"
    )


def adding(command: str, corpus: Path, rounds: int) -> None:
    import pyarrow as pa

    with corpus.open(encoding="utf-8") as lines:
        rows: list[dict[str, Any]] = [json.loads(line) for line in lines]
    for row in rows:
        row["id"] = str(row["id"])
    tuples = [(row["id"], row["text"]) for row in rows]
    dicts = [{"id": row["id"], "text": row["text"]} for row in rows]
    table = pa.table({"id": [id for id, _ in tuples], "text": [text for _, text in tuples]})
    size = sum(len(text.encode()) for _, text in tuples) / 1e6
    del rows
    names = ["command", "add_many, tuples", "add_many, dicts", "add_arrow"]
    seconds: dict[str, Times] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as work:
        # The command reads the same fields as the others.
        plain = Path(work) / "plain.jsonl"
        with plain.open("w", encoding="utf-8") as out:
            for row in dicts:
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
        for at in range(rounds):
            path = Path(work) / f"command-{at}"
            subprocess.run([command, "create", path], check=True, capture_output=True)
            add = [command, "add", path, plain]
            seconds["command"].append(
                timed(
                    lambda add=add: subprocess.run(add, check=True, capture_output=True),
                    used_by_children,
                )
            )
            ways: dict[str, Callable[[cento.Writer], object]] = {
                "add_many, tuples": lambda w: w.add_many(tuples),
                "add_many, dicts": lambda w: w.add_many(dicts),
                "add_arrow": lambda w: w.add_arrow(table),
            }
            for name, way in ways.items():
                index = cento.Index(Path(work) / f"{name}-{at}", create=True)

                def run(index: cento.Index = index, way: Any = way) -> None:
                    with index.writer() as w:
                        way(w)

                seconds[name].append(timed(run))
    print(f"adding {corpus.name}: {len(tuples)} documents, {size:.1f} MB of text")
    for name in names:
        report(name, "MB/s", size, seconds[name], seconds["command"])


def asked_of(other: subprocess.Popen[str], how: str) -> tuple[tuple[float, float], int]:
    """The times of all searches by the library, and the number of hits."""
    assert other.stdin is not None
    assert other.stdout is not None
    before = used_by(other.pid)
    other.stdin.write(f"{how}\n")
    other.stdin.flush()
    taken, hits = other.stdout.readline().split()
    return (float(taken), used_by(other.pid) - before), int(hits)


def searching(example: str, corpus: Path, rounds: int) -> None:
    with corpus.open(encoding="utf-8") as lines:
        rows = [(str(row["id"]), row["text"]) for row in map(json.loads, lines)]
    step = max(1, len(rows) // QUERIES)
    texts = [text[len(text) // 3 :][:SNIPPET] for _, text in rows[::step]][:QUERIES]
    texts = [text for text in texts if text.strip()]
    texts *= max(1, SEARCHES // len(texts))
    with tempfile.TemporaryDirectory() as work:
        index = cento.Index(Path(work) / "i", create=True)
        with index.writer() as w:
            w.add_many(rows)
        index.compact()
        asked = Path(work) / "queries.jsonl"
        with asked.open("w", encoding="utf-8") as out:
            for text in texts:
                out.write(json.dumps({"text": text}) + "\n")
        for threads in (1, 2):
            library: Times = []
            keeping: Times = []
            python: Times = []
            table: Times = []
            reading: Times = []
            call = [example, index.path, str(asked), str(threads)]
            with subprocess.Popen(
                call, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            ) as other:
                for at in range(rounds + 1):
                    theirs, hits = asked_of(other, "")
                    kept, _ = asked_of(other, "keep")
                    found: list[cento.Answers] = []
                    ours = timed(
                        lambda threads=threads, found=found: found.append(
                            index.search_many(texts, threads=threads)
                        )
                    )
                    count = [0]
                    read = timed(
                        lambda found=found, count=count: count.append(
                            sum(len(answer.hits) for answer in found[0])
                        )
                    )
                    found.clear()
                    arrow = timed(
                        lambda threads=threads: index.search_many(
                            texts, threads=threads, to_arrow=True
                        )
                    )
                    assert count[-1] == hits
                    if at > 0:  # The first brings the index into memory.
                        library.append(theirs)
                        keeping.append(kept)
                        python.append(ours)
                        reading.append((ours[0] + read[0], ours[1] + read[1]))
                        table.append(arrow)
                assert other.stdin is not None
                other.stdin.close()
            print(f"searching {corpus.name}: {len(texts)} queries, {threads} threads")
            report("library", "q/s ", len(texts), library, library)
            report("library, answers kept", "q/s ", len(texts), keeping, library)
            report("search_many", "q/s ", len(texts), python, library)
            report("search_many, hits read", "q/s ", len(texts), reading, library)
            report("search_many, to_arrow", "q/s ", len(texts), table, library)


def main() -> None:
    command, example, corpus = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 7
    adding(command, Path(corpus), rounds)
    searching(example, Path(corpus), rounds)


if __name__ == "__main__":
    main()
