"""The keywords of searches."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, TypeVar

Goal = Literal["hits", "trace", "passage"]

Rank = Literal["overlap", "weight", "passages"]

Preset = Literal["essays", "web", "corpus", "code", "ocr", "prints", "rewritten", "titles"]

PairRank = Literal["overlap", "similarity", "weight", "passages", "score"]


class Thresholds(TypedDict, total=False):
    """The minimum values that a hit, or a pair, must meet, all of them."""

    min_containment: float | None
    """Minimum share of the text of the query that a hit contains; of a pair, of either text that
    the other contains. 0 to 1."""

    min_resemblance: float | None
    """Minimum resemblance of both texts, 0 to 1."""

    min_overlap: int | None
    """Minimum number of distinct fingerprints in common. Default: 1."""

    min_weighted_containment: float | None
    """Minimum share of the fingerprints of the query that a hit contains, weighted by rarity in the
    index; of a pair, of the fingerprints of either document that the other contains. 0 to 1."""

    min_weighted_resemblance: float | None
    """Minimum resemblance of the fingerprints, weighted by rarity in the index, 0 to 1."""


class SearchOptions(Thresholds, total=False):
    """The keywords of :meth:`cento.Index.search` and :meth:`cento.Index.search_many`."""

    goal: Goal | None
    """The goal: ``"hits"``, the documents that share most with the query; ``"trace"``, where
    every part of the query comes from (:attr:`Answer.trace`); ``"passage"``, the one passage of
    all documents that is most like the query. Default: ``"hits"``."""

    rank: Rank | None
    """The ranking of hits, for the goal ``"hits"``. ``"weight"`` and ``"passages"`` find
    rewritten text among chance matches. Default: that of the preset of the index, or
    ``"overlap"``."""

    candidates: int | None
    """The number of documents, the best by weight, that the rank ``"passages"`` searches for
    passages; at least ``limit``. Default: until 30 documents in a row lack one, at most 1000. For
    the goal ``"trace"``, the number of documents that are compared with the query, and then with
    each span."""

    limit: int | None
    """Maximum number of hits; the answer reports if there are more. Default: 10; with ``passages``,
    ``min_passage``, the goal ``"trace"`` or the rank ``"passages"`` all up to the last document
    with a passage. The search for it ends when 30 documents in a row lack one, and after 1000."""

    filter: str | None
    """Only documents whose meta, id or time of addition match, such as ``"lang:de AND year:[2019 TO
    *]"``."""

    exclude_id: Sequence[str] | None
    """Ids of stored documents that are never hits; an id that is not stored excludes nothing."""

    max_df: float | str | None
    """Fingerprints in more documents find nothing by themselves: a number of documents, or a share
    of them such as ``0.01``. Default: the setting of the index."""

    budget: int | None
    """Maximum number of postings to read, those of the rarest fingerprints first. If the answer may
    lack hits, it reports that; the numbers of the hits it has are exact."""

    counts_only: bool
    """Estimate the similarity of hits by numbers of fingerprints alone: faster, because the
    signatures of hits are not read for the places of what is shared, with a larger error."""

    passages: bool
    """Show the passages that the query shares with each hit."""

    min_passage: int | None
    """Only hits with a passage of at least this many words of the query; shorter passages are not
    shown. In scripts without spaces a pair of neighbouring letters counts as a share of a word: 5/8
    in Chinese and Japanese, 1/3 in Thai, Lao and Khmer, 1/2 in Burmese and Korean. Below 12
    fingerprints in common are passages too where no other is found, and may be chance. A hit whose
    search for passages was cut short stays (``passages_complete`` is false)."""

    max_expected: float | None
    """Maximum number of unrelated documents with a passage as good that are expected by chance;
    other passages are left out. 0.01 if not given."""

    date: str | None
    """Field of ``meta`` with dates such as ``"2021-03-04"``, or numbers, for the goal ``"trace"``:
    the carrier with the earliest is the first one. Default: the order of addition."""

    carriers: int | None
    """Number of carriers to give of each span, for the goal ``"trace"``, beside the best and the
    first one. Default: 0."""

    without: Sequence[str] | None
    """Leave out ``"quotations"`` or ``"bibliography"`` of every text: they count in no number and
    in no passage, as boilerplate does. The index must store texts."""

    verify: str | None
    """Also measure each hit on the whole texts, by this measure (:func:`cento.measures`). Hits that
    then miss a threshold are dropped."""

    min_similarity: float | None
    """Minimum similarity by ``verify``, 0 to 1."""


