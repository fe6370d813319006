"""Computes what an index of 10, 100 or 1,000 TB of text costs, from units measured on one machine.

    python3 research/scale/cost.py              all tables, in Markdown
    python3 research/scale/cost.py --searches 200

`measure.py` measured the units, and this program only multiplies them, so each result is as good as
the assumption that a unit stays the same: nothing larger than `SHARD` was run. `fan_out` simulates
a search over many nodes, with `latencies.csv` and `noise.csv`. Equal arguments give equal tables.

A search has three rounds of requests. All nodes are asked for frequencies, then for candidates, and
those with winners for spans. A round takes as long as its slowest request. A query is drawn from
the measured ones, and takes the same time on all nodes, because a long query is long everywhere.
Each request multiplies this time by a noise of its own, and some straggle. A node with more shards
than cores takes that many times as long but for the noise, and a search waits for those before it.
"""

from __future__ import annotations

import argparse
import csv
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

GB, TB, MIB = 1e9, 1e12, 1 << 20


@dataclass(frozen=True)
class CostUnit:
    """A number to multiply with, and where it comes from."""

    name: str
    value: float
    unit: str
    source: str


def table(*units: CostUnit) -> dict[str, CostUnit]:
    return {unit.name: unit for unit in units}


SHARD = 10 * GB

MEASURED = table(
    CostUnit("add", 20.2, "processor s per GB of text", "units"),
    CostUnit("compact", 3.26, "processor s per GB of text", "units"),
    CostUnit("push", 2.23, "processor s per GB of index", "units"),
    CostUnit("index with texts", 0.543, "of the text", "units"),
    CostUnit("index without texts", 0.209, "of the text", "units, after compact"),
    CostUnit("memory of add", 2941, "MB, peak with mapped files", "units"),
    CostUnit("objects beside parts", 7, "a push of one segment", "units"),
    CostUnit("service", 847, "processor us per query and shard, without spans", "calls"),
    CostUnit("client", 342, "processor us per request", "calls"),
)

ASSUMED = table(
    CostUnit("cores", 8, "per node", "a node with local disks, such as i4i.2xlarge"),
    CostUnit("memory", 64, "GiB per node", "the same"),
    CostUnit("disk", 1875, "GB per node", "the same"),
    CostUnit("network", 1000, "MB/s per node", "10 Gbit/s, less a fifth"),
    CostUnit("node price", 0.686, "dollars per hour", "its price on demand, not looked up"),
    CostUnit("put price", 0.005, "dollars per 1,000", "S3, list price"),
    CostUnit("get price", 0.0004, "dollars per 1,000", "S3, list price"),
    CostUnit("storage price", 0.023, "dollars per GB and month", "S3, list price"),
    CostUnit("busy while building", 0.8, "of the cores", "two cores: see units"),
    CostUnit("usable", 0.8, "of memory and disk", "the rest for the system"),
    CostUnit("busy while searching", 0.5, "of the cores", "so that searches seldom wait"),
    CostUnit("queries", 100, "per second", "the goal"),
    CostUnit("goal", 50, "ms, for 99 of 100 searches", "the goal"),
    CostUnit("round trip", 0.5, "ms per round", "within a zone"),
    CostUnit("straggling", 0.001, "of the requests", "a pause of the machine"),
    CostUnit("straggling time", 100, "ms, mean of an exponential", "a pause of the machine"),
)

PART_BYTES = 16 * MIB
# The winners of a search with `limit` 10, and one that tells whether there are more.
WINNERS = 11


def measured(name: str) -> float:
    return MEASURED[name].value


def assumed(name: str) -> float:
    return ASSUMED[name].value


@dataclass(frozen=True)
class ShardTimes:
    """The times of the three requests to one shard."""

    queries: list[tuple[float, float, float]]
    """For each measured query the milliseconds for frequencies, candidates and spans."""

    noise: list[list[float]]
    """For each request, quantiles of the factor by which one request is slower than the median."""

    @classmethod
    def read(cls, directory: Path) -> ShardTimes:
        rows = numbers(directory / "latencies.csv")
        queries = [(row[0] / 1000, row[1] / 1000, row[2] / 1000) for row in rows]
        return cls(
            queries,
            [list(column) for column in zip(*numbers(directory / "noise.csv"), strict=True)],
        )

    def quiet(self) -> ShardTimes:
        """Returns the times without noise, as on machines without other work."""
        return ShardTimes(self.queries, [[1.0]] * 3)


