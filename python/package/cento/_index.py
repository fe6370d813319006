"""An index, and its writer."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, overload

from . import _native
from ._errors import UnknownIdError
from ._families import Families, Lineage, families_of_passages, lineage_of
from ._inputs import many, meta_names, place, seconds, skips, tables, waiting, whole
from ._options import (
    ClusterOptions,
    FamilyOptions,
    LineageOptions,
    PairOptions,
    Preset,
    SearchOptions,
    WithdrawOptions,
    known,
    names_options,
)
from ._types import (
    AddReport,
    Answer,
    Answers,
    CheckReport,
    Cluster,
    Compaction,
    Document,
    Pair,
    Part,
    Parts,
    Problem,
    RepeatedPassage,
    Signature,
    Stats,
    cluster_of,
    pair_of,
    repeated_of,
    report_of,
    signature_of,
    signed,
    stats_of,
)
from ._watches import Watches

if TYPE_CHECKING:
    from typing_extensions import Unpack

Id = str | int | float
"""The id of a document: a ``str`` of 1 to 1,024 bytes without control characters, or a number,
which is taken for what JSON writes; a whole one, such as ``3.0``, for its decimal digits."""

Meta = Mapping[str, Any]
"""The meta object of a document: any JSON object, at most 64 KiB. Filters query it."""

Item = tuple[Id | None, str] | tuple[Id | None, str, Meta | None] | Mapping[str, Any] | Document
"""A document: ``(id, text)``, ``(id, text, meta)``, a mapping with these fields, or a
:class:`Document` of an index."""


OnError = Literal["raise", "skip"]

_T = TypeVar("_T")


class Index:
    """A directory of documents and their signatures.

    It shows one commit: the last one when it was opened, or when this object's writer committed or
    :meth:`compact` ended since. Later commits of others are seen after :meth:`reload`.
    Any number of threads may share it. It can be sent to other processes, which open it again and
    show the last commit of that time.

    Args:
        path: The directory.
        create: Create the index if there is none. Without it a missing index is an error.
        preset: The purpose of a new index, which sets its scheme, its analyzer and defaults of
            later calls: see :func:`cento.presets`. An index that exists must have this one.
        scheme: How fingerprints are chosen, of a new index: see :func:`cento.schemes`. The default
            is that of ``preset``, or ``winnow(k=5,w=10)``. An index that exists must have this one.
        analyzer: How text is split into tokens: see :func:`cento.analyzers`. The default is that of
            ``preset``, or ``words``.
        store_text: Whether texts are stored, which passages need. The default is ``True``.
        store_signatures: Whether signatures are stored. The default is ``True``; ``False``, for an
            index with texts, makes a smaller index that takes longer for estimates, joins and
            searches for stored documents, and gives the same answers.
        novelty: Whether the member ``cento_novelty`` of the ``meta`` of each added document says
            how much of it the index did not have before. The default is ``False``.
        max_df: Fingerprints in more documents bring up none: a number of documents, or a share such
            as ``0.01``. The default is the larger of 10,000 and a thousandth of all.
        frequencies: The file of a frequency table that ``cento method train`` made, for schemes
            that need one.
        key_file: The file with the key of a keyed index, 32 hexadecimal digits that others cannot
            read. A new index then has fingerprints that depend on it, and stores no texts unless
            ``store_text`` is ``True``.

    Raises:
        InputError: The file contains no key, or others can read it.
        OpenError: There is no index, or it has other settings, or another version made it.
        SpecError: The scheme or the analyzer cannot be used.
        CorruptError: The index is damaged.
    """

    __slots__ = ("_native",)

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        create: bool = False,
        preset: Preset | None = None,
        scheme: str | None = None,
        analyzer: str | None = None,
        store_text: bool | None = None,
        store_signatures: bool | None = None,
        novelty: bool | None = None,
        max_df: float | str | None = None,
        frequencies: str | os.PathLike[str] | None = None,
        key_file: str | os.PathLike[str] | None = None,
    ) -> None:
        self._native = _native.Index(
            path,
            create,
            preset,
            scheme,
            analyzer,
            store_text,
            store_signatures,
            novelty,
            max_df,
            frequencies,
            key_file,
        )

    @property
    def path(self) -> str:
        """The directory."""
        return os.fspath(self._native.path)

    @property
    def preset(self) -> str | None:
        """The preset that the index was created with, if any.

        Its ranking is the default of searches, its threshold that of pairs, clusters and
        deduplication: see :func:`cento.presets`.
        """
        return self._native.preset

    @property
    def scheme(self) -> str:
        """The specification of the scheme, with all parameters."""
        return self._native.scheme

    @property
    def analyzer(self) -> str:
        """The specification of the analyzer, with all parameters."""
        return self._native.analyzer

    @property
    def stores_text(self) -> bool:
        """Whether texts are stored."""
        return self._native.stores_text

    @property
    def stores_signatures(self) -> bool:
        """Whether signatures are stored; if not, they are made of the texts again."""
        return self._native.stores_signatures

    @property
    def records_novelty(self) -> bool:
        """Whether the ``meta`` of each added document says how much of it was new."""
        return self._native.records_novelty

    def __fspath__(self) -> str:
        """The directory, so that an index may stand where its path may."""
        return self.path

    def __len__(self) -> int:
        """The number of documents."""
        return self._native.count()

    def __bool__(self) -> bool:
        return True

    def __contains__(self, id: object) -> bool:
        """Whether there is a document with this id."""
        return self._native.has(id)

    def __iter__(self) -> Iterator[str]:
        """The ids of all documents, as those of a ``dict``; :meth:`documents` has the documents.

        They are of one commit, in the order of the index, and are read on the way.
        """
        return _each(self._native.each_id())

    def __getitem__(self, id: Id) -> Document:
        """The document with this id.

        Raises:
            UnknownIdError: There is none; it is a ``KeyError``.
        """
        found = self.get(id)
        if found is None:
            error = UnknownIdError(f"no document has the id {id!r}")
            error.id, error.reason = str(id), "unknown_id"
            raise error
        return found

    def get(self, id: Id) -> Document | None:
        """Returns the document with this id; ``None`` if the index has no such document."""
        found = self._native.document(id)
        return None if found is None else _document(found)

    def ids(self) -> list[str]:
        """Returns the ids of all documents, in the order of the index."""
        return self._native.ids()

    def documents(self, *, filter: str | None = None) -> Iterator[Document]:
        """Gives the documents, one after the other, in the order of the index.

        They are of one commit, whatever is written meanwhile, and few are in memory at a time.
        :meth:`Writer.add_many` and :func:`cento.dedup` take them.

        Args:
            filter: Only documents that match, such as ``"lang:en"``: as that of
                :meth:`search`.

        Raises:
            InvalidArgumentError: The filter cannot be used.
            CorruptError: A file is damaged.
        """
        return map(_document, _each(self._native.documents(filter)))

    def to_arrow(self, *, filter: str | None = None) -> _native.Stream:
        """Returns the documents as a stream of Arrow data, in the order of the index.

        They are of one commit, and a few batches are in memory at a time. The columns are ``id``,
        ``text``, ``parts`` (a list of structs with ``name`` and ``text``), ``meta`` (JSON),
        ``tokens``, and ``added``, the time of addition. As for :meth:`Writer.add_arrow`, which
        takes such a stream with ``meta="meta"``, a document with parts has them in the place of its
        text.

        Args:
            filter: Only documents that match, as for :meth:`documents`.

        Raises:
            InvalidArgumentError: The filter cannot be used.
            CorruptError: A file is damaged.
        """
        return self._native.rows(filter)

    def reload(self) -> None:
        """Switches to the last commit of any process.

        Answers, pairs and clusters that were begun before are of the commit before.
        """
        self._native.reload()

    def writer(self, *, memory: int | None = None, wait: float | None = None) -> Writer:
        """Opens the writer for a ``with`` block; the end of the block commits everything.

        Args:
            memory: The memory for documents on their way, in bytes; 512 MiB if not given.
            wait: How many seconds to wait for another writer to end, in this process or another;
                not at all if not given.
        """
        seconds(wait)
        return Writer(self._native.writer(whole("memory", memory)), wait)

    def open_writer(self, *, memory: int | None = None, wait: float | None = None) -> Writer:
        """Opens the writer where no ``with`` block fits: until :meth:`Writer.close`.

        Args:
            memory: As for :meth:`writer`.
            wait: As for :meth:`writer`.

        Raises:
            LockedError: There is another writer, in this process or another.
        """
        return self.writer(memory=memory, wait=wait)._opened()

    @names_options(SearchOptions)
    def search(
        self,
        text: str | None = None,
        *,
        parts: Parts | None = None,
        id: Id | None = None,
        signature: Signature | None = None,
        bytes: bool = False,
        **options: Unpack[SearchOptions],
    ) -> Answer:
        """Finds the documents that share text with a query.

        Every number of a hit is exact, and the hits are those that brute force finds, but for
        documents that share stop-fingerprints only (``Answer.stopped``).

        Args:
            text: The text to look for; or
            parts: the parts of the text, such as the files of a submission: passages name the part
                that they are in; or
            id: the stored document to look for, which is not among the hits; or
            signature: what :func:`cento.sign` or :meth:`sign` made of a text.
            bytes: Give the places of passages in bytes of UTF-8 instead of code points.
            **options: What counts as a hit, and what is shown of it: see :class:`SearchOptions`.

        Raises:
            InvalidArgumentError: The arguments contradict each other, or the filter is none.
            UnknownIdError: There is no document ``id``.
            InputError: The text is no text.
            CorruptError: A file is damaged.
        """
        asked = known({**options}, SearchOptions, "search")
        made = None if signature is None else signed(signature)
        return Answer(self._native.search(text, parts, id, made, bytes, asked))

    def frequencies(self, search: Mapping[str, Any], *, sample: bool = False) -> dict[str, Any]:
        """Counts the documents with each fingerprint of a search, for :mod:`cento.shards`.

        Args:
            search: The text and the options, as a service takes them.
            sample: Add the sample of the texts, which passages need.

        Raises:
            InvalidArgumentError: Shards cannot answer the search as one index.
        """
        request = json.dumps({"search": search, "sample": sample})
        found: dict[str, Any] = json.loads(self._native.shard("frequencies", request))
        return found

    def candidates(
        self, search: Mapping[str, Any], frequencies: Mapping[str, Any], most: int
    ) -> dict[str, Any]:
        """Finds the documents that may be hits, by the frequencies of all shards.

        Raises:
            ConflictError: The index shows another commit than the one that it counted.
        """
        request = json.dumps({"search": search, "frequencies": frequencies, "most": most})
        found: dict[str, Any] = json.loads(self._native.shard("candidates", request))
        return found

    def spans(self, search: Mapping[str, Any], winners: Mapping[str, Any]) -> dict[str, Any]:
        """Compares the winners of this shard with the query.

        Raises:
            ConflictError: The index shows another commit than the one that found them.
        """
        request = json.dumps({"search": search, "winners": winners})
        found: dict[str, Any] = json.loads(self._native.shard("spans", request))
        return found

    @overload
    def search_many(
        self,
        texts: Iterable[str | Parts],
        *,
        threads: int | None = ...,
        on_error: OnError = ...,
        to_arrow: Literal[False] = ...,
        bytes: bool = ...,
        **options: Unpack[SearchOptions],
    ) -> Answers: ...
    @overload
    def search_many(
        self,
        texts: Iterable[str | Parts],
        *,
        threads: int | None = ...,
        on_error: OnError = ...,
        to_arrow: Literal[True],
        bytes: bool = ...,
        **options: Unpack[SearchOptions],
    ) -> _native.Table: ...
    @names_options(SearchOptions)
    def search_many(
        self,
        texts: Iterable[str | Parts],
        *,
        threads: int | None = None,
        on_error: OnError = "raise",
        to_arrow: bool = False,
        bytes: bool = False,
        **options: Unpack[SearchOptions],
    ) -> Answers | _native.Table:
        """Searches for many texts at a time, with several threads; see :meth:`search`.

        Args:
            texts: The texts, each a ``str`` or a list of parts, all of which are held in memory;
                also a column of Arrow.
            threads: The number of threads; as many as there are processors if not given.
            on_error: ``"skip"`` gives an answer without hits to what is no text, and names it in
                :attr:`Answers.refusals`.
            to_arrow: Return one table of all hits: ``query`` (the number of the text, from 0),
                ``rank`` (from 1), ``id``, ``overlap``, ``fingerprints``, ``containment_of_a``,
                ``containment_of_b``, ``standard_error``, ``exact``,
                ``resemblance``, ``meta`` (JSON), ``passages`` (a list of structs; null if they were
                not asked for).

        Returns:
            An :class:`Answers`, a sequence and no list, in the order of the texts.
        """
        asked = known({**options}, SearchOptions, "search_many")
        advice = "pass [text], or a column of a table"
        queries, leaves = many(texts, "texts", advice), skips(on_error)
        found = self._native.search_many(queries, whole("threads", threads), bytes, leaves, asked)
        if to_arrow:
            return found.table()
        return Answers(found)

    @overload
    def pairs(
        self,
        *,
        against: Index | None = ...,
        to_arrow: Literal[False] = ...,
        bytes: bool = ...,
        **options: Unpack[PairOptions],
    ) -> Iterator[Pair]: ...
    @overload
    def pairs(
        self,
        *,
        against: Index | None = ...,
        to_arrow: Literal[True],
        bytes: bool = ...,
        **options: Unpack[PairOptions],
    ) -> _native.Table: ...
    @names_options(PairOptions)
    def pairs(
        self,
        *,
        against: Index | None = None,
        to_arrow: bool = False,
        bytes: bool = False,
        **options: Unpack[PairOptions],
    ) -> Iterator[Pair] | _native.Table:
        """Finds all pairs of documents that share text, while they are read.

        Pairs come in the order in which the documents are stored, whatever the number of threads,
        unless ``rank`` is given.
        Each unpacks into both ids and the resemblance: ``for a, b, r in index.pairs()``.

        Args:
            against: Another index with the same scheme and analyzer: pairs of a document of this
                one and one of that.
            to_arrow: Return a table of all pairs, without passages, when they have been found.
            bytes: Give the places of passages in bytes of UTF-8 instead of code points.
            **options: Which pairs, and what is shown of them: see :class:`PairOptions`.

        Raises:
            InvalidArgumentError: The arguments contradict each other.
            OpenError: The other index signs texts otherwise.
        """
        asked = known({**options}, PairOptions, "pairs")
        other = None if against is None else against._native
        found = self._native.pairs(other, bytes, asked)
        return found.table() if to_arrow else _pairs(found, bytes)

    @names_options(ClusterOptions)
    def clusters(self, **options: Unpack[ClusterOptions]) -> list[Cluster]:
        """Finds the clusters of documents that are versions of one another, the largest first.

        Args:
            **options: What documents of a cluster have in common: see :class:`ClusterOptions`.
        """
        asked = known({**options}, ClusterOptions, "clusters")
        return [cluster_of(line) for line in self._native.clusters(asked)]

    @names_options(FamilyOptions)
    def families(self, *, bytes: bool = False, **options: Unpack[FamilyOptions]) -> Families:
        """Finds the families of passages: each passage once, with all documents that carry it.

        Those of most documents come first. It warns of documents without a date if ``date`` is
        given.

        Args:
            bytes: Give the places of passages in bytes of UTF-8 instead of code points.
            **options: Which passages and families: see :class:`FamilyOptions`.

        Raises:
            InvalidArgumentError: The options contradict each other, one is out of bounds, or no
                document has a date in the field.
            OpenError: The index stores no texts.
            UnknownIdError: There is no such ``document``.
            MemoryLimitError: The passages need more than 1 GiB.
        """
        asked = known({**options}, FamilyOptions, "families")
        return families_of_passages(*self._native.families(bytes, asked), bytes)

    @names_options(LineageOptions)
    def lineage(self, **options: Unpack[LineageOptions]) -> Lineage:
        """Finds the lineage of documents: trees of versions, the largest first.

        In a tree each document comes after its ancestor; documents without versions are left out.
        It warns of documents without a date if ``date`` is given.

        Args:
            **options: What a version is, and which is the earlier one: see
                :class:`LineageOptions`.

        Raises:
            InvalidArgumentError: An option is out of bounds, or no document has a date in the
                field.
        """
        asked = known({**options}, LineageOptions, "lineage")
        return lineage_of(*self._native.lineage(asked))

    def repeated_passages(self, min_share: float = 0.75) -> list[RepeatedPassage]:
        """Finds the passages that most documents have: the most frequent first.

        Exact copies count as one document, and a passage in fewer than five is not among them:
        what a few documents have in common may be copied.

        Args:
            min_share: The least share of the different documents that have a passage, 0.01 to 1.

        Raises:
            OpenError: The index stores no texts.
        """
        return [repeated_of(line) for line in self._native.repeated_passages(min_share)]

    def sign(self, text: str) -> Signature:
        """Signs a text with the scheme and the analyzer of this index."""
        return signature_of(self._native.sign(text))

    def stats(self) -> Stats:
        """Returns the size of the index."""
        return stats_of(self._native.stats())

    def check(self) -> CheckReport:
        """Reads the whole index and reports damage. The report is true if there is none.

        Ctrl-C ends the waiting; the reading goes on for a while and changes nothing.
        """
        segments, damaged, problems, unlisted = self._native.check()
        found = tuple(Problem(*problem) for problem in problems)
        return CheckReport(segments, damaged, found, tuple(unlisted))

    def compact(self, segments: int = 1, *, wait: float | None = None) -> Compaction:
        """Merges segments, without deleted documents, into at most ``segments``.

        Searches go on meanwhile. Ctrl-C ends the waiting; the merge goes on, and is done whole or
        not at all.

        Args:
            segments: The greatest number of segments.
            wait: How many seconds to wait for another writer, as for :meth:`writer`.

        Raises:
            LockedError: There is another writer.
        """
        fewest = whole("segments", segments)
        return Compaction(*waiting(lambda: self._native.compact(fewest), wait))

    @property
    def watches(self) -> Watches:
        """The watches of the index: standing queries, which later commits are matched against."""
        return Watches(self._native)

    @names_options(WithdrawOptions)
    def withdraw(
        self,
        id: Id,
        *,
        dry_run: bool = False,
        wait: float | None = None,
        **options: Unpack[WithdrawOptions],
    ) -> dict[str, Any]:
        """Withdraws a document with its copies, and lists the documents that quote it.

        The document and its copies are removed in one commit; no file of the index has bytes of
        them afterwards. From then on they are refused when they are added. Documents that quote it
        stay as they are. All texts are read. Ctrl-C before the commit leaves the index as it was.

        Args:
            id: The id of the document.
            dry_run: Only find what would be removed, and what quotes it.
            wait: How many seconds to wait for another writer, as for :meth:`writer`.
            **options: What copies and passages are: see :class:`WithdrawOptions`.

        Returns:
            The record, as ``cento withdraw`` writes it: ``removed`` and, if there are any,
            ``quoting`` have the documents. That of the first time if the document had been
            withdrawn before.

        Raises:
            UnknownIdError: No document has the id, and none with it was withdrawn.
            InputError: It was withdrawn before, and documents that were added since have
                passages of it; or another text has the id now.
            OpenError: The index stores no texts.
            LockedError: There is another writer.
        """
        asked = known({**options}, WithdrawOptions, "withdraw")
        record, _ = waiting(lambda: self._native.withdraw(id, dry_run, asked), wait)
        withdrawal: dict[str, Any] = json.loads(record)
        return withdrawal

    def withdrawals(self) -> list[dict[str, Any]]:
        """Returns the records of the withdrawn documents, as :meth:`withdraw` returned them."""
        return [json.loads(one) for one in self._native.withdrawals()]

    def forget_withdrawal(self, id: Id, *, wait: float | None = None) -> int:
        """Lifts the withdrawals of a document, which may be added again; returns their number.

        Args:
            id: The id of the document.
            wait: How many seconds to wait for another writer, as for :meth:`writer`.
        """
        return waiting(lambda: self._native.forget_withdrawal(id), wait)

    def __reduce__(self) -> tuple[object, tuple[str, str | None]]:
        return (_opened, place(self._native))

    def __repr__(self) -> str:
        return f"<Index {self.path!r}: {len(self)} documents, {self.scheme}, {self.analyzer}>"

    def _repr_html_(self) -> str:
        return self.stats()._repr_html_()


class Writer:
    """The only writer of an index: for the length of a ``with`` block, or until it is closed.

    At the end of the block everything is committed; if the block raises, nothing is, and the index
    is as the last commit left it. Nobody sees a change before a commit. Beyond 1.8 million changes
    a commit is made without being asked for, because their ids would take too much memory.

    :meth:`Index.open_writer` opens one without a block, such as in a notebook or for the life of a
    service: :meth:`commit` commits, and :meth:`close` ends it. What is not committed when the
    process ends is lost.

    Ctrl-C ends what is being added within a second. A commit is not interrupted: the exception
    comes when it is durable. The lock may be held for a moment more, while merges end.

    The writer belongs to the process that opened it; a process that was forked from it is refused.
    Threads may share it.
    """

    __slots__ = ("_is_by_name", "_native", "_wait")

    def __init__(self, native: _native.Writer, wait: float | None = None) -> None:
        self._native = native
        self._wait = wait
        self._is_by_name = False

    def _opened(self) -> Writer:
        waiting(self._native.begin, self._wait)
        self._is_by_name = True
        return self

    def __enter__(self) -> Writer:
        """Takes the lock of the index, unless :meth:`Index.open_writer` has.

        Raises:
            LockedError: There is another writer, in this process or another.
        """
        if self._is_by_name:
            self._is_by_name = False
        else:
            waiting(self._native.begin, self._wait)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._native.discard(issubclass(kind, Exception))
        else:
            self.close()

    def close(self) -> None:
        """Commits everything, as the end of a ``with`` block does, and releases the lock.

        It does nothing if the writer is closed. If the commit fails, the writer is closed, and the
        index is as the last commit left it.
        """
        if not self._native.is_open():
            return
        try:
            self._native.finish()
        except BaseException as raised:
            self._native.discard(isinstance(raised, Exception))
            raise

    def discard(self) -> None:
        """Drops everything that has not been committed, and releases the lock."""
        self._native.discard(True)

    def add(
        self,
        id: Id,
        text: str | None = None,
        meta: Meta | None = None,
        *,
        parts: Parts | None = None,
    ) -> Literal["added", "replaced", "unchanged"]:
        """Adds a document, or replaces the one with the same id; an equal one is left alone.

        Args:
            id: The id.
            text: The text; or
            parts: the parts of the text, such as the files of a submission. The document is found
                and removed as one, and a passage names the part that it is in.
            meta: The meta object.

        Raises:
            InputError: The id, the text, a part or the meta object cannot be stored.
            InvalidArgumentError: There is neither a text nor parts, or both.
        """
        done = self._native.add(id, text, meta, parts)
        return "added" if done == "added" else "replaced" if done == "replaced" else "unchanged"

    def add_many(
        self,
        items: Iterable[Item],
        *,
        id: str = "id",
        text: str = "text",
        meta: str | Sequence[str] | None = None,
        threads: int | None = None,
        on_error: OnError = "raise",
    ) -> AddReport:
        """Adds documents; several threads sign them, and the iterator runs on this one.

        For a progress bar, wrap the iterable: ``w.add_many(tqdm(rows))``.

        Args:
            items: ``(id, text)``, ``(id, text, meta)``, or mappings with the fields ``id``,
                ``text`` and, perhaps, others. A mapping without a text may have its ``parts``
                (``cento.Parts``). A :class:`Document` of an index is an item, too. An item whose id
                is ``None`` or NaN is called ``item/`` and its number, from 0, and refused if
                another document is called so.
            id: The name of the field with the id.
            text: The name of the field with the text.
            meta: The fields to keep in the meta object: a list of names, ``[]`` for none, or the
                name of one field that is the meta object. If it is not given, those are the members
                of ``meta`` and all further fields, each under its name, as far as they fit into 60
                KiB. A warning names fields that do not, and fields with values that JSON does not
                have. Dates and times become strings. A field that is ``None`` or NaN is left out.
            threads: The number of threads; as many as there are processors if not given.
            on_error: ``"skip"`` leaves out what is no document, counts it and names it in the
                report. What the iterator raises is raised in any case.

        Raises:
            InputError: An item is no document. Those before it are among the changes that have not
                been committed.
            InvalidArgumentError: ``items`` is a table.
        """
        advice = "pass [(id, text)], or a table to `add_arrow`"
        given, leaves = many(items, "items", advice), skips(on_error)
        fields = (id, text, meta_names(meta))
        return report_of(*self._native.add_many(given, fields, whole("threads", threads), leaves))

    def add_arrow(
        self,
        table: object,
        *,
        id: str | None = None,
        text: str = "text",
        meta: str | Sequence[str] | None = None,
        id_prefix: str | None = None,
        threads: int | None = None,
        on_error: OnError = "raise",
    ) -> AddReport:
        """Adds the rows of anything that gives Arrow data.

        That is a table, a reader or a data frame with ``__arrow_c_stream__`` (pyarrow, polars,
        duckdb, pandas), a batch with ``__arrow_c_array__``, an iterable of such, a data set, a
        scanner or a Parquet file of pyarrow, or a data set of Hugging Face.

        Args:
            table: The data.
            id: The column of the ids: strings, numbers, times, bytes, UUIDs. ``3.0`` is ``3``, and
                bytes that are no text are hexadecimal. If it is not named, that is ``id``; rows of
                a table without one, and rows whose id is null, are called ``row/0``, ``row/1`` and
                so on, and refused if another document is called so.
            text: The column of the texts: strings, or bytes of UTF-8. A row without one is a
                document of the parts in its column ``parts``, if there are any: a list of structs
                with ``name`` and ``text``.
            meta: The columns to keep in the meta object: a list of names, ``[]`` for none, or the
                name of one column that is the meta object, of structs or of JSON. If it is not
                given, those are all further columns, as for :meth:`add_many`; a warning names those
                that are not kept, such as pictures. A column in which a row has nothing is not in
                its meta object. What JSON has no type for, such as a time, becomes a string.
            id_prefix: Take this and the number of the row, from 0, for the id, in place of a
                column. Rows of another table with the same prefix replace these.
            threads: The number of threads; as many as there are processors if not given.
            on_error: ``"skip"`` leaves out rows that are no documents, counts them and names them
                in the report.

        Raises:
            InputError: A column is missing or of another type, or a row is no document. Those
                before it are among the changes that have not been committed.
            InvalidArgumentError: ``table`` gives no Arrow data.
        """
        data, leaves = tables(table), skips(on_error)
        columns = (id, id_prefix, text, meta_names(meta))
        return report_of(*self._native.add_arrow(data, columns, whole("threads", threads), leaves))

    def remove(self, id: Id) -> bool:
        """Removes the document with this id; returns whether there was one."""
        return self._native.remove(id)

    def remove_matching(self, filter: str) -> int:
        """Removes all documents that match this filter, such as ``"year:[* TO 2019]"``; returns
        their number. Earlier changes are committed first, because a filter sees only these.

        Raises:
            InvalidArgumentError: The filter cannot be read.
        """
        return self._native.remove_matching(filter)

    def patch_meta(self, id: Id, meta: Meta) -> bool:
        """Changes the meta object of the document with this id, and leaves its text alone; returns
        whether there is one. Members of ``meta`` replace those of the document, and a member that
        is ``None`` is removed (JSON Merge Patch, RFC 7396).
        """
        return self._native.patch_meta(id, meta)

    def commit(self) -> None:
        """Makes all changes so far durable and visible, before the block ends."""
        self._native.commit()

    @property
    def uncommitted(self) -> int:
        """The number of changes since the last commit."""
        return self._native.uncommitted()

    def __reduce__(self) -> str:
        # Says why it is neither copied nor pickled.
        return self._native.__reduce__()

    def __repr__(self) -> str:
        state = {None: "not open yet", True: "open", False: "closed"}[self._native.is_open()]
        return f"<Writer: {state}>"


def _document(values: _native.DocumentValues) -> Document:
    id, text, meta, parts = values
    return Document(id, text, json.loads(meta), tuple(Part(*each) for each in parts))


def _each(found: _native.Reader[_T]) -> Iterator[_T]:
    while (batch := found.read()) is not None:
        yield from batch


def _pairs(found: _native.Pairs, is_bytes: bool) -> Iterator[Pair]:
    while (line := found.read()) is not None:
        yield pair_of(line, is_bytes)


def _opened(path: str, key_file: str | None) -> Index:
    return Index(path, key_file=key_file)