class PairOptions(Thresholds, total=False):
    """The keywords of :meth:`cento.Index.pairs`.

    Without a threshold of any kind, the preset of the index decides (:func:`cento.presets`), if it
    has one; else ``min_containment`` is 0.1.
    """

    min_similarity: float | None
    """Minimum symmetric similarity of a pair, 0 to 1: 2 r / (1 + r) for a resemblance of r."""

    rank: PairRank | None
    """Give the best pairs first, by the overlap, the symmetric similarity, the weighted
    resemblance, the words in passages or the score; all are found before the first is given.
    Default: if there is a ``limit``, that of the preset of the index, or by overlap; else in the
    order of the documents."""

    limit: int | None
    """Maximum number of pairs, the best by ``rank``. Default: all."""

    within: str | None
    """Only pairs of documents of one group: with the same value of this field of meta, or with the
    same fields in their ids by a pattern, as for ``group_by``. It is an error if no document has
    the field, and a warning says how many do not."""

    group_by: str | None
    """No pairs of documents of one group, such as the tries of an author. A group has the same
    value of this field of meta, or the same fields by a pattern of the ends of ids, such as
    ``{author}/{*}`` for ``rs/ann/try1.java``. A document without the field is a group of its
    own."""

    weighted: bool
    """Give the measures weighted by rarity."""

    passages: bool
    """Give the passages in common."""

    min_passage: int | None
    """Only pairs with a passage of at least this many words; shorter passages are not shown. A
    pair whose search for passages was cut short stays (``passages_complete`` is false)."""

    max_expected: float | None
    """Maximum number of unrelated documents with a passage as good that are expected by chance;
    other passages are left out. 0.01 if not given."""

    without: Sequence[str] | None
    """Leave out ``"quotations"`` or ``"bibliography"`` of every text: they count in no number and
    in no passage, as boilerplate does. The index must store texts."""

    max_df: float | str | None
    """Fingerprints in more documents bring up no pair: a number of documents, or a share of them
    such as ``0.01``. Default: the setting of the index."""

    part: tuple[int, int] | None
    """``(3, 64)`` for the fourth of 64 parts of the work: the pairs that its share of the documents
    brings up. All parts together are all pairs, in order, so processes and machines can share them
    out, as long as nobody writes to the index."""

    threads: int | None
    """Number of threads. Default: the number of processors."""


class ClusterOptions(Thresholds, total=False):
    """The keywords of :meth:`cento.Index.clusters`.

    Without a threshold, ``min_resemblance`` is that of the preset of the index
    (:func:`cento.presets`), or 0.5.
    """

    linkage: Literal["star", "single"] | None
    """Members resemble the representative (``"star"``) or some member (``"single"``), which makes
    chains. Default: ``"star"``."""

    prefer: str | None
    """Which document represents a cluster: ``"oldest"``, ``"longest"``, the field of meta that is
    to be least, or with ``-`` before it greatest. Fields that are all dates or years are compared
    by time; otherwise numbers come before texts. Default: ``"oldest"``."""

    min_size: int | None
    """Minimum number of documents of a cluster. Default: 2."""

    max_df: float | str | None
    """Fingerprints in more documents bring up nothing, as in :class:`PairOptions`."""

    threads: int | None
    """Number of threads. Default: the number of processors."""