def numbers(path: Path) -> list[list[float]]:
    with path.open(newline="") as lines:
        rows = csv.reader(lines)
        next(rows)
        return [[float(cell) for cell in row] for row in rows]


def quantile(ordered: Sequence[float], share: float) -> float:
    """Returns the value at a share of the ordered values, between two of them in proportion."""
    place = share * (len(ordered) - 1)
    below = int(place)
    if below + 1 == len(ordered):
        return ordered[below]
    return ordered[below] + (place - below) * (ordered[below + 1] - ordered[below])


def request_time(
    rng: random.Random, base: float, slowdown: float, noise: Sequence[float]
) -> Callable[[], float]:
    """Returns a function that draws the time of a request.

    The noise is a delay by other work of the machine, so it does not grow with the slowdown.
    """
    work = base * (slowdown - 1)
    straggling, mean = assumed("straggling"), assumed("straggling time")
    uniform, steps = rng.random, len(noise)

    def draw() -> float:
        time = work + base * noise[int(uniform() * steps)]
        return time + rng.expovariate(1 / mean) if uniform() < straggling else time

    return draw


@dataclass(frozen=True)
class Fleet:
    """The nodes that a search asks."""

    nodes: int
    shards_per_node: int = 1
    hedge: bool = False
    queries_per_second: float = 0.0

    def slowdown(self) -> float:
        """Returns how many times as long as one shard all shards of a node take."""
        return max(1.0, self.shards_per_node / assumed("cores"))


@dataclass(frozen=True)
class FanOut:
    """What a simulation found, in milliseconds."""

    p50: float
    p99: float
    sent_twice: float
    """The share of the requests that were sent to a second replica."""


def slowest(
    draw: Callable[[], float], requests: int, hedge_after: float | None
) -> tuple[float, int]:
    """Returns the time of the slowest request, and how many were sent twice.

    A request that takes longer than `hedge_after` is sent to another replica too, and the first
    answer counts.
    """
    worst, twice = 0.0, 0
    for _ in range(requests):
        time = draw()
        if hedge_after is not None and time > hedge_after:
            twice += 1
            time = min(time, hedge_after + draw())
        worst = max(worst, time)
    return worst, twice


