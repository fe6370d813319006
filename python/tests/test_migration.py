"""The programs of docs/MIGRATION.md run, and those of a pair find the same."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "MIGRATION.md"
PROGRAMS = re.findall(r"```python (\w+)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
PAIRS = [(PROGRAMS[at], PROGRAMS[at + 1]) for at in range(0, len(PROGRAMS), 2)]


def test_programs_stand_side_by_side() -> None:
    assert [theirs[0] for theirs, _ in PAIRS] == ["datasketch", "rensa", "text_dedup", "datatrove"]
    assert all(ours[0] == "cento" for _, ours in PAIRS)


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0][0])
def test_both_programs_of_a_pair_keep_the_same(
    pair: tuple[tuple[str, str], tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: Callable[[int, int], list[str]],
) -> None:
    (package, theirs), (_, ours) = pair
    pytest.importorskip(package)
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    documents: list[dict[str, str]] = []
    for at in range(30):
        own = made(200, at)
        documents.append({"id": f"d{at}", "text": " ".join(own)})
        if at % 3 == 0:
            own[100] = "otherwise"
            documents.append({"id": f"copy-{at}", "text": " ".join(own)})
    results: list[dict[str, Any]] = []
    for name, program in (("theirs", theirs), ("ours", ours)):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        pq.write_table(pa.Table.from_pylist(documents), "in.parquet")
        names: dict[str, Any] = {
            "__name__": "page",
            "documents": documents,
            "query": documents[1]["text"],
        }
        exec(compile(program, f"{package}, {name}", "exec"), names)
        results.append(names)
    kept = {str(id).removeprefix("copy-").removeprefix("d") for id in results[0]["kept"]}
    assert kept == {str(at) for at in range(30)}
    assert len(results[0]["kept"]) == len(results[1]["kept"]) == 30
    assert results[1]["kept"] == [f"d{at}" for at in range(30)]
    if "found" in results[0]:
        assert results[0]["found"] == results[1]["found"] == {"d0", "copy-0"}