class FamilyOptions(TypedDict, total=False):
    """Which passages make a family, and which families are found.

    The keyword arguments of :meth:`Index.families`. What is not given, or ``None``, has its
    default.
    """

    date: str | None
    """Order documents by this field of ``meta``: dates such as ``2021``, ``2021-03`` or
    ``2021-03-04T10:00:00Z``, or numbers. Documents without one come last. If not given, by the
    order in which they were added."""
    min_passage: int | None
    """The least number of tokens of a passage; 20 if not given."""
    min_documents: int | None
    """The least number of documents of a family; 2 if not given."""
    since: int | None
    """Only families that documents carry which were added since: the :attr:`Families.cursor` of an
    earlier answer. Only these documents are searched for."""
    document: str | None
    """Only families that the document with this id carries. Only this one is searched for."""
    limit: int | None
    """The greatest number of families, those of most documents; all if not given."""
    max_df: float | str | None
    """Fingerprints in more documents bring up no passage: a number of documents, or a share such as
    ``0.01``. If not given, the setting of the index."""
    threads: int | None
    """Number of threads. Default: the number of processors."""


class LineageOptions(TypedDict, total=False):
    """Which documents are versions of one another, and which is the earlier one.

    The keyword arguments of :meth:`Index.lineage`. What is not given, or ``None``, has its
    default.
    """

    date: str | None
    """The field of ``meta`` that says which of two documents is the earlier one: dates or numbers,
    as for :class:`FamilyOptions`. Where dates do not tell, the longer document is taken for the
    later one."""
    min_explained: float | None
    """The least share of a version that its ancestor has, or of the ancestor that the version has,
    0 to 1; 0.3 if not given."""
    max_df: float | str | None
    """Fingerprints in more documents bring up no version: a number of documents, or a share such as
    ``0.01``. If not given, the setting of the index."""
    threads: int | None
    """Number of threads. Default: the number of processors."""


class WatchOptions(Thresholds, total=False):
    """What matches a watch: the keywords of :meth:`Watches.add`."""

    filter: str | None
    """Only documents whose meta, id or time of addition match, such as ``lang:de AND year:[2019 TO
    *]``."""
    exclude_id: Sequence[str] | None
    """Ids of documents that never match."""
    max_df: float | str | None
    """Fingerprints in more documents find nothing by themselves: a number of documents, or a share
    such as ``0.01``. If not given, the setting of the index."""
    min_passage: int | None
    """Only documents with a passage of at least this many words of the watch; shorter passages are
    not in its events. 12 if there is no condition at all."""


class WithdrawOptions(TypedDict, total=False):
    """Which documents are copies of a withdrawn one, and which passages are quotations.

    The keyword arguments of :meth:`Index.withdraw`. What is not given, or ``None``, has its
    default.
    """

    min_resemblance: float | None
    """The least resemblance of a copy, which is removed; 0.8 if not given."""
    min_passage: int | None
    """The least length of a quotation that is listed, in tokens, 5 or more; 12 if not given, in
    programs 25."""
    keep_copy: Sequence[str] | None
    """Ids of copies that stay: they are listed like documents that quote all of the text."""
    reused_id: bool | None
    """Withdraw the document that has the id now, although another text was withdrawn under it."""


