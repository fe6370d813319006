"""The programs of the README run unchanged, one after the other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
# The chapter of the book: python/check.sh runs a copy of the tests, with the chapter beside them.
CHAPTERS = [ROOT / "chapter.md", ROOT.parent / "docs" / "tutorials" / "python.md"]
CHAPTER = next((path for path in CHAPTERS if path.exists()), CHAPTERS[-1])


@pytest.mark.parametrize(("page", "least"), [(README, 6), (CHAPTER, 3)])
def test_the_programs_of_a_page_run(
    page: Path, least: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: Any
) -> None:
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
        "essay": oath,
        "texts": texts[:5],
        "table": table,
        "documents": [{"id": at, "text": text} for at, text in enumerate(texts + texts[:4])],
    }
    programs = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(programs) >= least
    for at, program in enumerate(programs):
        exec(compile(program, f"{page.name}, program {at + 1}", "exec"), names)
