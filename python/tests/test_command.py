"""What Python answers is what the command line answers, to the last byte."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

import cento
import pytest


def corpora() -> list[Path | None]:
    """Those in CENTO_CORPORA, and the sample."""
    named = os.environ.get("CENTO_CORPORA", "").split(os.pathsep)
    return [None, *(Path(path) for path in named if path)]


def run(cli: str, *arguments: str | Path) -> str:
    done = subprocess.run([cli, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def untimed(line: str) -> str:
    return re.sub(r'"took_us":\d+', '"took_us":0', line)


@pytest.fixture(params=corpora(), ids=lambda path: path.name if path else "sample")
def corpus(request: pytest.FixtureRequest, tmp_path: Path, texts: list[tuple[str, str]]) -> Path:
    if request.param is not None:
        return Path(request.param)
    path = tmp_path / "sample.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for at, (id, text) in enumerate(texts):
            out.write(json.dumps({"id": id, "text": text, "meta": {"at": at}}) + "\n")
    return path


def rows(path: Path) -> list[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def test_answers_are_those_of_the_command_line(corpus: Path, tmp_path: Path, cli: str) -> None:
    theirs = tmp_path / "theirs.idx"
    run(cli, "create", theirs)
    run(cli, "add", theirs, corpus)
    documents = rows(corpus)
    ours = cento.Index(tmp_path / "ours.idx", create=True)
    with ours.writer() as w:
        w.add_many(documents)
    assert len(ours) == len(cento.Index(theirs))

    queries = documents[:: max(1, len(documents) // 200)]
    asked = tmp_path / "queries.jsonl"
    with asked.open("w", encoding="utf-8") as out:
        for each in queries:
            out.write(json.dumps({"id": each["id"], "text": each["text"]}) + "\n")
    options = ["--passages", "--min-containment", "0.3", "--format", "json"]
    expected = run(cli, "search", theirs, asked, *options).splitlines()
    found = ours.search_many(
        [str(each["text"]) for each in queries], passages=True, min_containment=0.3, estimates=True
    )
    assert len(expected) == len(found)
    for line, answer, query in zip(expected, found, queries, strict=True):
        # The command line names a query after its line.
        id = json.dumps(str(query["id"]), ensure_ascii=False)
        named = answer.to_json().replace('"query":{"id":null', f'"query":{{"id":{id}', 1)
        assert untimed(line) == untimed(named)

    least = ["--min-resemblance", "0.5", "--format", "json"]
    pairs = run(cli, "pairs", theirs, *least).splitlines()
    assert [pair.to_json() for pair in ours.pairs(min_resemblance=0.5, estimates=True)] == pairs
    best = run(cli, "pairs", theirs, *least, "--rank", "weight", "--limit", "7").splitlines()
    found_pairs = ours.pairs(min_resemblance=0.5, rank="weight", limit=7, estimates=True)
    assert [pair.to_json() for pair in found_pairs] == best
    clusters = run(cli, "cluster", theirs, *least).splitlines()
    assert [each.to_json() for each in ours.clusters(min_resemblance=0.5)] == clusters


def test_verdicts_are_those_of_the_command_line(corpus: Path, tmp_path: Path, cli: str) -> None:
    out, report = tmp_path / "out.jsonl", tmp_path / "report.jsonl"
    options = ["--min-resemblance", "0.7", "--min-containment", "0.8"]
    run(cli, "dedup", corpus, "--out", out, "--report", report, *options)
    documents = rows(corpus)
    found = list(cento.dedup(documents, min_resemblance=0.7, min_containment=0.8))
    lines = [v.to_json() for _, v in found if not v.kept or v.kept_as is not None]
    assert lines == report.read_text(encoding="utf-8").splitlines()
    assert [item["id"] for item, verdict in found if verdict.kept] == [
        row["id"] for row in rows(out)
    ]
