"""The keywords of searches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypedDict

Goal = Literal["hits", "cover", "passage"]

Rank = Literal["overlap", "weight", "passages"]


class Thresholds(TypedDict, total=False):
    """What a hit, or a pair, must have at least; all of it."""

    min_containment: float | None
    """Minimum share of the text of the query that a hit contains; of a pair, of either text that the
    other contains. 0 to 1."""

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
    """What is to be found: ``"hits"``, the documents that share most with the query; ``"cover"``, the
    fewest documents that together explain the query; ``"passage"``, the one passage of all documents
    that is most like the query. Default: ``"hits"``."""

    rank: Rank | None
    """By what hits are ranked, if hits are to be found. ``"weight"`` and ``"passages"`` find rewritten
    text among chance matches. Default: ``"overlap"``."""

    candidates: int | None
    """The number of documents, the best by weight, in which the rank ``"passages"`` looks for passages;
    at least ``limit``. Default: until 30 documents in a row lack one, at most 1000."""

    limit: int | None
    """Maximum number of hits; the answer says if there are more. Default: 10; with ``passages``,
    ``min_passage``, the goal ``"cover"`` or the rank ``"passages"`` all up to the last document with a
    passage. The search for it ends when 30 documents in a row lack one, and after 1000."""

    filter: str | None
    """Only documents whose meta, id or time of addition match, such as
    ``"lang:de AND year:[2019 TO *]"``."""

    exclude_id: Sequence[str] | None
    """Ids of stored documents that are never hits; an id that is not stored excludes nothing."""

    max_df: float | str | None
    """Fingerprints in more documents find nothing by themselves: a number of documents, or a share of
    them such as ``0.01``. Default: the setting of the index."""

    budget: int | None
    """Maximum number of postings to read, those of the rarest fingerprints first. If the answer may
    lack hits, it says so; the numbers of the hits it has are exact."""

    counts_only: bool
    """Estimate the similarity of hits by numbers of fingerprints alone: faster, because the signatures
    of hits are not read for the places of what is shared, with a larger error."""

    passages: bool
    """Show the passages that the query shares with each hit."""

    min_passage: int | None
    """Only hits with a passage of at least this many tokens of the query; shorter passages are not
    shown. Below 12 fingerprints in common are passages too where no other is found, and may be
    chance."""

    verify: str | None
    """Also measure each hit on the whole texts, by this measure (:func:`cento.measures`). Hits that
    then miss a threshold are dropped."""

    min_similarity: float | None
    """Minimum similarity by ``verify``, 0 to 1."""


def known(options: dict[str, Any], of: Any, call: str) -> dict[str, Any]:
    """The options that are given, if all of them are options of this call."""
    for name in options:
        if name not in of.__optional_keys__:
            raise TypeError(f"{call}() got an unexpected keyword argument {name!r}")
    return {name: value for name, value in options.items() if value is not None}
