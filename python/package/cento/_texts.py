"""Functions without an index: comparison, signatures, deduplication, and lists of the choices."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from . import _native
from ._errors import InputError, InvalidArgumentError
from ._inputs import (
    column,
    column_names,
    many,
    meta_names,
    names,
    no_table,
    paths,
    seconds,
    tables,
    waiting,
)
from ._options import CompareOptions, DedupOptions, Preset, known, names_options
from ._types import (
    AddedIndexes,
    Comparison,
    Family,
    PresetSettings,
    Refusal,
    Signature,
    Verdict,
    comparison_of,
    families_of,
    signature_of,
    verdict_of,
)

if TYPE_CHECKING:
    # Of `typing` from Python 3.11 on; unused at run time.
    from typing_extensions import Unpack

_Item = TypeVar("_Item")
_Path = str | os.PathLike[str]


@names_options(CompareOptions)
def compare(
    a: str,
    b: str,
    *,
    preset: Preset | None = None,
    scheme: str | None = None,
    analyzer: str | None = None,
    bytes: bool = False,
    **options: Unpack[CompareOptions],
) -> Comparison:
    """Compares two texts, as the documents of an index would be compared.

    Args:
        a: The first text, which is the query of the passages.
        b: The second.
        preset: The purpose of the texts, which sets scheme and analyzer: see :func:`presets`.
        scheme: See :func:`schemes`. The default is that of ``preset``, or ``winnow(k=5,w=10)``.
        analyzer: See :func:`analyzers`. The default is that of ``preset``, or ``words``.
        bytes: Give the places of passages in bytes of UTF-8 instead of code points.
        options: Which measures and passages: :class:`CompareOptions`.

    Raises:
        SpecError: A scheme, an analyzer or a measure cannot be used.
        InvalidArgumentError: An option is out of bounds, or there is no such preset.
    """
    named = known({**options}, CompareOptions, "compare")
    if "measures" in named:
        named["measures"] = names(named["measures"], "measures")
    shown, line, used = _native.compare(a, b, preset, scheme, analyzer, bytes, named)
    return comparison_of(shown, line, (a, b), used, bytes)


def sign(
    text: str,
    *,
    preset: Preset | None = None,
    scheme: str | None = None,
    analyzer: str | None = None,
    frequencies: _Path | None = None,
    key_file: _Path | None = None,
) -> Signature:
    """Signs a text: equal texts have equal signatures, on every machine.

    Args:
        text: The text.
        preset: The purpose of the text, which sets scheme and analyzer: see :func:`presets`.
        scheme: See :func:`schemes`. The default is that of ``preset``, or ``winnow(k=5,w=10)``.
        analyzer: See :func:`analyzers`. The default is that of ``preset``, or ``words``.
        frequencies: The file of a frequency table that ``cento method train`` made.
        key_file: The file with the key of keyed indexes, if the fingerprints depend on one.

    Raises:
        SpecError: The scheme or the analyzer cannot be used.
        InputError: The file contains no key, or others can read it.
    """
    return signature_of(_native.sign(text, preset, scheme, analyzer, frequencies, key_file))


def _options(call: str, options: DedupOptions) -> tuple[list[_Path], dict[str, Any]]:
    """The indexes to compare with, and the other options; refuses wrong values."""
    named = known({**options}, DedupOptions, call)
    seconds(named.get("wait"))
    against = named.pop("against", None)
    return [] if against is None else paths(against, "against"), named


def _reads_meta(index: _Path | None, options: dict[str, Any]) -> bool:
    """Whether anything of a run reads the meta objects."""
    chooses = ("prefer", "within", "group_by")
    return index is not None or any(options.get(name) is not None for name in chooses)


@names_options(DedupOptions)
def dedup(
    items: Iterable[_Item],
    *,
    index: _Path | None = None,
    id: str | None = "id",
    text: str = "text",
    meta: str | Sequence[str] | None = None,
    bytes: bool = False,
    **options: Unpack[DedupOptions],
) -> Iterator[tuple[_Item, Verdict]]:
    """Decides for each document, in order, whether it duplicates an earlier one.

    Verdicts are given in the order of the items, some time after they were read: about 1,000
    documents or 4 MiB at a time. They depend on the documents and their order, not on threads. The
    first of several duplicates is kept, unless ``prefer`` says otherwise: then all items are read,
    and held in memory, before the first verdict is given.

    With an index, the documents that are kept are added to it, so that tomorrow's are compared with
    today's. A document that the index has already under its id is no duplicate of itself: with the
    same text it is ``unchanged``, and with another it replaces the old version. They are committed
    when the iterator has come to its end; if it is left before, the index stays at its last commit.
    It commits on the way when the memory is used up.

    Args:
        items: ``str``, ``(id, text)``, ``(id, text, meta)``, or mappings with the fields ``id``,
            ``text`` and, perhaps, others, or documents of an index. Without an id, the number of
            the item from 0 is the id.
        index: The directory of an index to compare with and to add to; created if missing.
        id: The name of the field with the id; ``None`` to number the documents.
        text: The name of the field with the text.
        meta: The fields to keep in the meta object, by which ``prefer``, ``within`` and
            ``group_by`` choose: as for :meth:`Writer.add_many`, all if not given.
        bytes: Give the places that were cut out in bytes of UTF-8 instead of code points.
        options: The definition of a duplicate: :class:`DedupOptions`, such as ``min_resemblance``
            (0.8 if not given).

    Raises:
        InputError: An item is no document.
        InvalidArgumentError: The options contradict each other, or one has no such value.
        OpenError: The index has another scheme or analyzer than what is asked for.
        LockedError: The index has another writer.
    """
    against, named = _options("dedup", options)
    no_table(items, "items", "dedup_arrow")
    given = many(items, "items", "pass [text], or a table to `cento.dedup_arrow`")
    if meta is None and not _reads_meta(index, named):
        meta = "meta"
    fields = (id, text, meta_names(meta))
    run = _native.Dedup(given, fields, index, against, bytes, False, named)
    return _verdicts(run)


@names_options(DedupOptions)
def dedup_arrow(
    data: object,
    *,
    annotate: bool = False,
    index: _Path | None = None,
    id: str | None = None,
    text: str = "text",
    meta: str | Sequence[str] | None = None,
    **options: Unpack[DedupOptions],
) -> _native.Stream:
    """Yields the rows of Arrow data whose text duplicates no earlier row: see :func:`dedup`.

    Rows come out as they went in, with all of their columns, in batches like those that came in. No
    more of the data is in memory than a few batches, so it may be larger than memory by far; all of
    it with ``prefer``.

    Args:
        data: Anything with ``__arrow_c_stream__`` (a table, a reader, a data frame), an iterable of
            batches, a data set, a scanner or a Parquet file of pyarrow, or a data set of Hugging
            Face.
        annotate: Give all rows, and a column ``dedup`` of structs: ``verdict`` (as
            :attr:`Verdict.kind`), ``of``, ``resemblance``, ``containment``, ``kept_as``; with
            ``on_error="skip"`` also ``reason``.
        index: The directory of an index to compare with and to add to; created if missing.
        id: The column of the ids, as for :meth:`Writer.add_arrow`. If it is not named, that is
            ``id``; rows without an id have their numbers, from 0, for ids.
        text: The column of the texts: strings, or bytes of UTF-8. A row without one may have
            ``parts``, as for :meth:`Writer.add_arrow`.
        meta: The columns to keep in the meta object, by which ``prefer``, ``within`` and
            ``group_by`` choose: as for :meth:`Writer.add_arrow`, all further columns if not given.
        options: The definition of a duplicate: :class:`DedupOptions`, such as ``min_resemblance``
            (0.8 if not given).

    Returns:
        An iterator of tables, and a stream for anything that takes ``__arrow_c_stream__``. With
        ``on_error="skip"`` its ``failed`` counts the rows that were no documents, and ``refusals``
        names them, when it has been read.

    Raises:
        InputError: A column is missing or of another type, or a row is no document. It comes when
            that is read, by what reads the stream in its own way.
        InvalidArgumentError: ``data`` gives no Arrow data, the options contradict each other,
            or one has no such value.
        OpenError: The index has another scheme or analyzer than what is asked for.
        LockedError: The index has another writer.
    """
    against, named = _options("dedup_arrow", options)
    if meta is None and not _reads_meta(index, named):
        meta = []
    fields = (id, text, meta_names(meta))
    run = _native.Dedup(tables(data), fields, index, against, True, True, named)
    return _native.kept_rows(run, annotate, options.get("on_error") == "skip")


def _verdicts(run: _native.Dedup) -> Iterator[tuple[Any, Verdict]]:
    try:
        while (found := run.read()) is not None:
            item, (line, shown, kept) = found
            yield item, verdict_of(line, shown, kept)
    except (Exception, GeneratorExit):
        run.close(True)
        raise
    except BaseException:
        run.close(False)
        raise


class Deduper:
    """Deduplication against an index, for ``filter`` and ``map`` of data sets, a batch at a time.

    Each batch is compared with those before it and with itself, and committed: what has been
    filtered is remembered, also tomorrow. So call it once for each batch. With ``id``, a data set
    may be filtered again: what was kept is kept again. Without, nothing tells a document that comes
    again from a duplicate of it.

    ``ds.filter(cento.Deduper("kept.idx", id="id").keep, batched=True)``

    Threads may share it: they take turns. Several processes (``num_proc=2``) each have their own,
    and take turns if ``wait`` is given. Either way the batches come in no certain order, and which
    of two duplicates is kept depends on that order.

    Args:
        index: The directory of the index; created if it does not exist.
        id: The name of the field with the id; ``None`` to number the documents.
        text: The name of the field with the text.
        meta: The fields to keep in the meta object: as for :meth:`Writer.add_many`, all if not
            given.
        options: The definition of a duplicate: :class:`DedupOptions`, such as ``min_resemblance``
            (0.8 if not given), all but ``prefer``.
    """

    @names_options(DedupOptions)
    def __init__(
        self,
        index: _Path,
        *,
        id: str | None = None,
        text: str = "text",
        meta: str | Sequence[str] | None = None,
        **options: Unpack[DedupOptions],
    ) -> None:
        if _options("Deduper", options)[1].get("prefer") is not None:
            raise InvalidArgumentError(
                "`prefer` chooses among all documents, and a `Deduper` sees a batch at a time; use "
                "`cento.dedup` or `cento.dedup_arrow`"
            )
        self.refusals: list[Refusal] = []
        """Items that were no documents and were left out, by number within the batch."""
        self._index = index
        self._id = id
        self._text = text
        self._meta = meta
        self._options = options
        self._turn = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        # A lock is of one process.
        return {name: value for name, value in self.__dict__.items() if name != "_turn"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _turn=threading.Lock())

    def verdicts(self, batch: Mapping[str, Sequence[Any]]) -> list[Verdict]:
        """Returns the verdicts on a batch: a mapping of columns.

        Raises:
            InputError: It is a record, as ``map`` and ``filter`` give it without ``batched=True``,
                or an item is no document: nothing of the batch is committed then.
        """
        items = self._items(batch)
        with self._turn:
            found = dedup(
                items,
                index=self._index,
                id=self._id,
                text=self._text,
                meta=self._meta,
                **self._options,
            )
            verdicts = [verdict for _, verdict in found]
            self.refusals += [
                Refusal(number, verdict.reason)
                for number, verdict in enumerate(verdicts)
                if verdict.reason is not None
            ]
        return verdicts

    def _items(self, batch: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
        """The rows of a batch, as mappings."""
        columns = {self._text: list(column(batch, self._text))}
        if self._id is not None:
            columns[self._id] = list(column(batch, self._id))
        meta = meta_names(self._meta)
        others = column_names(batch) if meta is None else [meta] if isinstance(meta, str) else meta
        for name in others:
            if name not in columns:
                columns[name] = list(column(batch, name))
        rows = len(columns[self._text])
        for name, values in columns.items():
            if len(values) != rows:
                what = f"{len(values)} values of {name!r}, {rows} of {self._text!r}"
                raise InputError(f"the batch: its columns have different lengths: {what}")
        return [{name: values[row] for name, values in columns.items()} for row in range(rows)]

    def keep(self, batch: Mapping[str, Sequence[Any]]) -> list[bool]:
        """Whether each document of a batch is kept."""
        return [verdict.kept for verdict in self.verdicts(batch)]


def merge(
    index: _Path,
    shards: Iterable[_Path],
    *,
    on_conflict: Literal["error", "later"] = "error",
    remove: bool = False,
    wait: float | None = None,
) -> AddedIndexes:
    """Merges finished indexes into one without rebuilding them: all in one commit, or none.

    The segments of the shards are copied or linked into the index, which is created if there is
    none. Repeating it takes nothing twice. An :class:`Index` that is open shows the documents after
    :meth:`Index.reload`.

    Args:
        index: The directory of the index.
        shards: The directories of the indexes to take in, all with the same scheme, analyzer and
            frequency table.
        on_conflict: What happens if an id occurs twice: nothing is merged, or the document of the
            shard that is named later stays.
        remove: Remove the shards once the commit is durable.
        wait: How many seconds to wait for other writers, as for :meth:`Index.writer`.

    Raises:
        OpenError: There is no index at one of the paths, an id occurs twice, or the indexes do not
            fit each other. Nothing has been merged then.
        LockedError: One of them has a writer.
        CorruptError: A shard is damaged.
    """
    named = paths(shards, "shards")
    made = waiting(lambda: _native.merge(index, named, on_conflict, remove), wait)
    return AddedIndexes(**json.loads(made))


def presets() -> list[PresetSettings]:
    """Returns the presets with their settings, in the order of ``cento info presets``."""
    return [PresetSettings(*each) for each in _native.presets()]


def schemes() -> list[Family]:
    """Returns the schemes: ways to choose fingerprints."""
    return families_of("schemes")


def analyzers() -> list[Family]:
    """Returns the analyzers: ways to split text into tokens."""
    return families_of("analyzers")


def measures() -> list[Family]:
    """Returns the measures of similarity, for ``verify`` and :func:`compare`."""
    return families_of("measures")
