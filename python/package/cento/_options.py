"""The keywords of searches."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypedDict, TypeVar

Goal = Literal["hits", "trace", "passage"]

Rank = Literal["overlap", "weight", "passages"]

Preset = Literal["essays", "corpus", "code", "ocr", "rewritten"]

PairRank = Literal["overlap", "similarity", "weight", "passages", "score"]


class Thresholds(TypedDict, total=False):
    """The minimum values that a hit, or a pair, must meet, all of them."""

    min_containment: float | None
    """Minimum share of the query that a hit contains, 0 to 1. For pairs: of either document that
    the other contains."""

    min_resemblance: float | None
    """Minimum resemblance of the two documents, 0 to 1."""

    min_overlap: int | None
    """Minimum number of distinct fingerprints in common. Default: 1."""

    min_weighted_containment: float | None
    """Minimum share of the query's fingerprints that a hit contains, weighted by rarity in the
    index, 0 to 1. For pairs: of the fingerprints of either document that the other contains."""

    min_weighted_resemblance: float | None
    """Minimum resemblance of the fingerprints, weighted by rarity in the index, 0 to 1."""


class SearchOptions(Thresholds, total=False):
    """The keywords of :meth:`cento.Index.search` and :meth:`cento.Index.search_many`."""

    goal: Goal | None
    """What to look for: ``"hits"``, the documents that share most with the query; ``"trace"``,
    where every part of the query comes from (:attr:`Answer.trace`); ``"passage"``, the passage, of
    all documents, that is most like the query. Default: ``"hits"``."""

    rank: Rank | None
    """How hits are ranked, for the goal ``"hits"``. ``"weight"`` and ``"passages"`` find rewritten
    text among chance matches. Default: the rank of the index's preset, or ``"overlap"``."""

    candidates: int | None
    """Number of documents, the best by weight, that the rank ``"passages"`` searches for passages,
    at least ``limit``. Default: until 30 documents in a row lack a passage, at most 1000. For the
    goal ``"trace"``: the number of documents to compare with the query, and then with each span."""

    limit: int | None
    """Maximum number of hits. The answer says if there are more. Default: 10. With ``passages``,
    ``min_passage``, the goal ``"trace"`` or the rank ``"passages"``: all hits up to the last
    document with a passage. cento stops looking for it when 30 documents in a row lack one, and
    after 1000."""

    filter: str | None
    """Search only documents whose meta, id, time of addition or text matches, such as
    ``'lang:de AND year:[2019 TO *]'`` or ``'text:"went up"'``, for words in a row."""

    exclude_id: Sequence[str] | None
    """Ids of stored documents that are never hits. An id that is not stored excludes nothing."""

    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this when looking for hits: a number of
    documents, or a share such as ``0.01``. Default: the setting of your index."""

    budget: int | None
    """Maximum number of postings to read, those of the rarest fingerprints first. If the answer may
    lack hits, it reports that; the numbers of the hits it has are exact."""

    counts_only: bool
    """Estimate the similarity of hits from the numbers of fingerprints alone. This is faster,
    because cento does not read the signatures of hits for the places of shared fingerprints, and
    the error is larger."""

    passages: bool
    """Show the passages that the query shares with each hit."""

    min_passage: int | None
    """Give only hits that share a passage of at least this many words of the query, and no shorter
    passages. Below 12, shared fingerprints also count as passages if a hit has no other passage,
    and such passages may be coincidental. If the search for the passages of a hit was cut short,
    the hit stays (``passages_complete`` is false). In scripts without spaces, a pair of neighboring
    letters counts as a share of a word: 5/8 in Chinese and Japanese, 1/3 in Thai, Lao and Khmer,
    1/2 in Burmese and Korean."""

    max_expected: float | None
    """Give only passages that are unlikely to be coincidental: at most this many unrelated
    documents are expected to have a passage as good by chance. Default: 0.01."""

    date: str | None
    """Field of ``meta`` with dates such as ``"2021-03-04"``, or with numbers, for the goal
    ``"trace"``: the carrier with the earliest date is the first one. Default: the order of
    addition."""

    carriers: int | None
    """Number of carriers to give for each span, for the goal ``"trace"``, in addition to the best
    and the first one. Default: 0."""

    without: Sequence[str] | None
    """Ignore ``"quotations"`` or ``"bibliography"`` of every document: they count in no number and
    in no passage, like boilerplate. The index must store texts."""

    verify: str | None
    """Also measure each hit on the full texts, by this measure (:func:`cento.measures`). Hits that
    then miss a threshold are dropped."""

    min_similarity: float | None
    """Minimum similarity by the measure of ``verify``, 0 to 1."""


class PairOptions(Thresholds, total=False):
    """The keywords of :meth:`cento.Index.pairs`.

    Without a threshold of any kind, the preset of the index decides (:func:`cento.presets`), if it
    has one; else ``min_containment`` is 0.1.
    """

    min_similarity: float | None
    """Minimum symmetric similarity of a pair, 0 to 1. A resemblance of r is a similarity of 2 r /
    (1 + r)."""

    rank: PairRank | None
    """Find all pairs first, and give the best first: by the overlap, the symmetric similarity, the
    weighted resemblance, the words in passages or the score. Default: with ``limit``, the rank of
    the index's preset, or ``"overlap"``. Without ``limit``, the order of the documents."""

    limit: int | None
    """Give at most this many pairs, the best by ``rank``. Default: all."""

    within: str | None
    """Pair only documents of the same group. A group has the same value of this field of meta, or
    the same fields in its ids by a pattern, as for ``group_by``. It is an error if no document has
    the field, and a warning says how many do not."""

    group_by: str | None
    """Do not pair documents of the same group, such as the attempts of an author. A group has the
    same value of this field of meta, or the same fields in the ends of its ids by a pattern, such
    as ``{author}/{*}`` for ``rs/ann/try1.java``. A document without the field is a group of its
    own."""

    weighted: bool
    """Give the measures weighted by rarity."""

    passages: bool
    """Give the shared passages."""

    min_passage: int | None
    """Give only pairs that share a passage of at least this many words, and no shorter passages. If
    the search for the passages of a pair was cut short, the pair stays (``passages_complete`` is
    false)."""

    max_expected: float | None
    """Give only passages that are unlikely to be coincidental: at most this many unrelated
    documents are expected to have a passage as good by chance. Default: 0.01."""

    without: Sequence[str] | None
    """Ignore ``"quotations"`` or ``"bibliography"`` of every document: they count in no number and
    in no passage, like boilerplate. The index must store texts."""

    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this when looking for pairs: a number
    of documents, or a share such as ``0.01``. Default: the setting of your index."""

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
    """The document that represents a cluster: ``"oldest"``, ``"longest"``, or the one with the
    smallest value of this field of meta. With ``-`` before the field: the largest. Fields that are
    all dates or years are compared by time. Otherwise numbers come before other values. Default:
    ``"oldest"``."""

    min_size: int | None
    """Minimum number of documents in a cluster. Default: 2."""

    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this, as in :class:`PairOptions`."""

    threads: int | None
    """Number of threads. Default: the number of processors."""


