"""Fields and columns that become no part of a document are named."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import cento
import pytest


def test_fields_that_are_not_kept_are_named(tmp_path: Path) -> None:
    index = cento.Index(tmp_path / "i", create=True)
    rows: list[dict[str, Any]] = [
        {"id": "a", "text": "some words", "source": "herald", "lang": "en"},
        {"id": "b", "text": "other words", "date": "2024-05-01", "meta": {"year": 2024}},
    ]
    with index.writer() as w:
        with pytest.warns(UserWarning, match="not kept: `date`, `lang`, `source`; put"):
            w.add_many(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            w.add_many({"id": row["id"], "text": row["text"]} for row in rows)


def test_columns_that_are_not_kept_are_named(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    index = cento.Index(tmp_path / "i", create=True)
    table = pa.table({"id": ["a"], "text": ["some words"], "source": ["herald"], "lang": ["en"]})
    with index.writer() as w:
        with pytest.warns(UserWarning, match="not kept: `lang`, `source`; `meta` names"):
            w.add_arrow(table)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            w.add_arrow(table, meta=["source"])
