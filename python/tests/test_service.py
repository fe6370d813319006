"""What a service answers is what an index answers that is opened in Python."""

from __future__ import annotations

import json
import re
import subprocess
import urllib.request
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import cento
import pytest

Ask = Callable[[str, dict[str, Any]], list[str]]


@contextmanager
def served(cli: str, index: Path) -> Generator[Ask, None, None]:
    """Serves an index, and yields a function that posts JSON and returns the answer in lines."""
    call = [cli, "serve", str(index), "--listen", "127.0.0.1:0"]
    with subprocess.Popen(call, stderr=subprocess.PIPE, text=True) as service:
        try:
            assert service.stderr is not None
            found = (re.search(r"url=(\S+)", line) for line in service.stderr)
            url = next(said[1] for said in found if said is not None)

            def ask(path: str, body: dict[str, Any]) -> list[str]:
                request = urllib.request.Request(
                    url + path,
                    data=json.dumps(body).encode(),
                    headers={"Content-Type": "application/json"},
                )
                with urllib.request.urlopen(request, timeout=60) as answer:
                    lines: list[str] = answer.read().decode().splitlines()
                    return lines

            yield ask
        finally:
            service.terminate()


@pytest.fixture
def press(tmp_path: Path, made: Callable[[int, int], list[str]]) -> Path:
    """Twelve documents with dates, some without; four passages, each in wordings of its own."""
    path = tmp_path / "press.idx"
    with cento.Index(path, create=True).writer() as w:
        for at in range(12):
            passage = made(60, 100 + at % 4)
            if at > 7:
                passage[at] = "otherwise"
            text = " ".join([*made(30, at), "größe 🦉", *passage, *made(10, 300 + at)])
            dates = {3: "yesterday"} | {
                n: f"18{80 + n % 5}-0{1 + n % 3}" for n in range(12) if n % 4
            }
            w.add(f"d{at}", text, {"date": dates[at]} if at in dates else {})
    return path


FAMILIES: list[dict[str, Any]] = [
    {},
    {"min_passage": 40, "min_documents": 3},
    {"document": "d9"},
    {"limit": 2},
    {"since": 2**62},
    {"max_df": "3"},
]


@pytest.mark.filterwarnings("ignore:.* no date")
@pytest.mark.parametrize("date", [{}, {"date": "date"}])
@pytest.mark.parametrize("options", FAMILIES, ids=str)
def test_families_over_http_are_those_of_the_index(
    press: Path, cli: str, options: dict[str, Any], date: dict[str, str]
) -> None:
    ours = cento.Index(press).families(bytes=True, **options, **date)  # type: ignore[arg-type]
    with served(cli, press) as ask:
        summary, *lines = ask("/v1/families", options | date)
    assert lines == [family.to_json() for family in ours]
    said = json.loads(summary)
    assert said.pop("lines") == len(ours)
    assert said.pop("families") == ours.total
    said.pop("no_date", None)
    assert said == {
        name: getattr(ours, name) for name in ("pairs", "cut_pairs", "undated", "cursor")
    }
    assert len(ours) > 0 or "since" in options


@pytest.mark.filterwarnings("ignore:.* no date")
@pytest.mark.parametrize(
    "options", [{}, {"date": "date"}, {"min_explained": 0.7}, {"max_df": "3"}], ids=str
)
def test_lineage_over_http_is_that_of_the_index(
    press: Path, cli: str, options: dict[str, Any]
) -> None:
    ours = cento.Index(press).lineage(**options)
    with served(cli, press) as ask:
        summary, *lines = ask("/v1/lineage", options)
    assert lines == [row.to_json() for row in ours]
    said = json.loads(summary)
    assert said.pop("lines") == len(ours)
    said.pop("no_date", None)
    assert said == {name: getattr(ours, name) for name in ("trees", "versions", "dated", "undated")}
    assert len(ours) > 0 or options


def test_boilerplate_over_http_is_that_of_the_command(press: Path, cli: str) -> None:
    sheet = press.with_name("sheet.txt")
    first = cento.Index(press).families(bytes=True)[0]
    sheet.write_text(first.text, encoding="utf-8")
    for verb in ("families", "lineage"):
        call = [cli, verb, str(press), "--boilerplate", str(sheet), "--format", "json"]
        expected = subprocess.run(call, capture_output=True, text=True, check=False).stdout
        with served(cli, press) as ask:
            _, *lines = ask(f"/v1/{verb}", {"boilerplate": [first.text]})
            _, *all_lines = ask(f"/v1/{verb}", {})
        assert lines == expected.splitlines()
        assert lines != all_lines
