"""What a standing index makes possible, from Python as with the command line."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import cento
import pytest

SECRET = "3e9b0f27c46d815aa2f07c18d95be463"


def run(cli: str, *arguments: str | Path, status: tuple[int, ...] = (0, 1)) -> str:
    done = subprocess.run([cli, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode in status, done.stderr
    return done.stdout


def parsed(out: str) -> list[Any]:
    return [json.loads(line) for line in out.splitlines()]


@pytest.fixture
def documents(made: Any) -> list[dict[str, Any]]:
    """Three versions of a text, two attempts of an author who quotes it, and a text of its own."""
    first = made(120, 1)
    second = [*first[:50], "otherwise", *first[51:], *made(40, 2)]
    third = [*second[:20], *second[24:], *made(30, 3)]
    quoting = [*made(80, 4), *first[10:70]]
    texts = {
        "v/1": (first, "1901"),
        "v/2": (second, "1903-05"),
        "v/3": (third, "1910"),
        "ann/a": (quoting, "1905"),
        "ann/b": (quoting + made(9, 5), "1906"),
        "own/a": (made(90, 6), "1899"),
    }
    return [
        {"id": id, "text": " ".join(words), "meta": {"date": date}}
        for id, (words, date) in texts.items()
    ]


@pytest.fixture
def corpus(tmp_path: Path, documents: list[dict[str, Any]]) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [json.dumps(document, ensure_ascii=False) + "\n" for document in documents]
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(params=[None, SECRET], ids=["plain", "keyed"])
def key(request: pytest.FixtureRequest, tmp_path: Path) -> Path | None:
    if request.param is None:
        return None
    path = tmp_path / "key"
    path.touch(0o600)
    path.write_text(request.param)
    return path


@pytest.fixture
def both(
    tmp_path: Path, cli: str, corpus: Path, documents: list[dict[str, Any]], key: Path | None
) -> tuple[cento.Index, Path, list[str]]:
    """The same index made by Python and by the command line, and the arguments for the key."""
    ours = cento.Index(tmp_path / "ours", create=True, store_text=True, key_file=key)
    with ours.writer() as w:
        w.add_many(documents)
    theirs = tmp_path / "theirs"
    keyed = [] if key is None else ["--key-file", str(key)]
    run(cli, "create", theirs, *keyed, *([] if key is None else ["--store-text"]))
    run(cli, "add", theirs, corpus, *keyed)
    return ours, theirs, keyed


def test_families_and_lineage_are_those_of_the_command(
    both: tuple[cento.Index, Path, list[str]], cli: str
) -> None:
    ours, theirs, keyed = both
    shown = ["--format", "json", *keyed]
    families = run(cli, "families", theirs, "--date", "date", "--min-documents", "3", *shown)
    found = ours.families(date="date", min_documents=3, bytes=True)
    assert [family.to_json() for family in found] == families.splitlines()
    assert len(found) > 0
    of_one = run(cli, "families", theirs, "--document", "ann/a", *shown).splitlines()
    assert [family.to_json() for family in ours.families(document="ann/a", bytes=True)] == of_one
    lineage = run(cli, "lineage", theirs, "--date", "date", *shown).splitlines()
    assert [row.to_json() for row in ours.lineage(date="date")] == lineage
    assert {"v/2": "v/1", "v/3": "v/2"}.items() <= {
        row["id"]: row.get("ancestor") for row in map(json.loads, lineage)
    }.items()


def test_pairs_of_groups_are_those_of_the_command(
    both: tuple[cento.Index, Path, list[str]], cli: str
) -> None:
    ours, theirs, keyed = both
    arguments = ["--group-by", "{group}/{*}", "--passages", "--format", "json", *keyed]
    expected = run(cli, "pairs", theirs, *arguments).splitlines()
    found = list(ours.pairs(group_by="{group}/{*}", passages=True, bytes=True))
    assert [pair.to_json() for pair in found] == expected
    groups = {frozenset((pair.a.split("/")[0], pair.b.split("/")[0])) for pair in found}
    assert groups == {frozenset(("v", "ann"))}


def test_watches_match_what_those_of_the_command_match(
    both: tuple[cento.Index, Path, list[str]], cli: str, made: Any, tmp_path: Path
) -> None:
    ours, theirs, keyed = both
    text = " ".join(made(60, 50))
    own = ours.watches.add(text, min_passage=20)
    run(cli, "watch", "add", theirs, "--text", text, "--min-passage", "20", *keyed)
    listed = parsed(run(cli, "watch", "list", theirs, "--format", "json"))
    # The name is made of the content, and so are those of equal watches.
    assert [watch["name"] for watch in listed] == [own.name]
    later = {"id": "later", "text": f"{' '.join(made(30, 51))} {text}"}
    with ours.writer() as w:
        w.add_many([later])
    added = tmp_path / "later.jsonl"
    added.write_text(json.dumps(later), encoding="utf-8")
    run(cli, "add", theirs, added, *keyed)
    (event,) = ours.watches.events()
    (line,) = parsed(run(cli, "watch", "events", theirs, "--format", "json", *keyed))
    assert (event.watch, event.hit.id) == (line["watch"], line["hit"]["id"])
    assert event.hit.containment_of_a == line["hit"]["containment_of_a"] == 1.0
    (passage,) = event.hit.passages
    assert [passage.b] == [tuple(each["b"]) for each in line["hit"]["passages"]]


def test_withdrawals_are_those_of_the_command(
    both: tuple[cento.Index, Path, list[str]], cli: str, documents: list[dict[str, Any]]
) -> None:
    ours, theirs, keyed = both
    arguments: list[str | Path] = ["withdraw", theirs, "v/1", "--format", "json", *keyed]
    planned = json.loads(run(cli, *arguments, "--dry-run", status=(0, 3)))["withdrawal"]
    assert {**ours.withdraw("v/1", dry_run=True), "withdrawn": 0} == {**planned, "withdrawn": 0}
    expected = json.loads(run(cli, *arguments, status=(0, 3)))["withdrawal"]
    done = ours.withdraw("v/1")
    assert {**done, "withdrawn": 0} == {**expected, "withdrawn": 0}
    assert ours.ids() == cento.Index(theirs).ids()
    for id in ours.ids():
        assert ours.get(id) == cento.Index(theirs, key_file=keyed[-1] if keyed else None).get(id)
    assert [each["id"] for each in ours.withdrawals()] == ["v/1"]
    with ours.writer() as w:
        report = w.add_many(documents, on_error="skip")
    assert "withdrawn" in report.refusals[0].reason
    key_file = keyed[-1] if keyed else None
    verdicts = [v.kind for _, v in cento.dedup(documents[:1], index=ours.path, key_file=key_file)]
    assert verdicts == ["withdrawn"]


def test_findings_of_questions_are_those_of_the_command(
    tmp_path: Path, cli: str, corpus: Path, documents: list[dict[str, Any]]
) -> None:
    words = [str(document["text"]).split(" ") for document in documents]
    rows = [
        {"id": "q1", "question": " ".join(words[0][5:40]), "answer": " ".join(words[0][40:44])},
        {"id": "q2", "question": " ".join(words[3][:30]).upper(), "answer": "none of these"},
        {"id": "q3", "question": "three words only", "answer": "x"},
        {
            "id": "q4",
            "question": "of a question that no document has, not even in part",
            "answer": "",
        },
    ]
    bench = tmp_path / "bench.jsonl"
    bench.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    out = tmp_path / "found.jsonl"
    against: list[str | Path] = ["--against", bench, "--answer-field", "answer", "--documents", out]
    run(cli, "decontaminate", corpus, *against)
    benchmarks = cento.Benchmarks([{**row, "benchmark": "bench"} for row in rows])
    found = [
        {
            "document": document["id"],
            "benchmark": finding.benchmark,
            "question": finding.question,
            "share": finding.share,
            "tokens": finding.tokens,
            "start": finding.place[0],
            "end": finding.place[1],
            "answer": finding.answer,
        }
        for document, findings in cento.decontaminate(documents, benchmarks, bytes=True)
        for finding in findings
    ]
    expected = [
        {name: row.get(name) for name in found[0]} for row in parsed(out.read_text("utf-8"))
    ]
    assert found == expected
    assert len(found) >= 5
