"""The programs of the README run, one after the other, as they stand there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

README = Path(__file__).parent.parent / "README.md"


def test_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any) -> None:
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    texts = [" ".join(made(80, at)) for at in range(30)]
    table = pa.table({"url": [f"u/{at}" for at in range(30)], "content": texts})
    pq.write_table(table, "x.parquet")
    oath = " ".join(made(60, 3))
    names: dict[str, Any] = {
        "__name__": "readme",
        "rows": [(f"row-{at}", text) for at, text in enumerate(texts)],
        "text": oath,
        "texts": texts[:5],
        "table": table,
        "documents": [{"id": at, "text": text} for at, text in enumerate(texts + texts[:4])],
    }
    programs = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) >= 6
    for at, program in enumerate(programs):
        exec(compile(program, f"README.md, program {at + 1}", "exec"), names)
