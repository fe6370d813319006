"""Ray Data builds, searches, pairs, deduplicates and decontaminates; Ray Serve searches shards.

Needs ray[data] and pyarrow, or ray[serve] for :func:`serve_shards`. To build and to search, the
driver and all workers need paths that they all see, and the driver merges. Pairs, duplicates and
questions of benchmarks need no index and no path.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Literal

from . import parts as _parts
from ._decontaminate import Benchmarks, least_left
from ._ray_shards import serve_shards as serve_shards
from ._types import AddedIndexes

_Path = str | os.PathLike[str]


def build(
    ds: Any,
    index: _Path,
    *,
    id: str = "id",
    text: str = "text",
    meta: Sequence[str] | None = None,
    parts: int | None = None,
    on_conflict: Literal["error", "later"] = "error",
    **settings: Any,
) -> AddedIndexes:
    """Builds an index of a data set: a part of each block, which the driver merges.

    Tasks that fail, are killed or run twice change nothing.

    Args:
        ds: The documents.
        index: The directory of the index; created if there is none, added to if there is one.
        id: The column of the ids, which are unique.
        text: The column of the texts.
        meta: The columns to keep in the meta object; ``[]`` for none. All further columns if not
            given, as for :meth:`cento.Writer.add_arrow`.
        parts: The number of blocks; as the data set has them if not given.
        on_conflict: What happens if an id occurs twice: see :func:`cento.merge`.
        settings: Other arguments of :class:`cento.Index`, of a new index.
    """
    where = os.fspath(_parts.directory_of(index))
    names = None if meta is None else list(meta)

    def write(block: Any) -> dict[str, list[str]]:
        part = _parts.write_part(block, where, id=id, text=text, meta=names, **settings)
        return {"part": [] if part is None else [part]}

    blocks = ds if parts is None else ds.repartition(parts)
    try:
        made = blocks.map_batches(
            write, batch_size=None, batch_format="pyarrow", zero_copy_batch=True
        )
        written = [row["part"] for row in made.take_all()]
    except BaseException:
        _parts.remove_parts(index)
        raise
    return _parts.merge_parts(index, written, on_conflict=on_conflict)


def search(ds: Any, index: _Path, *, text: str = "text", id: str = "id", **options: Any) -> Any:
    """Searches an index for each text of a data set.

    Args:
        ds: The queries.
        index: The directory of the index.
        text: The column of the texts.
        id: The column that names them, which becomes ``query``.
        options: Arguments of :meth:`cento.Index.search_many`, such as ``limit``.

    Returns:
        A data set with a row for each hit, of the columns :data:`cento.parts.HITS`.
    """
    path = os.fspath(index)

    def find(block: Any) -> Any:
        pa: Any = importlib.import_module("pyarrow")
        found = _parts.search_batches([block], path, text=text, id=id, threads=1, **options)
        return pa.Table.from_batches(list(found))

    return ds.map_batches(find, batch_format="pyarrow", zero_copy_batch=True)


def pairs(
    ds: Any, *, id: str = "id", text: str = "text", partitions: int = 64, **options: Any
) -> Any:
    """Finds the pairs of the documents of a data set, without an index.

    They are the pairs that :meth:`cento.Index.pairs` finds in an index of the documents, with the
    smaller id first. No worker holds more than its partition, and the driver holds no documents.
    The data set is read several times.

    Args:
        ds: The documents.
        id: The column of the ids, which are unique.
        text: The column of the texts.
        partitions: The number of partitions of each exchange. The more, the less memory a task
            takes.
        options: ``preset``, ``scheme``, ``analyzer`` and ``frequencies`` as for
            :class:`cento.Index`; ``min_overlap``, ``min_containment``, ``min_resemblance``,
            ``min_similarity`` and ``max_df`` as for :meth:`cento.Index.pairs`.

    Returns:
        A data set with a row for each pair, of the columns :data:`cento.parts.PAIRS`.
    """
    from . import _joins

    given = _joins.allowed(options, _joins.SETTINGS + _joins.THRESHOLDS, "pairs")
    source = _joins.Source(id, text, None, given, False)
    return _joins.pairs(_Engine(partitions), ds.select_columns([id, text]), source)


def dedup(
    ds: Any,
    *,
    id: str = "id",
    text: str = "text",
    prefer: str | None = None,
    partitions: int = 64,
    **options: Any,
) -> Any:
    """Returns the rows of a data set without duplicates, without an index.

    They are the documents that :func:`cento.dedup` keeps of the same documents in the order of
    preference: a document is dropped if it duplicates one before it that is kept. No worker holds
    more than its partition, and the driver holds no documents.

    Args:
        ds: The documents. The data set is read several times.
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
    gone = _joins.dropped(_Engine(partitions), ds.select_columns(columns), source)
    return _without(ds, gone, id, partitions)


