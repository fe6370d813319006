"""Ray Data builds, searches, pairs and deduplicates, and Ray Serve searches shards.

Needs ray[data] and pyarrow, or ray[serve] for :func:`serve_shards`, and paths that the driver and
all workers see. Workers build, search and find pairs; merging and clusters are the driver's work,
with all of its processors.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Sequence
from typing import Any, Literal

from . import parts as _parts
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


def dedup(
    ds: Any,
    index: _Path,
    *,
    id: str = "id",
    text: str = "text",
    min_resemblance: float = 0.8,
    prefer: str = "oldest",
    parts: int | None = None,
    **settings: Any,
) -> Any:
    """Returns the rows of a data set without duplicates.

    Builds an index, finds its clusters, and leaves out all but one document of each:
    what :meth:`cento.Index.clusters` finds on one machine.

    Args:
        ds: The documents.
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
        return build(ds, index, id=id, text=text, meta=meta, parts=parts, **settings)

    found = _parts.dropped(build_with, index, prefer=prefer, min_resemblance=min_resemblance)
    if not found:
        return ds
    # All tasks of a machine share a copy.
    ray: Any = importlib.import_module("ray")
    shared = ray.put(frozenset(found))

    def keep(block: Any) -> Any:
        pa: Any = importlib.import_module("pyarrow")
        gone = ray.get(shared)
        ids = block[id].cast(pa.string()).to_pylist()
        return block.filter(pa.array([each not in gone for each in ids], pa.bool_()))

    return ds.map_batches(keep, batch_format="pyarrow", zero_copy_batch=True)


def pairs(index: _Path, *, parts: int | None = None, **options: Any) -> Any:
    """Finds the pairs of an index with the workers, as a data set.

    Args:
        index: The directory of the index, to which nobody writes meanwhile.
        parts: The number of parts of the work; four for each processor of the cluster if not given.
        options: Arguments of :meth:`cento.Index.pairs`, but for ``rank`` and ``limit``.

    Returns:
        A data set with a row for each pair, of the columns :data:`cento.parts.PAIRS`.
    """
    ray: Any = importlib.import_module("ray")
    data: Any = importlib.import_module("ray.data")
    path = os.fspath(index)
    count = parts or 4 * max(1, int(ray.cluster_resources().get("CPU", 1)))

    def find(block: Any) -> Any:
        pa: Any = importlib.import_module("pyarrow")
        numbers = block["id"].to_pylist()
        found = [
            _parts.pairs_of_part(path, (at, count), **{"threads": 1, **options}) for at in numbers
        ]
        return pa.Table.from_batches(found)

    numbers = data.range(count, override_num_blocks=count)
    return numbers.map_batches(find, batch_format="pyarrow", zero_copy_batch=True)
