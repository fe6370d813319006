"""What columns of texts give, for engines: Arrow data in, Arrow data out, row by row.

A row without a text gives nothing (null).
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ._index import Index
from ._texts import compare, sign

HIT = (
    ("rank", "int64"),
    ("id", "string"),
    ("overlap", "int64"),
    ("containment_of_a", "float64"),
    ("containment_of_b", "float64"),
    ("resemblance", "float64"),
    ("meta", "string"),
)
"""The members of a hit and their types."""


def signatures(texts: Any, settings: Mapping[str, Any]) -> Any:
    """Returns the distinct fingerprints of each text, ascending: lists of unsigned numbers."""
    pa: Any = importlib.import_module("pyarrow")

    def keys(given: list[str]) -> Iterator[list[int]]:
        return (sorted(sign(text, **settings).keys) for text in given)

    return pa.array(_by_row(texts, keys), pa.list_(pa.uint64()))


def resemblances(a: Any, b: Any, settings: Mapping[str, Any]) -> Any:
    """Returns the resemblance of the texts of each row, 0 to 1."""
    pa: Any = importlib.import_module("pyarrow")
    pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
    return pa.array(
        [None if None in pair else compare(*pair, **settings).resemblance for pair in pairs],
        pa.float64(),
    )


def duplicates_of(texts: Any, index: Index, min_resemblance: float) -> Any:
    """Returns the id of the stored document with the highest resemblance to each text.

    A search decides which documents reach the minimum; null if none does.
    """
    pa: Any = importlib.import_module("pyarrow")

    def ids(given: list[str]) -> Iterator[str | None]:
        # The first hit shares most fingerprints, and a longer document may share more.
        for answer in index.search_many(given, limit=sys.maxsize, min_resemblance=min_resemblance):
            best = max(answer, key=lambda hit: hit.resemblance, default=None)
            yield None if best is None else best.id

    return pa.array(_by_row(texts, ids), pa.string())


def novelties(texts: Any, index: Index) -> Any:
    """Returns the share of each text, by letters and digits, that no stored document has."""
    pa: Any = importlib.import_module("pyarrow")

    def shares(given: list[str]) -> Iterator[float | None]:
        for answer in index.search_many(given, goal="trace"):
            yield None if answer.trace is None else answer.trace.new

    return pa.array(_by_row(texts, shares), pa.float64())


def hits(texts: Any, index: Index, options: Mapping[str, Any]) -> Any:
    """Returns the hits of each text: lists of structs with the members :data:`HIT`."""
    pa: Any = importlib.import_module("pyarrow")
    names = [name for name, _ in HIT]
    hit_type = pa.struct([(name, getattr(pa, kind)()) for name, kind in HIT])

    def rows(given: list[str]) -> list[list[Any]]:
        table = pa.table(index.search_many(given, to_arrow=True, **options))
        by_query: list[list[Any]] = [[] for _ in given]
        for row in table.select(["query", *names]).to_pylist():
            by_query[row.pop("query")].append(row)
        return by_query

    return pa.array(_by_row(texts, rows), pa.list_(hit_type))


def _by_row(texts: Any, values: Callable[[list[str]], Iterable[Any]]) -> list[Any]:
    """The values of the texts of a column, and ``None`` for rows without a text."""
    given = texts.to_pylist()
    found = iter(values([text for text in given if text is not None]))
    return [None if text is None else next(found) for text in given]
