"""Checks answers while eight threads search and a ninth writes.

    python threads.py [QUERIES]

Every commit replaces all documents of some groups, and removes and adds some, so a model says
what each commit holds. A text that all documents of a group share must find all of them, of one
version: one that was committed when the search began, or one that was being committed until it
ended. Every number of each hit is checked, and the number of documents. Prints the queries, the
commits and the seconds; the exit status is 1 if an answer was wrong. 100,000 queries if not said
otherwise.
"""

from __future__ import annotations

import random
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

import cento

THREADS = 8
GROUPS = 40
MEMBERS = 5
# Of these groups documents come and go.
CHANGING = 10


def words(rng: random.Random, count: int) -> str:
    return " ".join(f"w{rng.getrandbits(32):x}" for _ in range(count))


@dataclass
class World:
    """The documents written, and the answers found."""

    index: cento.Index
    queries: int
    # Of each group its shared text, and the versions last committed and being written.
    shared: list[str] = field(default_factory=list[str])
    committed: list[int] = field(default_factory=list[int])
    writing: list[int] = field(default_factory=list[int])
    answered: int = 0
    commits: int = 0
    wrong: list[str] = field(default_factory=list[str])
    lock: threading.Lock = field(default_factory=threading.Lock)

    def is_over(self) -> bool:
        return self.answered >= self.queries or bool(self.wrong)


def present(group: int, version: int) -> set[str]:
    """The members of a group in a version of it."""
    if group >= CHANGING:
        return {f"{group}-{at}" for at in range(MEMBERS)}
    return {f"{group}-{at}" for at in range(MEMBERS) if (version + at) % 3 != 0}


def write(world: World, groups: list[int], rng: random.Random) -> None:
    """One commit of a new version of some groups."""
    with world.index.writer() as w:
        for group in groups:
            version = world.writing[group] = world.committed[group] + 1
            stay = present(group, version)
            for at in range(MEMBERS):
                id = f"{group}-{at}"
                if id in stay:
                    own = words(rng, 20 + at)
                    w.add(id, f"{world.shared[group]} {own}", {"version": version})
                elif version > 0:
                    w.remove(id)
    for group in groups:
        world.committed[group] = world.writing[group]
    world.commits += 1


def check(world: World, group: int) -> str | None:
    """Searches for a group; describes the fault of the answer, if any."""
    before = world.committed[group]
    answer = world.index.search(world.shared[group], limit=MEMBERS + 5, min_containment=0.9)
    after = world.writing[group]
    versions = {hit.meta["version"] for hit in answer}
    if len(versions) != 1:
        return f"group {group}: versions {versions} in one answer"
    (version,) = versions
    if not before <= version <= after:
        return f"group {group}: version {version} is not of {before} to {after}"
    found = {hit.id for hit in answer}
    if found != present(group, version):
        return f"group {group}, version {version}: {sorted(found)}"
    for hit in answer:
        if hit.containment_of_a != 1.0 or hit.overlap != answer.fingerprints:
            return f"group {group}: {hit}"
    return None


def search(world: World, seed: int) -> None:
    rng = random.Random(seed)
    done = 0
    try:
        while not world.is_over():
            said = check(world, rng.randrange(GROUPS))
            if said is not None:
                world.wrong.append(said)
            done += 1
            if done == 50:
                with world.lock:
                    world.answered += done
                done = 0
    except BaseException as error:
        world.wrong.append(repr(error))


def run(directory: str, queries: int) -> World:
    rng = random.Random(17)
    world = World(cento.Index(f"{directory}/i", create=True), queries)
    for _ in range(GROUPS):
        # Long enough to have fingerprints that do not depend on what follows.
        world.shared.append(words(rng, 60))
        world.committed.append(-1)
        world.writing.append(-1)
    write(world, list(range(GROUPS)), rng)
    threads = [threading.Thread(target=search, args=(world, seed)) for seed in range(THREADS)]
    for thread in threads:
        thread.start()
    try:
        while not world.is_over():
            write(world, rng.sample(range(GROUPS), 8), rng)
    except BaseException as error:
        world.wrong.append(repr(error))
        raise
    finally:
        for thread in threads:
            thread.join()
    expected = set[str]().union(*(present(at, world.committed[at]) for at in range(GROUPS)))
    if set(world.index.ids()) != expected or len(world.index) != len(expected):
        world.wrong.append(f"at the end there are {len(world.index)} documents")
    return world


def main() -> None:
    queries = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as directory:
        world = run(directory, queries)
    seconds = time.perf_counter() - started
    print(f"{world.answered} queries by {THREADS} threads", end=", ")
    print(f"{world.commits} commits, {seconds:.0f} s")
    for said in world.wrong[:10]:
        print(f"wrong: {said}")
    sys.exit(1 if world.wrong else 0)


if __name__ == "__main__":
    main()
