"""Joins of a data set that no machine has whole: the order of the steps, for every engine.

A pair above a threshold shares some of the rarest fingerprints of its texts (prefix filtering).
So the engine counts the documents with each fingerprint, brings those texts together that share
rare ones, and sends the texts of a pair to one place, where the library decides. What a task holds
depends on the number of partitions, and the driver holds numbers about them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Protocol

from . import _join_rows as columns
from . import _join_steps as steps
from . import _join_texts as texts
from ._errors import InvalidArgumentError
from ._join_rows import Source as Source
from .parts import PAIRS

Step = Callable[[Iterator[Any]], Iterator[Any]]
"""Takes the batches of a task and gives others."""

SETTINGS = ("preset", "scheme", "analyzer", "frequencies")
THRESHOLDS = ("min_overlap", "min_containment", "min_resemblance", "min_similarity", "max_df")
DUPLICATES = ("preset", "scheme", "analyzer", "min_resemblance", "exact")

_EDGES_OF_ONE_TASK = 1_000_000
"""So many edges are decided in one task. Rounds over all tasks leave few, but do not end soon if
each document of a long row resembles only its neighbors."""

_HEAVY = 100
"""A fingerprint is heavy if its rows are more than one in so many of the rows of a partition, and
more than :data:`_HEAVY_LEAST`."""

_HEAVY_LEAST = 1_000


class Engine(Protocol):
    """What a join needs of an engine. Rows are data sets of the engine."""

    partitions: int

    def map(self, rows: Any, step: Step, columns: str) -> Any:
        """Applies a step to the batches of each task."""
        ...

    def exchange(
        self, rows: Any, by: Sequence[str], step: Step, columns: str, order: Sequence[str] = ()
    ) -> Any:
        """Brings rows that agree in the columns `by` to one task, sorted by these and then by
        `order`, and applies the step. All rows go to one task if `by` is empty."""
        ...

    def union(self, first: Any, second: Any) -> Any:
        """Returns the rows of both, which have the same columns."""
        ...

    def hold(self, rows: Any) -> Any:
        """Computes rows that are read more than once, and keeps them on the disks."""
        ...

    def release(self, rows: Any) -> None:
        """Removes held rows that nothing reads any more."""
        ...

    def count(self, rows: Any) -> int:
        """Returns the number of rows."""
        ...

    def read(self, rows: Any) -> list[dict[str, Any]]:
        """Returns a few rows."""
        ...


def allowed(options: Mapping[str, Any], names: Sequence[str], call: str) -> dict[str, Any]:
    """Returns the options that are given.

    Raises:
        InvalidArgumentError: A verdict on two texts alone could not be that of one machine.
    """
    for name in options:
        if name not in names:
            raise InvalidArgumentError(
                f"`{call}` of a data set has no option `{name}`, because each task decides about "
                f"two texts, without the other documents; it has {', '.join(names)}. For others, "
                "build an index with `build`, and ask it on one machine"
            )
    return {name: value for name, value in options.items() if value is not None}


def pairs(engine: Engine, rows: Any, source: Source) -> Any:
    """Finds the pairs of a data set: rows of the columns :data:`cento.parts.PAIRS`."""
    refuse_repeated_ids(engine, rows, source)
    documents = engine.count(rows)
    limit = source.signer.df_limit(documents)
    source = with_heavy(engine, rows, dataclasses.replace(source, df_limit=limit))
    listed = shared_keys(engine, rows, source)
    sent = engine.map(rows, partial(texts.read_texts, source), columns.TEXTS)
    if limit < documents:
        listed = engine.hold(listed)
        stopped = partial(steps.find_stopped, limit)
        sent = engine.union(sent, engine.exchange(listed, ["t"], stopped, columns.TEXTS))
    sent = sent_texts(engine, engine.union(sent, candidates(engine, listed, source)), source)
    settings = {name: source.options[name] for name in SETTINGS if name in source.options}
    thresholds = {name: source.options[name] for name in THRESHOLDS if name in source.options}
    compare = partial(texts.compare_pairs, settings, thresholds)
    return engine.exchange(sent, ["place"], compare, PAIRS)


def dropped(engine: Engine, rows: Any, source: Source) -> Any:
    """Finds the ids of the documents that a deduplication drops: rows of a column `id`."""
    refuse_repeated_ids(engine, rows, source)
    copies = engine.map(rows, partial(texts.read_copies, source), columns.COPIES)
    if not source.options.get("exact"):
        source = with_heavy(engine, rows, source)
        sent = engine.map(rows, partial(texts.read_texts, source), columns.TEXTS)
        chosen = candidates(engine, shared_keys(engine, rows, source), source)
        sent = sent_texts(engine, engine.union(sent, chosen), source)
        judge = partial(texts.judge_pairs, source.options)
        edges = engine.exchange(sent, ["place"], judge, columns.EDGES)
        for part in decided(engine, engine.hold(edges)):
            copies = engine.union(copies, engine.map(part, texts.mark_dropped, columns.COPIES))
    return engine.hold(
        engine.exchange(copies, ["t"], texts.drop_copies, columns.IDS, order=["rank"])
    )


def refuse_repeated_ids(engine: Engine, rows: Any, source: Source) -> None:
    """Refuses a data set in which an id occurs twice.

    Raises:
        InvalidArgumentError: It does.
    """
    ids = engine.map(rows, partial(texts.read_ids, source), columns.IDS)
    repeated = engine.read(engine.exchange(ids, ["id"], texts.find_repeated_ids, columns.IDS))
    if repeated:
        raise InvalidArgumentError(
            f"the id {repeated[0]['id']!r} occurs more than once in `{source.id}`; give each "
            "document an id of its own"
        )


def with_heavy(engine: Engine, rows: Any, source: Source) -> Source:
    """Counts the documents with each fingerprint, and adds the heavy ones to the source.

    They are at most 100 for each partition, however large the data set is.
    """
    counted = engine.map(rows, partial(steps.count_keys, source), columns.COUNTS)
    counts = engine.hold(engine.exchange(counted, ["key"], steps.add_counts, columns.COUNTS))
    total = sum(row["n"] for row in engine.read(engine.map(counts, steps.total, columns.COUNTS)))
    bound = max(_HEAVY_LEAST, total // (_HEAVY * engine.partitions))
    heavy = engine.read(engine.map(counts, partial(steps.heavier_than, bound), columns.COUNTS))
    engine.release(counts)
    return dataclasses.replace(source, heavy={row["key"]: row["n"] for row in heavy})


def shared_keys(engine: Engine, rows: Any, source: Source) -> Any:
    """Lists the fingerprints that several texts share, with their document frequencies."""
    keys = engine.map(rows, partial(steps.list_keys, source), columns.KEYS)
    leave = partial(steps.leave_shared, source.df_limit)
    return engine.exchange(keys, ["key", "salt"], leave, columns.LISTED, order=["t"])


def candidates(engine: Engine, listed: Any, source: Source) -> Any:
    """Finds the pairs of texts that may be similar enough, by their rarest fingerprints."""
    is_mutual = source.signer.is_mutual()
    post = partial(steps.post_rarest, source.df_limit, is_mutual)
    posted = engine.exchange(listed, ["t"], post, columns.POSTINGS, order=["df", "key"])
    pair = partial(steps.pair_listed, is_mutual)
    shared = engine.exchange(posted, ["key", "cell"], pair, columns.SHARED)
    return engine.exchange(shared, ["a", "b"], steps.choose_pairs, columns.TEXTS)


def sent_texts(engine: Engine, rows: Any, source: Source) -> Any:
    """Sends the texts of pairs to the places where they are compared."""
    send = partial(texts.send_texts, engine.partitions, source.is_dedup)
    return engine.exchange(rows, ["t"], send, columns.SENT, order=["side"])


def decided(engine: Engine, edges: Any) -> Iterator[Any]:
    """Decides which texts are dropped: those that duplicate an earlier one that is kept.

    A text that duplicates no undecided one is kept, so all that duplicate it are dropped, and their
    edges with them, which leaves others without. Few rounds leave few edges.
    """
    while engine.count(edges) > _EDGES_OF_ONE_TASK:
        ends = engine.map(edges, texts.both_ends, columns.EDGES)
        new = engine.hold(engine.exchange(ends, ["t"], texts.drop_later, columns.EDGES))
        yield new
        for _ in range(2):
            # By the later text, and then by the earlier.
            marked = engine.union(edges, new)
            edges = engine.exchange(marked, ["t"], texts.leave_undecided, columns.EDGES)
        edges = engine.hold(edges)
    yield engine.exchange(edges, [], texts.decide, columns.EDGES)