class DedupOptions(TypedDict, total=False):
    """What a duplicate is, and how an index remembers what is kept.

    The keyword arguments that :func:`dedup`, :func:`dedup_arrow`, :class:`Deduper` and
    ``cento.datatrove.Dedup`` have in common. What is not given, or ``None``, has its default.
    """

    min_resemblance: float | None
    """The least resemblance of the texts of a duplicate and a document before, 0 to 1; if not
    given, that of the preset of the index (:func:`presets`), or 0.8."""
    min_containment: float | None
    """Also drop a document if an earlier one contains this share of it, 0 to 1."""
    exact: bool | None
    """Drop only documents with the same text; without either of the two before."""
    cut_passages: int | None
    """Cut out runs of at least this number of tokens, 5 or more, that an earlier document has, with
    the punctuation and blanks that belong to them."""
    min_left: int | None
    """With ``cut_passages``, drop a document if fewer than this number of words are left; 5 if not
    given."""
    only_against: bool | None
    """Compare only with the indexes of ``against``, and not the documents with each other. A
    document is then dropped also if such an index has it under its own id."""
    prefer: str | None
    """The duplicate to keep instead of the first: ``"longest"``, or the one with the least value of
    this field of ``meta``, such as a date; with ``-`` before it, the greatest. All documents are
    then read before the first verdict is given, still in their order. ``"none"`` drops all
    documents that have a duplicate before or after them."""
    within: str | None
    """Only documents of one group are duplicates: those with the same value of this field of
    ``meta``, or with the same fields in their ids by a pattern, as in :meth:`Index.pairs`."""
    group_by: str | None
    """Documents of one group are no duplicates of each other; without ``within``."""
    against: Sequence[str | os.PathLike[str]] | None
    """Directories of indexes to compare with, which are not changed."""
    preset: Preset | None
    """The purpose of the documents (:func:`presets`), which sets the scheme and the analyzer of a
    new index, and the default of ``min_resemblance``. An index that exists must have it."""
    scheme: str | None
    """That of a new index (:func:`schemes`): if not given, that of ``preset``, as in ``against``,
    or ``winnow(k=5,w=10)``. An index that exists must have it."""
    analyzer: str | None
    """That of a new index (:func:`analyzers`): likewise, or ``words``."""
    store_text: bool | None
    """Whether a new index stores texts; if not given, it does unless it has a key. ``cut_passages``
    needs them."""
    key_file: str | os.PathLike[str] | None
    """The file with the key of the indexes, if their fingerprints depend on one: 32 hexadecimal
    digits that others cannot read."""
    memory: int | None
    """The memory for uncommitted documents, in bytes; 512 MiB if not given."""
    threads: int | None
    """The number of threads; as many as there are processors if not given."""
    wait: float | None
    """How many seconds to wait for another writer of the index to end, in this process or another;
    not at all if not given. Not together with ``prefer``."""
    on_error: Literal["raise", "skip"] | None
    """What happens to an item or row that is no document: ``"raise"`` ends the run with an
    :class:`InputError`, after the verdicts on the items before (with ``prefer`` there are none),
    and commits nothing of what has not been committed yet; ``"skip"`` leaves it out, with a verdict
    ``failed`` and a reason."""


class DecontaminateOptions(TypedDict, total=False):
    """What counts as a question that occurs in a document: the keywords of :class:`Benchmarks`."""

    min_share: float | None
    """The least share of a question's own words, more than 0 to 1, that a document has in one
    place; 0.43 if not given."""
    run: int | None
    """The number of tokens in a row that question and document must have in common for these tokens
    to count; 4 if not given."""
    analyzer: str | None
    """How texts are split into tokens (:func:`analyzers`); ``words`` if not given."""


class CompareOptions(TypedDict, total=False):
    """What :func:`compare` also computes, and which passages it shows."""

    measures: Sequence[str] | None
    """Also compute these measures (:func:`measures`); ``["all"]`` for every one."""

    min_passage: int | None
    """Only passages of at least this many words of the first text. Fewer than 12 words are a
    passage only if they are all of a text."""

    without: Sequence[str] | None
    """Leave out ``"quotations"`` or ``"bibliography"`` of every text: they count in no number and
    in no passage, as boilerplate does. Measures are those of the
    whole texts."""


def known(options: dict[str, Any], of: Any, call: str) -> dict[str, Any]:
    """The options that are given, if all of them are options of this call."""
    unknown = sorted(options.keys() - of.__optional_keys__)
    if unknown:
        raise TypeError(f"{call}() got an unexpected keyword argument {unknown[0]!r}")
    return {name: value for name, value in options.items() if value is not None}


_Function = TypeVar("_Function", bound=Callable[..., Any])


def names_options(of: Any) -> Callable[[_Function], _Function]:
    """Shows the options by their names where a signature is shown: ``help``, notebooks."""

    def name(function: _Function) -> _Function:
        plain = inspect.signature(function)
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in of.__annotations__.items()
        ]
        own = [each for each in plain.parameters.values() if each.kind != each.VAR_KEYWORD]
        signature = plain.replace(parameters=[*own, *named])
        setattr(function, "__signature__", signature)  # noqa: B010
        return function

    return name
