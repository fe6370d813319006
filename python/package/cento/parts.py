"""Work on batches of Arrow, for engines that share it out: Spark, Ray, Dask and others.

These functions know nothing of an engine: each takes batches and gives batches or a name. Paths are
on a file system that all processes see.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from ._index import Index
from ._texts import merge
from ._types import AddedIndexes

_Path = str | os.PathLike[str]

HITS = (
    "query string, rank long, id string, overlap long, fingerprints long, "
    "containment_of_a double, containment_of_b double, resemblance double, "
    "standard_error double, exact boolean, meta string"
)
"""The columns that :func:`search_batches` gives, in the words of Spark."""

PAIRS = (
    "a string, b string, overlap long, containment_of_a double, containment_of_b double, "
    "resemblance double, standard_error double, exact boolean, fingerprints_a long, "
    "fingerprints_b long, tokens_a long, tokens_b long, score double, "
    "category string"
)
"""The columns that :func:`pairs_of_part` gives, in the words of Spark."""

FINDINGS = (
    "document string, benchmark string, question string, common boolean, share double, "
    "own_share double, tokens long, carriers long, start long, end long, page long, line long, "
    "answer boolean"
)
"""The columns of the places of questions in documents, in the words of Spark: those of
:class:`cento.Finding`, after the id of the document."""


def directory_of(index: _Path) -> Path:
    """The directory for the parts of an index that is being built: beside it."""
    return Path(f"{os.fspath(index)}.parts")


def write_part(
    batches: Iterable[object],
    directory: _Path,
    *,
    id: str = "id",
    text: str = "text",
    meta: str | Sequence[str] | None = None,
    **settings: Any,
) -> str | None:
    """Writes an index of some batches, under a name that no other has.

    An attempt that fails leaves nothing behind; one that is killed leaves a directory that nobody
    names.

    Args:
        batches: The documents: record batches or tables.
        directory: Where to write it; created if it does not exist.
        id: The column of the ids.
        text: The column of the texts.
        meta: The columns to keep in the meta object, or the one struct column that is it: as for
            :meth:`cento.Writer.add_arrow`, all further columns if not given.
        settings: Other arguments of :class:`cento.Index`, the same for all parts.

    Returns:
        The path of the part; ``None`` if there are no documents.
    """
    Path(directory).mkdir(parents=True, exist_ok=True)
    path = Path(directory) / f"part-{uuid.uuid4().hex}"
    try:
        index = Index(path, create=True, **settings)
        with index.writer() as w:
            w.add_arrow(batches, id=id, text=text, meta=meta)
        if len(index) > 0:
            return str(path)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
    shutil.rmtree(path)
    return None


def merge_parts(
    index: _Path,
    parts: Iterable[str],
    *,
    on_conflict: Literal["error", "later"] = "error",
) -> AddedIndexes:
    """Merges parts into an index, and removes their directory with all that is left in it.

    Args:
        index: The directory of the index; created if there is none.
        parts: What :func:`write_part` gave in the attempts that count. Attempts that were killed,
            or ran twice, are not named and change nothing.
        on_conflict: What happens if an id occurs twice: see :func:`cento.merge`.
    """
    named = sorted(parts)
    try:
        return merge(index, named, on_conflict=on_conflict)
    finally:
        shutil.rmtree(directory_of(index), ignore_errors=True)


def search_batches(
    batches: Iterable[Any], index: _Path, *, text: str = "text", id: str = "id", **options: Any
) -> Iterator[Any]:
    """Searches for the texts of batches.

    Args:
        batches: Record batches of pyarrow.
        index: The directory of the index.
        text: The column of the texts to look for.
        id: The column that names them; it becomes the column ``query``.
        options: Arguments of :meth:`cento.Index.search_many`.

    Yields:
        A record batch of hits for each batch: ``query``, ``rank`` (from 1), ``id``, ``overlap``,
        ``fingerprints``, ``containment_of_a``, ``containment_of_b``, ``resemblance``,
        ``standard_error``, ``exact``, ``meta`` (JSON).
    """
    pa: Any = importlib.import_module("pyarrow")
    opened = Index(index)
    for batch in batches:
        found = pa.table(opened.search_many(batch[text].to_pylist(), to_arrow=True, **options))
        queries = batch[id].cast(pa.string()).take(found["query"])
        yield _plain(found.drop_columns(["passages"]).set_column(0, "query", queries))


def pairs_of_part(index: _Path, part: tuple[int, int], **options: Any) -> Any:
    """Returns the pairs that a part of the documents finds: all parts together find all pairs.

    Args:
        index: The directory of the index, to which nobody writes meanwhile.
        part: The number of the part, from 0, and how many there are.
        options: Other arguments of :meth:`cento.Index.pairs`, such as ``min_resemblance``.

    Returns:
        A record batch of pyarrow with the columns :data:`PAIRS`.
    """
    pa: Any = importlib.import_module("pyarrow")
    return _plain(pa.table(Index(index).pairs(part=part, to_arrow=True, **options)))


def _plain(table: Any) -> Any:
    """A table as one batch, also if it is empty, without unsigned numbers, which engines lack."""
    pa: Any = importlib.import_module("pyarrow")
    for at, field in enumerate(table.schema):
        if pa.types.is_unsigned_integer(field.type):
            table = table.set_column(at, field.name, table[at].cast(pa.int64()))
    table = table.combine_chunks()
    empty = pa.RecordBatch.from_pylist([], schema=table.schema)
    return table.to_batches()[0] if len(table) > 0 else empty


def remove_parts(index: _Path) -> None:
    """Removes the parts of a failed build."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(directory_of(index))
