"""Spark builds, searches, pairs, deduplicates and decontaminates data frames.

Needs pyspark 4 or later and pyarrow. To build and to search, the driver and all executors need
paths that they all see, and the driver merges. Pairs, duplicates and questions of benchmarks
need no index and no path.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, Literal

from . import parts as _parts
from ._decontaminate import Benchmarks, least_left
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


def pairs(
    df: Any, *, id: str = "id", text: str = "text", partitions: int | None = None, **options: Any
) -> Any:
    """Finds the pairs of the documents of a data frame, without an index.

    They are the pairs that :meth:`cento.Index.pairs` finds in an index of the documents, with the
    smaller id first. No executor holds more than its partition, and the driver holds no documents.
    Rows are read several times.

    Args:
        df: The documents.
        id: The column of the ids, which are unique.
        text: The column of the texts.
        partitions: The number of partitions of each exchange; that of the session if not given
            (``spark.sql.shuffle.partitions``). The more, the less memory a task takes.
        options: ``preset``, ``scheme``, ``analyzer`` and ``frequencies`` as for
            :class:`cento.Index`; ``min_overlap``, ``min_containment``, ``min_resemblance``,
            ``min_similarity`` and ``max_df`` as for :meth:`cento.Index.pairs`.

    Returns:
        A data frame with a row for each pair, of the columns :data:`cento.parts.PAIRS`.
    """
    from . import _joins

    given = _joins.allowed(options, _joins.SETTINGS + _joins.THRESHOLDS, "pairs")
    source = _joins.Source(id, text, None, given, False)
    return _joins.pairs(_Engine(df.sparkSession, partitions), df.select(id, text), source)


def dedup(
    df: Any,
    *,
    id: str = "id",
    text: str = "text",
    prefer: str | None = None,
    partitions: int | None = None,
    **options: Any,
) -> Any:
    """Returns the rows of a data frame without duplicates, without an index.

    They are the documents that :func:`cento.dedup` keeps of the same documents in the order of
    preference: a document is dropped if it duplicates one before it that is kept. No executor holds
    more than its partition, and the driver holds no documents. The ids of dropped rows stay on the
    disks of the executors until the session ends.

    Args:
        df: The documents. Rows are read several times.
        id: The column of the ids, which are unique.
        text: The column of the texts.
        prefer: Which of several duplicates stays: ``longest``, or the one with the least value in
            this column of numbers, with ``-`` before it the greatest. Among equals, and if it is
            not given, the smallest id.
        partitions: As for :func:`pairs`.
        options: ``preset``, ``scheme``, ``analyzer``, ``min_resemblance`` and ``exact`` as for
            :func:`cento.dedup`.
    """
    from . import _joins

    given = _joins.allowed(options, _joins.DUPLICATES, "dedup")
    source = _joins.Source(id, text, prefer, given, True)
    columns = [id, text, *([] if source.column is None else [source.column])]
    engine = _Engine(df.sparkSession, partitions)
    gone = _joins.dropped(engine, df.select(*columns), source).withColumnRenamed("id", "dropped")
    return df.join(gone, df[id].cast("string") == gone["dropped"], "left_anti")


def decontaminate(
    df: Any,
    against: Benchmarks,
    *,
    text: str = "text",
    annotate: bool = False,
    cut_passages: bool = False,
    min_left: int | None = None,
    partitions: int | None = None,
) -> Any:
    """Returns the rows of a data frame without those in which questions of benchmarks occur.

    They are the rows that the command ``cento decontaminate`` writes for the same documents. A row
    stays if its words of a question are common in the whole data set, such as a quotation. Rows
    are read twice. The driver and each task hold the questions, and a number for each word of the
    questions. No executor holds more than its partition.

    Args:
        df: The documents.
        against: The questions.
        text: The column of the texts, each a string.
        annotate: Give all rows, and a column ``decontaminate`` of verdicts: as for
            :func:`cento.decontaminate_arrow`, and ``common`` for rows that only have common words.
        cut_passages: Keep rows in which questions occur, without the passages where they do.
        min_left: With ``cut_passages``, leave out a row if fewer than this number of words are
            left; 5 if not given.
        partitions: As for :func:`pairs`.
    """
    from . import _questions

    least = least_left(annotate, cut_passages, min_left)
    engine = _Engine(df.sparkSession, partitions)
    counts = _questions.counts(engine, df.select(text), against, text)
    columns = df.schema
    if annotate:
        types: Any = importlib.import_module("pyspark.sql.types")
        verdicts = types.StructType.fromDDL(_questions.ANNOTATION)
        columns = types.StructType([*columns.fields, *verdicts.fields])
    step = partial(_questions.decide, against, counts, text, annotate, least)
    return df.mapInArrow(step, columns)


def findings(
    df: Any,
    against: Benchmarks,
    *,
    id: str = "id",
    text: str = "text",
    bytes: bool = False,
    partitions: int | None = None,
) -> Any:
    """Returns the places of questions of benchmarks in the documents of a data frame.

    They are those of :func:`cento.decontaminate` in the same documents, with the verdicts of
    :meth:`cento.Benchmarks.weigh`, and those that ``cento decontaminate --documents`` lists.

    Args:
        df: The documents. Rows are read twice.
        against: The questions.
        id: The column of the ids.
        text: The column of the texts, each a string.
        bytes: Give places in bytes of UTF-8 instead of code points.
        partitions: As for :func:`pairs`.

    Returns:
        A data frame with a row for each place, of the columns :data:`cento.parts.FINDINGS`.
    """
    from . import _questions

    engine = _Engine(df.sparkSession, partitions)
    rows = df.select(id, text)
    counts = _questions.counts(engine, rows, against, text)
    step = partial(_questions.find, against, counts, id, text, bytes)
    return engine.map(rows, step, _parts.FINDINGS)


class _Engine:
    """What a join needs of Spark."""

    def __init__(self, session: Any, partitions: int | None) -> None:
        given = session.conf.get("spark.sql.shuffle.partitions")
        self.partitions: int = int(given) if partitions is None else partitions

    def map(self, rows: Any, step: Any, columns: str) -> Any:
        return rows.mapInArrow(step, columns)

    def exchange(
        self, rows: Any, by: Sequence[str], step: Any, columns: str, order: Sequence[str] = ()
    ) -> Any:
        moved = rows.repartition(self.partitions, *by) if by else rows.repartition(1)
        sorted_rows = moved.sortWithinPartitions(*by, *order) if by else moved
        return sorted_rows.mapInArrow(step, columns)

    def union(self, first: Any, second: Any) -> Any:
        return first.union(second)

    def hold(self, rows: Any) -> Any:
        pyspark: Any = importlib.import_module("pyspark")
        return rows.persist(pyspark.StorageLevel.DISK_ONLY)

    def release(self, rows: Any) -> None:
        rows.unpersist()

    def count(self, rows: Any) -> int:
        return int(rows.count())

    def read(self, rows: Any) -> list[dict[str, Any]]:
        return [row.asDict() for row in rows.collect()]
