"""The programs of docs/TUTORIAL.md run, one after the other, and find what was planted.

With 4 MB of text, or as many as CENTO_TUTORIAL_MB says. The client of the service runs if there
is a command, which CENTO_CLI names.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import cento
import pytest

PAGE = Path(__file__).parent.parent / "docs" / "TUTORIAL.md"
MEGABYTES = float(os.environ.get("CENTO_TUTORIAL_MB", "4"))


def programs(kind: str) -> list[str]:
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_tutorial_runs_and_finds_what_was_planted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pyarrow.parquet")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "tutorial", "megabytes": MEGABYTES}
    found = programs("python")
    assert len(found) == 6
    for at, program in enumerate(found):
        exec(compile(program, f"TUTORIAL.md, program {at + 1}", "exec"), names)
    left: set[str] = set(names["left"]["url"].to_pylist())
    copies: dict[str, str] = names["copies"]
    assert len(copies) == names["total"] // 5 > 100
    # No original is lost; some copies with 2 % of their words replaced are under the threshold.
    assert left >= {f"doc-{at}" for at in range(names["total"])} - set(copies)
    exact = {id for id in copies if int(id.split("-")[1]) % 2 == 1}
    assert not left & exact
    assert len(left & set(copies)) < len(copies) / 20
    kinds = {each["values"]: each["counts"] for each in names["kinds"]}
    assert kinds["kept"] == len(left)
    assert kinds["exact"] == len(exact)
    assert all(each is None or each >= 0.3 for each in names["near"])
    # Documents that quote a question, and copies of these that were kept, were found.
    quoting: dict[str, str] = names["quoting"]
    planted = {id for id in left if copies.get(id, id) in quoting}
    contaminated: dict[str, list[tuple[str, str]]] = names["contaminated"]
    assert set(contaminated) == planted
    texts = {each["id"]: each["text"] for each in names["questions"]}
    for id in planted & set(quoting):
        # The first window may begin with the word before it.
        assert any(q == quoting[id] and texts[q] in quoted for q, quoted in contaminated[id])
    assert set(names["clean"]["url"].to_pylist()) == left - planted
    assert len(cento.Index("kept.idx")) == len(left - planted)

    command = os.environ.get("CENTO_CLI") or shutil.which("cento")
    if command is None:
        return
    call = [command, "serve", "kept.idx", "--listen", "127.0.0.1:0"]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stderr is not None
            lines = (re.search(r"url=(\S+)", line) for line in service.stderr)
            names["url"] = next(said[1] for said in lines if said is not None)
            (program,) = programs("python service")
            exec(compile(program, "TUTORIAL.md, the client", "exec"), names)
        finally:
            service.terminate()
    assert names["served"]["hits"][0]["id"] == names["document"].id
    assert names["served"]["hits"][0]["containment_of_a"] == 1.0