def _without(ds: Any, gone: Any, id: str, partitions: int) -> Any:
    """Returns the rows whose ids are not among these."""
    pa: Any = importlib.import_module("pyarrow")

    def named(table: Any) -> Any:
        return table.append_column("_cento_id", table[id].cast(pa.string()))

    def renamed(table: Any) -> Any:
        return table.rename_columns(["_cento_id"])

    left = ds.map_batches(named, batch_format="pyarrow", zero_copy_batch=True)
    right = gone.map_batches(renamed, batch_format="pyarrow", zero_copy_batch=True)
    kept = left.join(right, "left_anti", partitions, on=("_cento_id",))
    return kept.drop_columns(["_cento_id"])


def decontaminate(
    ds: Any,
    against: Benchmarks,
    *,
    text: str = "text",
    annotate: bool = False,
    cut_passages: bool = False,
    min_left: int | None = None,
    partitions: int = 64,
) -> Any:
    """Returns the rows of a data set without those in which questions of benchmarks occur.

    They are the rows that the command ``cento decontaminate`` writes for the same documents. A row
    stays if its words of a question are common in the whole data set, such as a quotation. Rows
    are read twice. The driver and each task hold the questions, and a number for each word of the
    questions. No worker holds more than its partition.

    Args:
        ds: The documents.
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
    rows = ds.select_columns([text])
    counts = _questions.counts(_Engine(partitions), rows, against, text)
    step = partial(_questions.decide, against, counts, text, annotate, least)
    return ds.map_batches(partial(_decided, step), batch_format="pyarrow", zero_copy_batch=True)


def _decided(step: Any, table: Any) -> Any:
    """Applies a step that keeps the columns, even if a block has no rows."""
    pa: Any = importlib.import_module("pyarrow")
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return pa.Table.from_batches(list(step(iter(batches))))


def findings(
    ds: Any,
    against: Benchmarks,
    *,
    id: str = "id",
    text: str = "text",
    bytes: bool = False,
    partitions: int = 64,
) -> Any:
    """Returns the places of questions of benchmarks in the documents of a data set.

    They are those of :func:`cento.decontaminate` in the same documents, with the verdicts of
    :meth:`cento.Benchmarks.weigh`, and those that ``cento decontaminate --documents`` lists.

    Args:
        ds: The documents. Rows are read twice.
        against: The questions.
        id: The column of the ids.
        text: The column of the texts, each a string.
        bytes: Give places in bytes of UTF-8 instead of code points.
        partitions: As for :func:`pairs`.

    Returns:
        A data set with a row for each place, of the columns :data:`cento.parts.FINDINGS`.
    """
    from . import _questions

    engine = _Engine(partitions)
    rows = ds.select_columns([id, text])
    counts = _questions.counts(engine, rows, against, text)
    step = partial(_questions.find, against, counts, id, text, bytes)
    return engine.map(rows, step, _parts.FINDINGS)


class _Engine:
    """What a join needs of Ray Data."""

    def __init__(self, partitions: int) -> None:
        self.partitions = partitions

    def map(self, rows: Any, step: Any, columns: str) -> Any:
        return rows.map_batches(
            partial(_applied, step, columns, ()), batch_format="pyarrow", zero_copy_batch=True
        )

    def exchange(
        self, rows: Any, by: Sequence[str], step: Any, columns: str, order: Sequence[str] = ()
    ) -> Any:
        if not by:
            return self.map(rows.repartition(1), step, columns)
        marked = rows.map_batches(
            partial(_with_partition, list(by), self.partitions),
            batch_format="pyarrow",
            zero_copy_batch=True,
        )
        grouped = marked.groupby(_PARTITION, num_partitions=self.partitions)
        work = partial(_applied, step, columns, (*by, *order))
        return grouped.map_groups(work, batch_format="pyarrow")

    def union(self, first: Any, second: Any) -> Any:
        return first.union(second)

    def hold(self, rows: Any) -> Any:
        return rows.materialize()

    def release(self, rows: Any) -> None:
        # Ray removes blocks that nothing refers to.
        pass

    def count(self, rows: Any) -> int:
        return int(rows.count())

    def read(self, rows: Any) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = rows.take_all()
        return found


_PARTITION = "_cento_partition"


def _with_partition(by: list[str], partitions: int, table: Any) -> Any:
    """Adds the number of the partition, which depends on the values of these columns alone."""
    pa: Any = importlib.import_module("pyarrow")
    pandas: Any = importlib.import_module("pandas")
    hashes = pandas.util.hash_pandas_object(table.select(by).to_pandas(), index=False)
    numbers = (hashes.to_numpy() % partitions).astype("int32")
    return table.append_column(_PARTITION, pa.array(numbers))


def _applied(step: Any, columns: str, order: tuple[str, ...], table: Any) -> Iterator[Any]:
    """Applies a step to a table, sorted if there is an order."""
    from . import _join_rows

    pa: Any = importlib.import_module("pyarrow")
    if _PARTITION in table.column_names:
        table = table.drop_columns([_PARTITION])
    if order:
        table = table.sort_by([(name, "ascending") for name in order])
    for batch in step(iter(table.to_batches())):
        yield pa.Table.from_batches([batch])
    # So that columns are known even if there are no rows.
    yield _join_rows.schema_of(columns).empty_table()