class FamilyOptions(TypedDict, total=False):
    """Which passages make a family, and which families are found.

    The keyword arguments of :meth:`Index.families`. What is not given, or ``None``, has its
    default.
    """

    date: str | None
    """Order documents by this field of ``meta``, with dates such as ``2021``, ``2021-03`` or
    ``2021-03-04T10:00:00Z``, or numbers. Documents without a date come last. Default: the order of
    addition."""
    min_passage: int | None
    """Minimum number of tokens of a passage. Default: 20."""
    min_documents: int | None
    """Minimum number of documents of a family. Default: 2."""
    since: int | None
    """Give only families that documents added since then carry: the :attr:`Families.cursor` of an
    earlier answer. cento searches only for these documents."""
    document: str | None
    """Give only families that the document with this id carries. cento searches only for this
    document."""
    limit: int | None
    """Give at most this many families, most documents first. Default: all."""
    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this when looking for passages: a
    number of documents, or a share such as ``0.01``. Default: the setting of your index."""
    threads: int | None
    """Number of threads. Default: the number of processors."""


class LineageOptions(TypedDict, total=False):
    """Which documents are versions of one another, and which is the earlier one.

    The keyword arguments of :meth:`Index.lineage`. What is not given, or ``None``, has its
    default.
    """

    date: str | None
    """Field of ``meta`` that says which of two documents is earlier: dates or numbers, as for
    :class:`FamilyOptions`. Where dates do not say, cento guesses from length, because versions
    usually grow."""
    min_explained: float | None
    """Minimum share of a version that its ancestor has, or of the ancestor that the version has, 0
    to 1. Default: 0.3."""
    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this when looking for versions: a
    number of documents, or a share such as ``0.01``. Default: the setting of your index."""
    threads: int | None
    """Number of threads. Default: the number of processors."""


