"""Peak memory of the driver, the head and the replicas of shards on Ray Serve, in MB.

`shard_memory.py DIRECTORY SHARDS` builds shards of 4,000 synthetic documents (8 MB) that are not
there yet, and searches them. To measure the driver without building, run it twice. Linux only.
"""

from __future__ import annotations

import importlib
import itertools
import random
import sys
from pathlib import Path
from typing import Any

import cento
import cento.ray

WORDS = [f"w{at}" for at in range(50_000)]
WEIGHTS = list(itertools.accumulate(1 / (at + 10) for at in range(50_000)))


def texts_of(shard: int) -> list[str]:
    """Texts of 400 words, a fifth of them near-duplicates of the text before."""
    rng = random.Random(shard)
    texts: list[list[str]] = []
    for _ in range(4_000):
        if texts and rng.random() < 0.2:
            texts.append([w if rng.random() > 0.03 else rng.choice(WORDS) for w in texts[-1]])
        else:
            texts.append(rng.choices(WORDS, cum_weights=WEIGHTS, k=400))
    return [" ".join(words) for words in texts]


def memory_of(process: Path) -> dict[str, int]:
    lines = (line.split() for line in (process / "status").read_text().splitlines())
    kinds = {"VmHWM:": "peak", "RssAnon:": "own"}
    return {kinds[line[0]]: int(line[1]) // 1024 for line in lines if line[0] in kinds}


def main(directory: Path, count: int) -> None:
    ray: Any = importlib.import_module("ray")
    shards = [directory / f"shard-{at}.idx" for at in range(count)]
    for at, shard in enumerate(shards):
        if not shard.exists():
            with cento.Index(shard, create=True).writer() as w:
                w.add_many((f"{at}-{number}", text) for number, text in enumerate(texts_of(at)))
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    options: dict[str, Any] = {"ray_actor_options": {"num_cpus": 0}, "timeout": 120.0}
    head = cento.ray.serve_shards(shards, name="memory", **options)
    for text in texts_of(0)[:60]:
        head.search.remote(text, passages=True, limit=10).result()
    print("driver", memory_of(Path("/proc/self")))
    for place in Path("/proc").glob("[0-9]*/cmdline"):
        title = place.read_bytes().decode(errors="replace")
        if "ServeReplica:memory:" in title:
            print(title.split(":")[-1].strip("\0"), memory_of(place.parent))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
