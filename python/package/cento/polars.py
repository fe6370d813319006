"""Expressions of cento in Polars: the namespace ``cento``. Needs polars and pyarrow.

Importing this module adds it: ``pl.col("text").cento.duplicate_of("x.idx")``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import Any

from . import _columns
from ._index import Index

_pl: Any = importlib.import_module("polars")

_Path = str | os.PathLike[str]
_OTHER = "the other of cento"
_TYPES = {"int64": _pl.Int64, "float64": _pl.Float64, "string": _pl.String}


class TextNamespace:
    """What ``.cento`` of an expression of texts gives. A null gives a null."""

    def __init__(self, expression: Any) -> None:
        self._texts = expression

    def signature(self, **settings: Any) -> Any:
        """The distinct fingerprints of each text, ascending: lists of ``UInt64``.

        Args:
            settings: Arguments of :func:`cento.sign`, such as ``preset`` or ``scheme``.
        """
        kind = _pl.List(_pl.UInt64)
        return self._map(lambda texts: _columns.signatures(texts, settings), kind)

    def resemblance(self, other: Any, **settings: Any) -> Any:
        """The resemblance of each text to that of another column, 0 to 1.

        Args:
            other: The expression or the name of the other column.
            settings: Arguments of :func:`cento.compare`, such as ``preset`` or ``scheme``.
        """
        others = _pl.col(other) if isinstance(other, str) else other

        def compared(rows: Any) -> Any:
            a, b = (rows.struct.field(name).to_arrow() for name in rows.struct.fields)
            return _pl.Series(rows.name, _columns.resemblances(a, b, settings))

        # A struct repeats a single value for all rows.
        both = _pl.struct(self._texts, others.alias(_OTHER))
        return both.map_batches(compared, return_dtype=_pl.Float64)

    def duplicate_of(self, index: _Path, *, min_resemblance: float = 0.8) -> Any:
        """The id of the document of an index that resembles each text most; null if none does.

        Args:
            index: The directory of the index.
            min_resemblance: The minimum resemblance of a duplicate, 0 to 1.
        """
        return self._map(
            lambda texts: _columns.duplicates_of(texts, Index(index), min_resemblance), _pl.String
        )

    def novelty(self, index: _Path) -> Any:
        """The share of each text, by letters and digits, that no document of an index has."""
        return self._map(lambda texts: _columns.novelties(texts, Index(index)), _pl.Float64)

    def hits(self, index: _Path, **options: Any) -> Any:
        """The hits of a search for each text: a list of structs, for ``explode`` and ``unnest``.

        Args:
            index: The directory of the index.
            options: Arguments of :meth:`cento.Index.search_many`, such as ``limit``.
        """
        members = {name: _TYPES[kind] for name, kind in _columns.HIT}
        kind = _pl.List(_pl.Struct(members))
        return self._map(lambda texts: _columns.hits(texts, Index(index), options), kind)

    def _map(self, column: Callable[[Any], Any], kind: Any) -> Any:
        def mapped(texts: Any) -> Any:
            return _pl.Series(texts.name, column(texts.to_arrow()), dtype=kind)

        return self._texts.map_batches(mapped, return_dtype=kind)


_pl.api.register_expr_namespace("cento")(TextNamespace)
