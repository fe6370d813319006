"""What columns of texts give, for engines: Arrow data in, Arrow data out, row by row.

A row without a text gives nothing (null).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
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

    def keys(text: str) -> list[int]:
        return sorted(sign(text, **settings).keys)

    return pa.array(_each(texts, keys), pa.list_(pa.uint64()))


def resemblances(a: Any, b: Any, settings: Mapping[str, Any]) -> Any:
    """Returns the resemblance of the texts of each row, 0 to 1."""
    pa: Any = importlib.import_module("pyarrow")
    pairs = zip(a.to_pylist(), b.to_pylist(), strict=True)
    return pa.array(
        [None if None in pair else compare(*pair, **settings).resemblance for pair in pairs],
        pa.float64(),
    )


def duplicates_of(texts: Any, index: Index, min_resemblance: float) -> Any:
    """Returns the id of the stored document that resembles each text most, if any does."""
    pa: Any = importlib.import_module("pyarrow")
    found = _answers(texts, index, limit=1, min_resemblance=min_resemblance)
    ids = [None if answer is None or not answer else answer[0].id for answer in found]
    return pa.array(ids, pa.string())


def novelties(texts: Any, index: Index) -> Any:
    """Returns the share of each text, by letters and digits, that no stored document has."""
    pa: Any = importlib.import_module("pyarrow")
    found = _answers(texts, index, goal="trace")
    shares = [None if answer is None else answer.trace.new for answer in found]
    return pa.array(shares, pa.float64())


def hits(texts: Any, index: Index, options: Mapping[str, Any]) -> Any:
    """Returns the hits of each text: lists of structs with the members :data:`HIT`."""
    pa: Any = importlib.import_module("pyarrow")
    names = [name for name, _ in HIT]
    hit_type = pa.struct([(name, getattr(pa, kind)()) for name, kind in HIT])
    given = [text for text in texts.to_pylist() if text is not None]
    table = pa.table(index.search_many(given, to_arrow=True, **options))
    by_query: list[list[Any]] = [[] for _ in given]
    for row in table.select(["query", *names]).to_pylist():
        by_query[row.pop("query")].append(row)
    rest = iter(by_query)
    rows = [None if text is None else next(rest) for text in texts.to_pylist()]
    return pa.array(rows, pa.list_(hit_type))


def _answers(texts: Any, index: Index, **options: Any) -> list[Any]:
    """The answers for a column of texts, and ``None`` for rows without one."""
    given = texts.to_pylist()
    found = iter(index.search_many([text for text in given if text is not None], **options))
    return [None if text is None else next(found) for text in given]


def _each(texts: Any, value: Callable[[str], Any]) -> list[Any]:
    return [None if text is None else value(text) for text in texts.to_pylist()]
