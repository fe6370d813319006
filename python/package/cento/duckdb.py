"""Functions of cento in SQL of DuckDB. Needs duckdb and pyarrow."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from . import _columns
from ._index import Index

_ARROW_TO_SQL = {"int64": "BIGINT", "float64": "DOUBLE", "string": "VARCHAR"}


def register(
    connection: Any,
    *,
    min_resemblance: float = 0.8,
    search: Mapping[str, Any] | None = None,
    **settings: Any,
) -> None:
    """Adds the functions of cento to a connection, or replaces them.

    - ``cento_signature(text)``: the distinct fingerprints, ascending, as ``UBIGINT[]``;
    - ``cento_resemblance(a, b)``: the resemblance of two texts, 0 to 1;
    - ``cento_duplicate_of(text, 'x.idx')``: the id of the document of an index that resembles the
      text most, if any does by ``min_resemblance``;
    - ``cento_novelty(text, 'x.idx')``: the share of the text, by letters and digits, that no
      document of an index has;
    - ``cento_hits(text, 'x.idx')``: the hits of a search, as a list of structs;
    - ``SELECT * FROM cento_search('x.idx', text)``: the same as a table.

    A null gives a null. An index is opened when it is first used, and shows that commit until you
    register the functions again.

    Args:
        connection: The connection of DuckDB.
        min_resemblance: The minimum resemblance of a duplicate, 0 to 1.
        search: Arguments of :meth:`cento.Index.search_many` for hits, such as ``{"limit": 3}``.
        settings: Arguments of :func:`cento.compare` and :func:`cento.sign`: ``preset``, ``scheme``
            and ``analyzer``.
    """
    opened: dict[str, Index] = {}

    def of_index(texts: Any, paths: Any, column: Any) -> Any:
        """Calls once for every index of a batch. Most batches have one."""
        pa: Any = importlib.import_module("pyarrow")
        paths = paths.to_pylist()
        texts = texts.to_pylist()
        values: list[Any] = [None] * len(texts)
        kind = None
        for path in dict.fromkeys(paths):
            if path is None:
                continue
            index = opened[path] = opened.get(path) or Index(path)
            rows = [at for at, other in enumerate(paths) if other == path]
            found = column(pa.array([texts[at] for at in rows], pa.string()), index)
            kind = found.type
            for at, value in zip(rows, found.to_pylist(), strict=True):
                values[at] = value
        return pa.array(values, kind)

    def signature(texts: Any) -> Any:
        return _columns.signatures(texts, settings)

    def resemblance(a: Any, b: Any) -> Any:
        return _columns.resemblances(a, b, settings)

    def duplicate_of(texts: Any, paths: Any) -> Any:
        return of_index(
            texts,
            paths,
            lambda texts, index: _columns.duplicates_of(texts, index, min_resemblance),
        )

    def novelty(texts: Any, paths: Any) -> Any:
        return of_index(texts, paths, _columns.novelties)

    def hits(texts: Any, paths: Any) -> Any:
        options = search or {}
        return of_index(texts, paths, lambda texts, index: _columns.hits(texts, index, options))

    duckdb: Any = importlib.import_module("duckdb")
    members = ", ".join(f"{name} {_ARROW_TO_SQL[kind]}" for name, kind in _columns.HIT)
    functions = [
        ("cento_signature", signature, 1, "UBIGINT[]"),
        ("cento_resemblance", resemblance, 2, "DOUBLE"),
        ("cento_duplicate_of", duplicate_of, 2, "VARCHAR"),
        ("cento_novelty", novelty, 2, "DOUBLE"),
        ("cento_hits", hits, 2, f"STRUCT({members})[]"),
    ]
    existing = {
        name
        for (name,) in connection.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'scalar'"
        ).fetchall()
    }
    for name, function, arguments, made in functions:
        if name in existing:
            connection.remove_function(name)
        connection.create_function(
            name,
            function,
            [duckdb.sqltype("VARCHAR")] * arguments,
            duckdb.sqltype(made),
            type="arrow",
            null_handling="special",
        )
    connection.execute(
        "CREATE OR REPLACE TEMPORARY MACRO cento_search(index, text) AS TABLE "
        "SELECT unnest(cento_hits(text, index), recursive := true)"
    )
