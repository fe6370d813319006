"""Measures what `cost.py` multiplies: sizes by kind of text, the units of one index, its growth.

    python3 research/scale/measure.py kinds --work work RFCs=rfc.jsonl.zst prose=a.jsonl,b.jsonl
    cento-tools repeat --base rfc.jsonl --pieces 3200 --letters --bytes 104000000 --out pieces.jsonl
    cento-tools plant --base pieces.jsonl --each 150 --out own.jsonl --queries queries.jsonl
    cento-tools repeat --base rfc.jsonl --pieces 3200 --letters --bytes 10000000000 --out - |
        python3 research/scale/measure.py units --work work --queries queries.jsonl -
    python3 research/scale/measure.py calls work/units.idx --queries queries.jsonl --out work
    python3 research/scale/measure.py grow --work work --base rfc.jsonl --queries queries.jsonl 96

`kinds` adds each corpus to four new indexes: with the default settings and with `--for corpus`,
each with and without texts. `units` adds one corpus, compacts it, pushes it into a directory and
pulls it, and searches for the queries. `calls` serves an index and sends it the three requests of a
shard for each query, over one connection, in rounds. It writes the median of each query and request
to `latencies.csv`, and quantiles of the time of a request divided by this median to `noise.csv`.

`grow` adds rounds of `cento-tools repeat --letters`, of which 96 have 10 GB if the corpus is RFC 1
to 2600. At each number of rounds that you name it measures the index, and keeps it as `ROUNDS.idx`
with hard links. Then it compacts it and measures it again, if the disk has room for a second index.
Start it again to go on after it was killed, or after `--minutes`.

Every command has `--cento`, `target/release/cento` by default. Memory is the peak of the process
with the pages of the files that it has mapped. Processor times need Linux.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO, Any

MB = 1e6
REQUESTS = ("frequencies", "candidates", "spans")
LIMIT = 10
# Whole documents and passages. `plant` also writes passages in unrelated texts, which are left out.
KINDS = ("copy", "passage")


@dataclass(frozen=True)
class Usage:
    """What a command used, and what it printed."""

    wall: float
    processor: float
    memory: float
    output: str


def run(command: list[str], stdin: IO[bytes] | None = None) -> Usage:
    """Runs a command.

    Raises:
        SystemExit: The command fails.
    """
    started = time.monotonic()
    with subprocess.Popen(command, stdin=stdin, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None, "it is a pipe"
        output = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    # 1: a search found nothing. 3: some records were refused, and the command has reported them.
    if process.returncode not in (0, 1, 3):
        sys.exit(f"status {process.returncode}: {' '.join(command)}")
    wall = time.monotonic() - started
    return Usage(wall, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024 / MB, output)


def size(directory: Path) -> int:
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


def quantile(ordered: list[float], share: float) -> float:
    """Returns the value that this share of the ordered values does not exceed."""
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def planted(path: Path) -> list[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        return [query for query in map(json.loads, lines) if query["kind"] in KINDS]


def kinds(args: argparse.Namespace) -> None:
    index = Path(args.work) / "kinds.idx"
    print(
        "| kind | MB | documents | default: index without, with texts | ms per MB | MB of memory |",
        end="",
    )
    print(" corpus: index without, with texts | ms per MB | MB of memory |")
    print("|---|---|---|---|---|---|---|---|---|")
    for corpus in args.corpora:
        name, _, paths = corpus.partition("=")
        cells: list[str] = []
        for preset in ("essays", "corpus"):
            shares, costs, peaks = [], [], []
            for text in (["--no-text"], []):
                shutil.rmtree(index, ignore_errors=True)
                command = [args.cento, "add", str(index), *paths.split(","), "--for", preset, *text]
                used = run([*command, "--format", "json"])
                added = json.loads(used.output.splitlines()[-1])
                text_bytes, documents = added["bytes"], added["added"]
                shares.append(f"{size(index) / text_bytes:.2f}")
                costs.append(f"{1000 * used.processor / (text_bytes / MB):.1f}")
                peaks.append(f"{used.memory:.0f}")
            cells += [", ".join(cell) for cell in (shares, costs, peaks)]
        print(
            f"| {name} | {text_bytes / MB:.1f} | {documents:,} | {' | '.join(cells)} |", flush=True
        )
    shutil.rmtree(index, ignore_errors=True)


def units(args: argparse.Namespace) -> None:
    work = Path(args.work)
    index, store, copy = work / "units.idx", work / "units.store", work / "units.copy"
    for path in (index, store, copy):
        shutil.rmtree(path, ignore_errors=True)
    text = ["--no-text"] if args.no_text else []
    print("| step | s wall | s processor | MB of memory | what it made |\n|---|---|---|---|---|")

    def step(name: str, *command: str) -> Usage:
        source = sys.stdin.buffer if "-" in command else None
        used = run([args.cento, *command, "--format", "json"], source)
        print(f"| {name} | {used.wall:.1f} | {used.processor:.1f} | {used.memory:.0f} |", end=" ")
        return used

    def statistics_of(index: Path) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(
            run([args.cento, "stats", str(index), "--format", "json"]).output
        )
        return found

    added = json.loads(step("add", "add", str(index), args.corpus, *text).output.splitlines()[-1])
    segments = statistics_of(index)["segments"]
    print(f"{added['bytes']:,} bytes of text, {size(index):,} of index in {segments} segments |")
    step("compact", "compact", str(index))
    found = statistics_of(index)
    print(f"{size(index):,}: {found['bytes']}; {found['postings']:,} postings |")
    for name, command in (("push", ["push", index, store]), ("pull", ["pull", store, copy])):
        step(name, "store", *map(str, command))
        objects = sum(path.is_file() for path in store.rglob("*"))
        print(f"{objects} objects in the store |", flush=True)
    for path in (store, copy):
        shutil.rmtree(path, ignore_errors=True)
    search(args, index, work)


def search(args: argparse.Namespace, index: Path, work: Path) -> None:
    """Prints the latency of searches by the command, one query after the other, and their time."""
    print("\n| queries | options | number | p50 us | p99 us | processor us a query |")
    print("|---|---|---|---|---|---|")
    rows = planted(Path(args.queries))
    options = {
        "counts only": ["--counts-only"],
        "plain": [],
        "passages": ["--passages"],
        "by weight": ["--counts-only", "--rank", "weight"],
    }
    for kind in KINDS:
        chosen = [json.dumps(row) + "\n" for row in rows if row["kind"] == kind]
        files = work / "once.jsonl", work / "often.jsonl"
        for path, times in zip(files, (1, 1 + args.rounds), strict=True):
            path.write_text("".join(chosen * times), encoding="utf-8")
        for name, chosen_options in options.items():
            command = [args.cento, "search", str(index), "--limit", str(LIMIT), *chosen_options]
            command += ["--format", "json"]
            # The first run reads the pages of the index.
            _, once, often = (run([*command, str(path)]) for path in (files[0], *files))
            times = [json.loads(line)["took_us"] for line in often.output.splitlines()]
            warm = sorted(times[len(chosen) :])
            # The difference leaves out the start of the process.
            cost = 1e6 * (often.processor - once.processor) / (args.rounds * len(chosen))
            p50, p99 = quantile(warm, 0.5), quantile(warm, 0.99)
            print(f"| {kind} | {name} | {len(warm)} | {p50} | {p99} | {cost:.0f} |", flush=True)


def grow(args: argparse.Namespace) -> None:
    """Adds rounds of the corpus, and measures at each number of rounds in `args.stops`."""
    work = Path(args.work)
    index, log = work / "grow.idx", work / "grow.json"
    steps: list[dict[str, Any]] = json.loads(log.read_text()) if log.exists() else []
    started = time.monotonic()
    for stop in sorted(args.stops):
        while (done := sum(step["rounds"] for step in steps)) < stop:
            if time.monotonic() - started > 60 * args.minutes:
                sys.exit(f"{done} rounds are in the index; start the same command to go on")
            # A process that was killed has added a part of these, which are then not added twice.
            steps.append(add_rounds(args, index, done, min(args.each, stop - done)))
            log.write_text(json.dumps(steps, indent=1))
            print(steps[-1], flush=True)
        kept = work / f"{stop}.idx"
        if not kept.exists():
            sums = {unit: sum(step[unit] for step in steps) for unit in ("bytes", "documents")}
            print(f"\n{stop} rounds: {sums['documents']:,} documents, {sums['bytes']:,} bytes\n")
            measure_index(args, index)
            subprocess.run(["cp", "-al", index, kept], check=True)
            if shutil.disk_usage(work).free < 1.2 * size(index):
                print("\nno room to compact", flush=True)
                continue
            print(f"\ncompacted: {run([args.cento, 'compact', str(index)])}")
            measure_index(args, index)


def add_rounds(args: argparse.Namespace, index: Path, skip: int, rounds: int) -> dict[str, Any]:
    corpus = ["repeat", "--base", args.base, "--pieces", args.pieces, "--letters", "--out", "-"]
    corpus += ["--skip", str(skip), "--rounds", str(rounds)]
    add = [args.cento, "add", str(index), "-", "--format", "json"]
    if not index.exists():
        add += args.create.split()
    with subprocess.Popen([args.tools, *corpus], stdout=subprocess.PIPE) as texts:
        used = run(add, texts.stdout)
    added = json.loads(used.output.splitlines()[-1])
    return {
        "rounds": rounds,
        "documents": added["added"] + added.get("unchanged", 0),
        "bytes": added["bytes"],
        "wall": round(used.wall, 1),
        "processor": round(used.processor, 1),
        "memory_mb": round(used.memory),
        "index_bytes": size(index),
    }


def measure_index(args: argparse.Namespace, index: Path) -> None:
    """Prints the size of an index, the cost of a change and the latency of searches."""
    found = json.loads(run([args.cento, "stats", str(index), "--format", "json"]).output)
    print(f"{size(index):,} bytes in {found['segments']} segments; {found['postings']:,} postings")
    document = Path(args.work) / "one.jsonl"
    document.write_text('{"id": "one", "text": "a text of a few words that no other text has"}\n')
    for command in (["add", str(index), str(document)], ["remove", str(index), "one"]):
        print(f"{command[0]} a document: {run([args.cento, *command])}")
    search(args, index, Path(args.work))


class ShardClient:
    """A connection to a service over one shard, which answers as all shards."""

    def __init__(self, address: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=60)

    def ask(self, call: str, body: dict[str, Any]) -> tuple[float, dict[str, Any]]:
        """Returns the microseconds until the answer was there, and the answer."""
        data = json.dumps(body).encode()
        started = time.perf_counter()
        self._connection.request(
            "POST", f"/v1/shard/{call}", data, {"Content-Type": "application/json"}
        )
        reply = self._connection.getresponse()
        answer = reply.read()
        took = 1e6 * (time.perf_counter() - started)
        if reply.status != 200:
            sys.exit(f"{call}: status {reply.status}: {answer.decode()}")
        return took, json.loads(answer)

    def search(self, text: str, sample: dict[str, Any] | None) -> Iterator[float]:
        """Sends the three requests; yields the microseconds of each."""
        search = {"text": text, "limit": LIMIT, "passages": sample is not None}
        took, frequencies = self.ask("frequencies", {"search": search})
        yield took
        # One more than the limit, because the answer says whether there are more.
        body = {"search": search, "frequencies": frequencies, "most": LIMIT + 1}
        took, found = self.ask("candidates", body)
        yield took
        winners = {
            "commit": found["commit"],
            "documents": frequencies["documents"],
            "winners": found["candidates"],
        }
        if sample is not None:
            winners["sample_digest"] = sample["digest"]
        took, spans = self.ask("spans", {"search": search, "winners": winners})
        if spans.get("needs_sample"):
            self.ask("spans", {"search": search, "winners": {**winners, "sample": sample}})
            took, _ = self.ask("spans", {"search": search, "winners": winners})
        yield took


def calls(args: argparse.Namespace) -> None:
    address = f"127.0.0.1:{args.port}"
    command = [args.cento, "serve", args.index, "--listen", address]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as service:
        try:
            wait_for(address, service)
            before, own = processor_time(service.pid), time.process_time()
            measure_calls(args, ShardClient(address))
            used, own = processor_time(service.pid) - before, time.process_time() - own
            queries = planted(Path(args.queries))
            count = (1 + args.rounds) * len(queries)
            print(f"processor time of the service: {1e6 * used / count:.0f} us a query")
            print(f"of the client: {1e6 * own / (count * len(REQUESTS)):.0f} us a request")
            before, shard = processor_time(service.pid), ShardClient(address)
            for query in args.rounds * queries:
                # Most shards have no winner, and are not asked for spans.
                list(islice(shard.search(query["text"], None), 2))
            used = processor_time(service.pid) - before
            print(f"without spans: {1e6 * used / (args.rounds * len(queries)):.0f} us a query")
        finally:
            service.terminate()


def wait_for(address: str, service: subprocess.Popen[bytes]) -> None:
    for _ in range(600):
        if service.poll() is not None:
            sys.exit(f"the service ended with status {service.returncode}; run it by hand")
        try:
            http.client.HTTPConnection(address, timeout=1).request("GET", "/healthz")
        except OSError:
            time.sleep(0.1)
        else:
            return
    sys.exit("the service does not answer")


def processor_time(pid: int) -> float:
    """Returns the seconds that a running process has used, on Linux."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def measure_calls(args: argparse.Namespace, shard: ShardClient) -> None:
    queries = planted(Path(args.queries))
    _, first = shard.ask("frequencies", {"search": {"text": queries[0]["text"]}, "sample": True})
    times: list[list[tuple[float, ...]]] = []
    for number in range(args.rounds + 1):
        found = [tuple(shard.search(query["text"], first["sample"])) for query in queries]
        # The first round reads the pages of the index.
        if number > 0:
            times.append(found)
    medians = [
        tuple(statistics.median(one[call] for one in rounds) for call in range(len(REQUESTS)))
        for rounds in zip(*times, strict=True)
    ]
    out = Path(args.out)
    header = ",".join(REQUESTS) + "\n"
    rows = [",".join(f"{value:.0f}" for value in row) + "\n" for row in medians]
    (out / "latencies.csv").write_text(header + "".join(rows))
    columns = []
    for call, name in enumerate(REQUESTS):
        ratios = sorted(
            row[call] / median[call]
            for found in times
            for row, median in zip(found, medians, strict=True)
        )
        columns.append([ratios[round(at * (len(ratios) - 1) / 200)] for at in range(201)])
        values = sorted(row[call] for found in times for row in found)
        print(f"{name}: p50 {quantile(values, 0.5):.0f} us, p99 {quantile(values, 0.99):.0f} us")
    whole = sorted(sum(row) for found in times for row in found)
    print(f"all three: p50 {quantile(whole, 0.5):.0f} us, p99 {quantile(whole, 0.99):.0f} us")
    rows = [",".join(f"{value:.3f}" for value in row) + "\n" for row in zip(*columns, strict=True)]
    (out / "noise.csv").write_text(header + "".join(rows))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    for name, command in (("kinds", kinds), ("units", units), ("calls", calls), ("grow", grow)):
        own = commands.add_parser(name)
        own.set_defaults(run=command)
        own.add_argument("--cento", default="target/release/cento")
        if name != "calls":
            own.add_argument("--work", required=True)
        if name != "kinds":
            own.add_argument(
                "--queries", required=True, help="the queries, as cento-tools plant wrote them"
            )
            own.add_argument("--rounds", type=int, default=3)
        if name == "kinds":
            own.add_argument("corpora", nargs="+", metavar="NAME=FILE[,FILE]")
        elif name == "grow":
            own.add_argument("--tools", default="target/release/cento-tools")
            own.add_argument("--base", required=True, help="the corpus to repeat: JSON lines")
            own.add_argument("--pieces", default="8000", help="bytes of a document")
            own.add_argument(
                "--create", default="--scheme winnow(k=5,w=100) --no-text", metavar="OPTIONS"
            )
            own.add_argument("--each", type=int, default=96, help="rounds that one `add` adds")
            own.add_argument("--minutes", type=float, default=55, help="when to end before an `add`")
            own.add_argument("stops", nargs="+", type=int, metavar="ROUNDS")
        elif name == "units":
            own.add_argument("--no-text", action="store_true")
            own.add_argument("corpus")
        else:
            own.add_argument("--port", type=int, default=7299)
            own.add_argument("--out", required=True)
            own.add_argument("index")
    args = parser.parse_args()
    args.run(args)


if __name__ == "__main__":
    main()