def waiting_times(services: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """Returns how long each search waits for those before it, if one is served at a time (Lindley).

    `gaps` are the times between the arrivals of two searches.
    """
    waits, wait = [], 0.0
    for service, gap in zip(services, gaps, strict=True):
        waits.append(wait)
        wait = max(0.0, wait + service - gap)
    return waits


def hedge_delay(times: ShardTimes, call: int, slowdown: float) -> float:
    """Returns the milliseconds that 99 of 100 requests do not exceed, unless they straggle."""
    queries, noise = sorted(query[call] for query in times.queries), times.noise[call]
    shares = [(step + 0.5) / 100 for step in range(100)]
    factors = [slowdown - 1 + quantile(noise, share) for share in shares]
    bases = [quantile(queries, share) for share in shares]
    return quantile(sorted(base * factor for base in bases for factor in factors), 0.99)


def fan_out(times: ShardTimes, fleet: Fleet, searches: int, seed: int = 1) -> FanOut:
    """Simulates searches over all nodes of a fleet."""
    rng = random.Random(seed)
    slowdown = fleet.slowdown()
    slowdowns = (slowdown, slowdown, 1.0)
    targets = (fleet.nodes, fleet.nodes, min(fleet.nodes, WINNERS))
    asked = [rng.choice(times.queries) for _ in range(searches)]
    hedges = [hedge_delay(times, call, slowdown) for call, slowdown in enumerate(slowdowns)]
    waits = [0.0] * searches
    if fleet.queries_per_second > 0:
        gaps = [1000 * rng.expovariate(fleet.queries_per_second) for _ in asked]
        waits = waiting_times([slowdown * (query[0] + query[1]) for query in asked], gaps)
    totals, twice = [], 0
    for query, wait in zip(asked, waits, strict=True):
        total = wait
        for call in range(3):
            draw = request_time(rng, query[call], slowdowns[call], times.noise[call])
            worst, again = slowest(draw, targets[call], hedges[call] if fleet.hedge else None)
            total += worst + assumed("round trip")
            twice += again
        totals.append(total)
    totals.sort()
    return FanOut(quantile(totals, 0.5), quantile(totals, 0.99), twice / (searches * sum(targets)))


@dataclass(frozen=True)
class BuildCost:
    """What building an index with texts takes."""

    core_hours: float
    nodes: int
    limit: str
    index: float
    index_without_texts: float
    puts: float
    dollars: float
    request_dollars: float
    storage_dollars: float


def most(limits: dict[str, float]) -> tuple[int, str]:
    """Returns the greatest number of nodes that a limit asks for, and this limit."""
    name = max(limits, key=lambda limit: limits[limit])
    return math.ceil(limits[name]), name


def build_cost(text: float) -> BuildCost:
    index = text * measured("index with texts")
    seconds = text / GB * (measured("add") + measured("compact")) + index / GB * measured("push")
    cores = assumed("cores") * assumed("busy while building")
    disk = assumed("disk") * GB * assumed("usable")
    nodes, limit = most(
        {
            "processor": seconds / 3600 / cores,
            # The text comes in and the index goes out.
            "network": (text + index) / 3600 / (assumed("network") * 1e6),
            # Compaction needs the index twice.
            "disk": 2 * index / disk,
        }
    )
    shards = math.ceil(text / SHARD)
    puts = index / PART_BYTES + shards * measured("objects beside parts")
    return BuildCost(
        seconds / 3600,
        nodes,
        limit,
        index,
        text * measured("index without texts"),
        puts,
        nodes * assumed("node price"),
        puts / 1000 * assumed("put price"),
        index / GB * assumed("storage price"),
    )


def nodes_for_goal(times: ShardTimes, cost: SearchCost, searches: int) -> str:
    """Returns how many nodes answer 99 of 100 hedged searches within the goal."""
    for times_as_many in (1, 2, 4):
        nodes = times_as_many * cost.fleet.nodes
        fleet = replace(
            cost.fleet, nodes=nodes, shards_per_node=math.ceil(cost.shards / nodes), hedge=True
        )
        if fan_out(times, fleet, searches).p99 <= assumed("goal"):
            return f"{2 * nodes:,}"
    return f"over {2 * nodes:,}"


@dataclass(frozen=True)
class SearchCost:
    """What answering queries with passages takes, with one copy of each shard."""

    shards: int
    fleet: Fleet
    limit: str
    cores: float
    head_cores: float
    dollars: float


def search_cost(text: float) -> SearchCost:
    shards = math.ceil(text / SHARD)
    rate = assumed("queries")
    cores = shards * rate * measured("service") / 1e6
    signatures = text * measured("index without texts")
    nodes, limit = most(
        {
            "processor": cores / (assumed("cores") * assumed("busy while searching")),
            "memory": signatures / (assumed("memory") * 1024 * MIB * assumed("usable")),
            "disk": text
            * measured("index with texts")
            / (assumed("disk") * GB * assumed("usable")),
        }
    )
    # Each shard is asked for frequencies and candidates, and few for spans.
    head_cores = rate * (2 * shards + WINNERS) * measured("client") / 1e6
    per_core = assumed("node price") / assumed("cores")
    dollars = (
        nodes * assumed("node price") + head_cores / assumed("busy while searching") * per_core
    )
    fleet = Fleet(nodes, math.ceil(shards / nodes), False, rate)
    return SearchCost(shards, fleet, limit, cores, head_cores, dollars)


def short(value: float) -> str:
    """Writes a number with three digits, and commas."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    rounded = round(value, 2 - math.floor(math.log10(abs(value))))
    return f"{rounded:,.{min(digits, 4)}f}"


def print_units() -> None:
    print("| measured | value | unit | by |\n|---|---|---|---|")
    for unit in MEASURED.values():
        print(f"| {unit.name} | {short(unit.value)} | {unit.unit} | {unit.source} |")
    print("\n| assumed | value | unit | because |\n|---|---|---|---|")
    for unit in ASSUMED.values():
        print(f"| {unit.name} | {unit.value:g} | {unit.unit} | {unit.source} |")


def print_costs(times: ShardTimes, sizes: Sequence[float], searches: int) -> None:
    built = [build_cost(size) for size in sizes]
    searched = [search_cost(size) for size in sizes]
    plain = [fan_out(times, cost.fleet, searches) for cost in searched]
    hedged = [fan_out(times, replace(cost.fleet, hedge=True), searches) for cost in searched]
    quiet = [fan_out(times.quiet(), replace(cost.fleet, hedge=True), searches) for cost in searched]
    rows: list[tuple[str, list[str]]] = [
        ("core hours to build", [short(cost.core_hours) for cost in built]),
        ("nodes to build in an hour, limit", [f"{cost.nodes:,}, {cost.limit}" for cost in built]),
        ("dollars to build", [short(cost.dollars) for cost in built]),
        (
            "index without, with texts, TB",
            [f"{short(cost.index_without_texts / TB)}, {short(cost.index / TB)}" for cost in built],
        ),
        (
            "PUT requests of the push, dollars",
            [f"{short(cost.puts)}, {short(cost.request_dollars)}" for cost in built],
        ),
        (
            "GET requests of a pull, dollars",
            [
                f"{short(cost.puts)}, {short(cost.puts / 1000 * assumed('get price'))}"
                for cost in built
            ],
        ),
        ("dollars to store the index, a month", [short(cost.storage_dollars) for cost in built]),
        (f"shards of {SHARD / GB:.0f} GB", [f"{cost.shards:,}" for cost in searched]),
        ("nodes to search, limit", [f"{cost.fleet.nodes:,}, {cost.limit}" for cost in searched]),
        (
            "cores busy in shards, in heads",
            [f"{short(cost.cores)}, {short(cost.head_cores)}" for cost in searched],
        ),
        ("search p50, p99, ms", [f"{one.p50:.0f}, {one.p99:.0f}" for one in plain]),
        ("the same, hedged: p50, p99, ms", [f"{one.p50:.0f}, {one.p99:.0f}" for one in hedged]),
        ("hedged, without noise: p50, p99, ms", [f"{one.p50:.0f}, {one.p99:.0f}" for one in quiet]),
        (
            "nodes with two copies, for a p99 of 50 ms without noise",
            [nodes_for_goal(times.quiet(), cost, searches) for cost in searched],
        ),
        ("dollars to search, an hour, one copy", [short(cost.dollars) for cost in searched]),
        ("two copies, which hedging needs", [short(2 * cost.dollars) for cost in searched]),
    ]
    print(
        "\n| |",
        " | ".join(f"{size / TB:,.0f} TB" for size in sizes),
        "|\n|---|" + "---|" * len(sizes),
    )
    for name, cells in rows:
        print(f"| {name} | {' | '.join(cells)} |")


def print_fan_out(times: ShardTimes, searches: int) -> None:
    alone = [sum(query) for query in times.queries]
    print(f"\nThe three requests to one shard without noise: mean {fmean(alone):.2f} ms")
    print("\n| nodes | p50, p99, ms | hedged | sent twice | hedged, without noise |")
    print("|---|---|---|---|---|")
    for nodes in (1, 10, 100, 1000):
        hedging = Fleet(nodes, hedge=True)
        plain = fan_out(times, Fleet(nodes), searches)
        hedged = fan_out(times, hedging, searches)
        quiet = fan_out(times.quiet(), hedging, searches)
        print(
            f"| {nodes:,} | {plain.p50:.1f}, {plain.p99:.1f} | {hedged.p50:.1f}, {hedged.p99:.1f} |"
            f" {100 * hedged.sent_twice:.1f} % | {quiet.p50:.1f}, {quiet.p99:.1f} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--searches", type=int, default=500, help="simulated searches for each row")
    args = parser.parse_args()
    times = ShardTimes.read(Path(__file__).parent)
    print_units()
    print_costs(times, (10 * TB, 100 * TB, 1000 * TB), args.searches)
    print_fan_out(times, args.searches)


if __name__ == "__main__":
    main()