class WatchOptions(Thresholds, total=False):
    """What matches a watch: the keywords of :meth:`Watches.add`."""

    filter: str | None
    """Report only documents whose meta, id or time of addition matches, such as ``lang:de AND
    year:[2019 TO *]``."""
    exclude_id: Sequence[str] | None
    """Ids of documents that never match."""
    max_df: float | str | None
    """Ignore fingerprints that occur in more documents than this when looking for hits: a number of
    documents, or a share such as ``0.01``. Default: the setting of your index."""
    min_passage: int | None
    """Report only documents that share a passage of at least this many words of the watch, and no
    shorter passages. Default: 12, if there is no condition at all."""


class WithdrawOptions(TypedDict, total=False):
    """Which documents are copies of a withdrawn one, and which passages are quotations.

    The keyword arguments of :meth:`Index.withdraw`. What is not given, or ``None``, has its
    default.
    """

    min_resemblance: float | None
    """Minimum resemblance of a copy, which is removed. Default: 0.8."""
    min_passage: int | None
    """Minimum length of a quotation to list, in tokens, 5 or more. Default: 12, or 25 in source
    code."""
    keep_copy: Sequence[str] | None
    """Ids of copies to keep. cento lists these copies like documents that quote the whole text."""
    reused_id: bool | None
    """Withdraw the document that has the id now, although another text was withdrawn under it."""


class DedupOptions(TypedDict, total=False):
    """What a duplicate is, and how an index remembers what is kept.

    The keyword arguments that :func:`dedup`, :func:`dedup_arrow`, :class:`Deduper` and
    ``cento.datatrove.Dedup`` have in common. What is not given, or ``None``, has its default.
    """

    min_resemblance: float | None
    """Minimum resemblance of a duplicate to an earlier document, 0 to 1. Default: the value that
    the index's preset has for duplicates (:func:`presets`), or 0.8."""
    min_containment: float | None
    """Also drop a document if an earlier one contains this share of it, 0 to 1."""
    exact: bool | None
    """Drop only documents with the same text; without either of the two before."""
    cut_passages: int | None
    """Cut passages of at least this many tokens, 5 or more, that an earlier document has, with the
    punctuation and spaces around them. By default, passages of 14 tokens or more are sure to
    be found, and with the scheme ``kgram(k=N)`` passages of N tokens or more."""
    min_left: int | None
    """With ``cut_passages``: drop a document if fewer than this many words are left. Default: 5."""
    only_against: bool | None
    """Compare the documents only with the indexes of ``against``, not with each other. cento then
    also drops a document that such an index has under the same id."""
    prefer: str | None
    """Which duplicate to keep instead of the first one: ``"longest"``, or the one with the smallest
    value of this field of ``meta``, such as a date. With ``-`` before the field: the largest. cento
    then reads all documents before it gives the first verdict, still in their order. ``"none"``
    drops all documents that have a duplicate before or after them."""
    within: str | None
    """Drop only duplicates within a group. A group has the same value of this field of ``meta``, or
    the same fields in its ids by a pattern, as in :meth:`Index.pairs`."""
    group_by: str | None
    """Keep duplicates within a group. Not with ``within``."""
    against: Sequence[str | os.PathLike[str]] | None
    """Directories of indexes to compare with, which are not changed."""
    preset: Preset | None
    """Kind of documents (:func:`presets`). It sets the scheme and the analyzer of a new index, and
    the default of ``min_resemblance``. An index that exists must have it."""
    scheme: str | None
    """That of a new index (:func:`schemes`): if not given, that of ``preset``, as in ``against``,
    or ``winnow(k=5,w=10)``. An index that exists must have it."""
    analyzer: str | None
    """The analyzer of a new index (:func:`analyzers`): likewise, or ``words``."""
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
