"""Spark builds, searches, pairs and deduplicates: data frames in, data frames out.

Needs pyspark 4 or later and pyarrow, and paths that the driver and all executors see. Executors
build, search and find pairs; merging and clusters are the driver's work, with all of its
processors.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Literal

from . import parts as _parts
from ._types import AddedIndexes

_Path = str | os.PathLike[str]


def build(
    df: Any,
    index: _Path,
    *,
    id: str = "id",
    text: str = "text",
    meta: Sequence[str] | None = None,
    parts: int | None = None,
    on_conflict: Literal["error", "later"] = "error",
    **settings: Any,
) -> AddedIndexes:
    """Builds an index of a data frame: a part in each partition, which the driver merges.

    Rows are partitioned by their ids. Tasks that fail, are killed or run twice change nothing.

    Args:
        df: The documents.
        index: The directory of the index; created if there is none, added to if there is one.
        id: The column of the ids. Of rows with the same id in a partition the last stays.
        text: The column of the texts.
        meta: The columns to keep in the meta object; ``[]`` for none. All further columns if not
            given, as for :meth:`cento.Writer.add_arrow`.
        parts: The number of partitions; Spark chooses it if it is not given.
        on_conflict: What happens if the index has an id already: see :func:`cento.merge`.
        settings: Other arguments of :class:`cento.Index`, of a new index.
    """
    where = os.fspath(_parts.directory_of(index))
    names = None if meta is None else list(meta)

    def write(batches: Iterable[Any]) -> Iterator[Any]:
        pa: Any = importlib.import_module("pyarrow")
        part = _parts.write_part(batches, where, id=id, text=text, meta=names, **settings)
        if part is not None:
            yield pa.RecordBatch.from_pydict({"part": [part]})

    rows = df if names is None else df.select(id, text, *names)
    rows = rows.repartition(id) if parts is None else rows.repartition(parts, id)
    try:
        written = [row["part"] for row in rows.mapInArrow(write, "part string").collect()]
    except BaseException:
        _parts.remove_parts(index)
        raise
    return _parts.merge_parts(index, written, on_conflict=on_conflict)


def search(df: Any, index: _Path, *, text: str = "text", id: str = "id", **options: Any) -> Any:
    """Searches an index for each text of a data frame.

    Args:
        df: The queries.
        index: The directory of the index.
        text: The column of the texts.
        id: The column that names them, which becomes ``query``.
        options: Arguments of :meth:`cento.Index.search_many`, such as ``limit``.

    Returns:
        A data frame with a row for each hit, of the columns :data:`cento.parts.HITS`.
    """
    path = os.fspath(index)

    def find(batches: Iterable[Any]) -> Iterator[Any]:
        return _parts.search_batches(batches, path, text=text, id=id, threads=1, **options)

    return df.select(id, text).mapInArrow(find, _parts.HITS)


def dedup(
    df: Any,
    index: _Path,
    *,
    id: str = "id",
    text: str = "text",
    min_resemblance: float = 0.8,
    prefer: str = "oldest",
    parts: int | None = None,
    **settings: Any,
) -> Any:
    """Returns the rows of a data frame without duplicates.

    Builds an index, finds its clusters, and leaves out all but one document of each:
    what :meth:`cento.Index.clusters` finds on one machine.

    Args:
        df: The documents.
        index: The directory of a new index.
        id: The column of the ids, which are unique.
        text: The column of the texts.
        min_resemblance: The least resemblance to the document that stays, 0 to 1.
        prefer: Which document of a cluster stays: ``longest``, ``oldest`` (the order of parts), or
            a column, of which the least value is preferred, with ``-`` before it the greatest.
        parts: As for :func:`build`.
        settings: Other arguments of :class:`cento.Index`.
    """

    def build_with(meta: list[str]) -> object:
        return build(df, index, id=id, text=text, meta=meta, parts=parts, **settings)

    found = _parts.dropped(build_with, index, prefer=prefer, min_resemblance=min_resemblance)
    if not found:
        return df
    pa: Any = importlib.import_module("pyarrow")
    dropped = df.sparkSession.createDataFrame(pa.table({"dropped": found}))
    return df.join(dropped, df[id].cast("string") == dropped["dropped"], "left_anti")


def pairs(session: Any, index: _Path, *, parts: int | None = None, **options: Any) -> Any:
    """Finds the pairs of an index with the executors, as a data frame.

    Args:
        session: The Spark session.
        index: The directory of the index, to which nobody writes meanwhile.
        parts: The number of tasks; four for each processor of the cluster if not given.
        options: Arguments of :meth:`cento.Index.pairs`, but for ``rank`` and ``limit``.

    Returns:
        A data frame with a row for each pair, of the columns :data:`cento.parts.PAIRS`.
    """
    path = os.fspath(index)
    count = parts or 4 * session.sparkContext.defaultParallelism

    def find(batches: Iterable[Any]) -> Iterator[Any]:
        for batch in batches:
            for at in batch["id"].to_pylist():
                yield _parts.pairs_of_part(path, (at, count), **{"threads": 1, **options})

    return session.range(0, count, 1, count).mapInArrow(find, _parts.PAIRS)
